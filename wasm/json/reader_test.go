package json

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var texts = map[string][]string{
	"valid": {
		`{}`, `[]`, `""`, `0`, `-0`, `1`, `-1`, `10`, `0.5`, `-0.5`, `1e5`, `1E5`, `1e+5`, `1e-5`, `1.25e10`, `0e0`, `true`, `false`, `null`,
		` {} `, "\t\r\n [ ] \n", `{"a":1}`, `{"a":1,"b":[1,2,{"c":null}]}`, ` { "a" : 1 , "b" : 2 } `, `[1,2,3]`, `[[[]]]`, `[{},{}]`, `{"":{}}`,
		`"a"`, `"\""`, `"\\"`, `"\/"`, `"\b\f\n\r\t"`, `"\u0000"`, `"\uD83D\uDE00"`, `"\ud83d"`, `"é😀"`, "\"\x7f\"", "\"\u2028\u2029\"", "\"\xff\"", "\"\xed\xa0\x80\"",
		`{"a":1,"a":2}`, `{"\u0061":1}`, `[true,false,null,"",0]`, `123456789012345678901234567890`, `1e999`,
	},
	"invalid": {
		``, ` `, `{`, `}`, `[`, `]`, `"`, `,`, `:`, `{]`, `[}`, `[1`, `[1,`, `[1,]`, `[,1]`, `[1 2]`, `[1,,2]`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `{"a" 1}`, `{"a":1 "b":2}`,
		`{a:1}`, `{'a':1}`, `{1:1}`, `{"a",1}`, `{null:1}`, `{,}`, `{"a":}`, `{"a"::1}`, `{"a":1}}`, `[]]`, `{}{}`, `{} x`, `1 2`, `01`, `-`, `+1`, `.5`, `1.`, `1.e5`, `1e`, `1e+`, `-a`, `--1`, `0x1`, `1_000`, `Infinity`, `NaN`,
		`tru`, `truee`, `True`, `nul`, `nulll`, `fals`, `t`, `"a`, `"\`, `"\"`, `"\a"`, `"\u"`, `"\u00"`, `"\u00g0"`, `"\u000"`, `"\U0041"`, "\"\n\"", "\"\x00\"", "\"\x1f\"", "\"\t\"", `'a'`, "\xEF\xBB\xBF{}", "\u00a0{}", "{}\x00", "\x00", "/**/1", "{}//", "\v1", "\f1", "\xff",
	},
}

func TestValid(t *testing.T) {
	for kind, list := range texts {
		for _, text := range list {
			t.Run(kind+" "+text, func(t *testing.T) {
				assert.Equal(t, kind == "valid", Valid([]byte(text)))
				assert.Equal(t, kind == "valid", json.Valid([]byte(text)), "what encoding/json says")
				assert.Equal(t, kind == "valid", walked([]byte(text)), "what a walk over its members says")
			})
		}
	}
}

// walked reads a text by Enter, Next and Value, entering every other object.
func walked(text []byte) bool {
	var r Reader
	r.Reset(text)
	var object func(depth int)
	object = func(depth int) {
		for first := true; ; first = false {
			if _, ok := r.Next(first); !ok {
				return
			}
			if depth < 100 && r.Enter() {
				object(depth + 1)
			} else {
				r.Value()
			}
		}
	}
	if r.Enter() {
		object(1)
	} else {
		r.Value()
	}
	return r.Done()
}

func TestMembers(t *testing.T) {
	cases := map[string]struct {
		object string
		want   []string // of a, b and "c d"
	}{
		"each":                     {`{"a":1,"b":"x","c d":[1]}`, []string{`1`, `"x"`, `[1]`}},
		"some":                     {`{"b":{"a":2}}`, []string{``, `{"a":2}`, ``}},
		"none":                     {`{}`, []string{``, ``, ``}},
		"null":                     {`{"a":null}`, []string{`null`, ``, ``}},
		"other order":              {`{"x":0,"b":2,"y":0,"a":1}`, []string{`1`, `2`, ``}},
		"white space":              {" {\n\"a\" :\t1 , \"b\": [ ] } ", []string{`1`, `[ ]`, ``}},
		"twice: the last counts":   {`{"a":1,"a":2}`, []string{`2`, ``, ``}},
		"twice, the last is null":  {`{"a":1,"a":null}`, []string{`null`, ``, ``}},
		"with escapes":             {`{"\u0061":1,"c\u0020d":2}`, []string{`1`, ``, `2`}},
		"with escapes and without": {`{"a":1,"\u0061":2}`, []string{`2`, ``, ``}},
		"an array":                 {`[{"a":1}]`, []string{``, ``, ``}},
		"a string":                 {`"a"`, []string{``, ``, ``}},
		"nothing":                  {``, []string{``, ``, ``}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, value := range Members([]byte(c.object), "a", "b", "c d") {
				got = append(got, string(value))
			}
			assert.Equal(t, c.want, got)
		})
	}
	assert.Nil(t, Members([]byte(`{}`), "a")[0], "a member that is not there")
}

