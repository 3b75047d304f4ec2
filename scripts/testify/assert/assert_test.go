package assert

import (
	"errors"
	"fmt"
	"testing"
)

// heard takes failures in the place of a test.
type heard []string

func (h *heard) Errorf(format string, args ...any) { *h = append(*h, fmt.Sprintf(format, args...)) }

// TestBothWays: what is so passes and says nothing; what is not fails, and says it once.
func TestBothWays(t *testing.T) {
	type pair struct {
		a int
		b *string
	}
	var none *pair
	var noBytes []byte
	x, y, other := "x", "x", "y"
	first, second := &pair{1, &x}, &pair{1, &y}
	err := errors.New("an error")
	cases := map[string]struct{ yes, no func(t TestingT) bool }{
		"True":              {func(t TestingT) bool { return True(t, true) }, func(t TestingT) bool { return True(t, false) }},
		"False":             {func(t TestingT) bool { return False(t, false) }, func(t TestingT) bool { return False(t, true) }},
		"Equal":             {func(t TestingT) bool { return Equal(t, first, second) }, func(t TestingT) bool { return Equal(t, *first, pair{1, &other}) }},
		"Equal types":       {func(t TestingT) bool { return Equal(t, int64(1), int64(1)) }, func(t TestingT) bool { return Equal(t, int64(1), 1) }},
		"Equal bytes":       {func(t TestingT) bool { return Equal(t, []byte("a"), []byte("a")) }, func(t TestingT) bool { return Equal(t, []byte("a"), []byte("b")) }},
		"Equal no bytes":    {func(t TestingT) bool { return Equal(t, noBytes, noBytes) }, func(t TestingT) bool { return Equal(t, []byte{}, noBytes) }},
		"Equal maps":        {func(t TestingT) bool { return Equal(t, map[string][]int{"a": {1}}, map[string][]int{"a": {1}}) }, func(t TestingT) bool { return Equal(t, map[string][]int{"a": {1}}, map[string][]int{"a": {2}}) }},
		"NotEqual":          {func(t TestingT) bool { return NotEqual(t, "a", "b") }, func(t TestingT) bool { return NotEqual(t, "a", "a") }},
		"Same":              {func(t TestingT) bool { return Same(t, first, first) }, func(t TestingT) bool { return Same(t, first, second) }},
		"Nil":               {func(t TestingT) bool { return Nil(t, none) }, func(t TestingT) bool { return Nil(t, first) }},
		"Nil bytes":         {func(t TestingT) bool { return Nil(t, noBytes) }, func(t TestingT) bool { return Nil(t, []byte{}) }},
		"NotNil":            {func(t TestingT) bool { return NotNil(t, 0) }, func(t TestingT) bool { return NotNil(t, none) }},
		"NoError":           {func(t TestingT) bool { return NoError(t, nil) }, func(t TestingT) bool { return NoError(t, err) }},
		"ErrorIs":           {func(t TestingT) bool { return ErrorIs(t, fmt.Errorf("of %w", err), err) }, func(t TestingT) bool { return ErrorIs(t, err, errors.New("an error")) }},
		"Zero":              {func(t TestingT) bool { return Zero(t, pair{}) }, func(t TestingT) bool { return Zero(t, pair{a: 1}) }},
		"Zero slice":        {func(t TestingT) bool { return Zero(t, noBytes) }, func(t TestingT) bool { return Zero(t, []byte{}) }},
		"Empty":             {func(t TestingT) bool { return Empty(t, []int{}) }, func(t TestingT) bool { return Empty(t, []int{0}) }},
		"Empty text":        {func(t TestingT) bool { return Empty(t, "") }, func(t TestingT) bool { return Empty(t, "a") }},
		"Empty pointer":     {func(t TestingT) bool { return Empty(t, &pair{}) }, func(t TestingT) bool { return Empty(t, first) }},
		"NotEmpty":          {func(t TestingT) bool { return NotEmpty(t, map[int]int{1: 1}) }, func(t TestingT) bool { return NotEmpty(t, map[int]int{}) }},
		"Len":               {func(t TestingT) bool { return Len(t, "ab", 2) }, func(t TestingT) bool { return Len(t, []int{1}, 2) }},
		"Contains":          {func(t TestingT) bool { return Contains(t, "abc", "bc") }, func(t TestingT) bool { return Contains(t, "abc", "cb") }},
		"Contains key":      {func(t TestingT) bool { return Contains(t, map[string]int{"a": 1}, "a") }, func(t TestingT) bool { return Contains(t, map[string]int{"a": 1}, "b") }},
		"Contains element":  {func(t TestingT) bool { return Contains(t, []any{1, pair{a: 2}}, pair{a: 2}) }, func(t TestingT) bool { return Contains(t, []any{1}, int64(1)) }},
		"NotContains":       {func(t TestingT) bool { return NotContains(t, []string{"a"}, "b") }, func(t TestingT) bool { return NotContains(t, []string{"a"}, "a") }},
		"ElementsMatch":     {func(t TestingT) bool { return ElementsMatch(t, []int{1, 2, 2}, []int{2, 1, 2}) }, func(t TestingT) bool { return ElementsMatch(t, []int{1, 2, 2}, []int{2, 1, 1}) }},
		"Regexp":            {func(t TestingT) bool { return Regexp(t, "^a+$", "aa") }, func(t TestingT) bool { return Regexp(t, "^a+$", "ab") }},
		"InDelta":           {func(t TestingT) bool { return InDelta(t, 1, 2, 1) }, func(t TestingT) bool { return InDelta(t, 1, 2.5, 1) }},
		"Greater":           {func(t TestingT) bool { return Greater(t, 2, 1) }, func(t TestingT) bool { return Greater(t, 1, 1) }},
		"GreaterOrEqual":    {func(t TestingT) bool { return GreaterOrEqual(t, 1, 1) }, func(t TestingT) bool { return GreaterOrEqual(t, 0, 1) }},
		"Less":              {func(t TestingT) bool { return Less(t, 1, 2) }, func(t TestingT) bool { return Less(t, 1, 1) }},
		"LessOrEqual":       {func(t TestingT) bool { return LessOrEqual(t, 1, 1) }, func(t TestingT) bool { return LessOrEqual(t, 1, 0) }},
		"Fail with a value": {func(TestingT) bool { return true }, func(t TestingT) bool { return Fail(t, "failed", err) }},
		"Fail with a text":  {func(TestingT) bool { return true }, func(t TestingT) bool { return Fail(t, "failed", "%d", 1) }},
	}
	for name, c := range cases {
		var yes, no heard
		if !c.yes(&yes) || len(yes) != 0 {
			t.Errorf("%s: what is so fails: %q", name, yes)
		}
		if c.no(&no) || len(no) != 1 || no[0] == "" {
			t.Errorf("%s: what is not so passes, or says %q", name, no)
		}
	}
}

func TestMessage(t *testing.T) {
	var h heard
	True(&h, false, "%d of %s", 1, "two")
	Nil(&h, errors.New("lost"), 3)
	want := []string{"false: 1 of two", "*errors.errorString lost: 3"}
	if len(h) != 2 || h[0] != want[0] || h[1] != want[1] {
		t.Errorf("%q, not %q", h, want)
	}
}