func TestEach(t *testing.T) {
	var got []string
	Each([]byte(`{"a":1,"b\n":{"c":2},"a":[]}`), func(key, value []byte) { got = append(got, string(key)+"="+string(value)) })
	assert.Equal(t, []string{`a=1`, `b\n={"c":2}`, `a=[]`}, got)
}

func TestReaderStops(t *testing.T) {
	t.Run("nothing is consumed where no object begins", func(t *testing.T) {
		var r Reader
		r.Reset([]byte(` [1]`))
		assert.False(t, r.Enter())
		assert.Equal(t, `[1]`, string(r.Value()))
		assert.True(t, r.Done())
	})
	t.Run("a fault stays", func(t *testing.T) {
		var r Reader
		r.Reset([]byte(`{"a":x,"b":1}`))
		require.True(t, r.Enter())
		_, ok := r.Next(true)
		require.True(t, ok)
		assert.Nil(t, r.Value())
		_, ok = r.Next(false)
		assert.False(t, ok)
		assert.Nil(t, r.Value())
		assert.False(t, r.Enter())
		assert.False(t, r.Done())
	})
	t.Run("a reader is used again", func(t *testing.T) {
		var r Reader
		r.Reset([]byte(`[[{`))
		r.Value()
		require.False(t, r.Done())
		r.Reset([]byte(`[[1],{"a":[]}]`))
		assert.NotNil(t, r.Value())
		assert.True(t, r.Done())
	})
	t.Run("Pos", func(t *testing.T) {
		var r Reader
		r.Reset([]byte(`  {"a":  1}`))
		assert.Equal(t, 2, r.Pos())
		r.Enter()
		r.Next(true)
		assert.Equal(t, 9, r.Pos())
	})
}

// TestDeep nests as deep as the largest event could: encoding/json gives up at 10,000, and a reader that calls itself
// would need a stack.
func TestDeep(t *testing.T) {
	const depth = 8 << 20
	arrays := []byte(strings.Repeat("[", depth) + strings.Repeat("]", depth))
	unclosed := []byte(strings.Repeat("[", 2*depth))
	objects := []byte(strings.Repeat(`{"":`, depth/4) + "1" + strings.Repeat("}", depth/4))
	mixed := []byte(strings.Repeat(`[{"":`, depth/5) + "1" + strings.Repeat("}]", depth/5))
	wrong := []byte(strings.Repeat(`[{"":`, depth/5) + "1" + strings.Repeat("]}", depth/5))

	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	assert.True(t, Valid(arrays))
	assert.False(t, Valid(unclosed))
	assert.True(t, Valid(objects))
	assert.True(t, Valid(mixed))
	assert.False(t, Valid(wrong))
	runtime.ReadMemStats(&after)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(24<<20))
}

// FuzzReader accepts what encoding/json accepts, by whichever way it is read.
func FuzzReader(f *testing.F) {
	for _, list := range texts {
		for _, text := range list {
			f.Add([]byte(text))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		want := json.Valid(text)
		if !want && Valid(text) && deep(text) {
			// encoding/json gives up at a depth of 10,000.
			want = true
		}
		if Valid(text) != want {
			t.Fatalf("valid: %t, encoding/json: %t: %q", Valid(text), want, text)
		}
		if walked(text) != want {
			t.Fatalf("walked: %t, encoding/json: %t: %q", walked(text), want, text)
		}
		if !want {
			return
		}
		var r Reader
		r.Reset(text)
		value := r.Value()
		if IsObject(value) {
			compareMembers(t, value)
		}
		if IsString(value) {
			compareString(t, value)
		}
	})
}

func deep(text []byte) bool {
	return strings.Count(string(text), "[")+strings.Count(string(text), "{") >= 10_000
}

func compareMembers(t *testing.T, object []byte) {
	var want map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(object, &want))
	Each(object, func(key, value []byte) {
		if !json.Valid(value) {
			t.Fatalf("member %q of %q is %q", key, object, value)
		}
	})
	for name := range want {
		if !strings.Contains(name, "\uFFFD") {
			if got := Members(object, name)[0]; string(got) != string(want[name]) {
				t.Fatalf("member %q of %q is %q, not %q", name, object, got, want[name])
			}
		}
	}
}
