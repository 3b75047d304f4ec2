// Package assert stands in for testify's where TinyGo compiles the core's tests (scripts/test-tinygo.mjs): testify brings
// net/http and os/exec along, which TinyGo has not. It has what those tests use of testify, with the same meaning, and
// nothing else: a test that uses more does not compile, and brings its function here.
package assert

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strings"
)

type TestingT interface {
	Errorf(format string, args ...any)
}

func fail(t TestingT, message []any, format string, args ...any) bool {
	text := fmt.Sprintf(format, args...)
	if len(message) > 0 {
		if format, is := message[0].(string); is {
			text += ": " + fmt.Sprintf(format, message[1:]...)
		} else {
			text += ": " + fmt.Sprint(message...)
		}
	}
	t.Errorf("%s", text)
	return false
}

func Fail(t TestingT, failure string, message ...any) bool {
	return fail(t, message, "%s", failure)
}

func True(t TestingT, value bool, message ...any) bool {
	return value || fail(t, message, "false")
}

func False(t TestingT, value bool, message ...any) bool {
	return !value || fail(t, message, "true")
}

func Equal(t TestingT, want, got any, message ...any) bool {
	return equal(want, got) || fail(t, message, "%s, not %s", show(got), show(want))
}

func NotEqual(t TestingT, unwanted, got any, message ...any) bool {
	return !equal(unwanted, got) || fail(t, message, "%s", show(got))
}

// equal tells values of different types apart, and no bytes from none.
func equal(a, b any) bool {
	if a, is := a.([]byte); is && a != nil {
		b, is := b.([]byte)
		return is && b != nil && bytes.Equal(a, b)
	}
	return reflect.DeepEqual(a, b)
}

func show(value any) string {
	if isNil(value) {
		return "nil"
	}
	switch value := value.(type) {
	case string, []byte:
		return fmt.Sprintf("%q", value)
	case error:
		return fmt.Sprintf("%T %s", value, value)
	}
	return fmt.Sprintf("%T %+v", value, value)
}

// Same asks for the same pointer.
func Same(t TestingT, want, got any, message ...any) bool {
	return reflect.TypeOf(want).Kind() == reflect.Pointer && want == got || fail(t, message, "%s is another than %s", show(got), show(want))
}

func Nil(t TestingT, value any, message ...any) bool {
	return isNil(value) || fail(t, message, "%s", show(value))
}

func NotNil(t TestingT, value any, message ...any) bool {
	return !isNil(value) || fail(t, message, "nil")
}

func isNil(value any) bool {
	if value == nil {
		return true
	}
	switch v := reflect.ValueOf(value); v.Kind() {
	case reflect.Chan, reflect.Func, reflect.Interface, reflect.Map, reflect.Pointer, reflect.Slice, reflect.UnsafePointer:
		return v.IsNil()
	}
	return false
}

func NoError(t TestingT, err error, message ...any) bool {
	return err == nil || fail(t, message, "%v", err)
}

func ErrorIs(t TestingT, err, target error, message ...any) bool {
	return errors.Is(err, target) || fail(t, message, "%v is not %v", err, target)
}

func Zero(t TestingT, value any, message ...any) bool {
	return value == nil || reflect.ValueOf(value).IsZero() || fail(t, message, "%s", show(value))
}

func Empty(t TestingT, value any, message ...any) bool {
	return isEmpty(value) || fail(t, message, "%s", show(value))
}

func NotEmpty(t TestingT, value any, message ...any) bool {
	return !isEmpty(value) || fail(t, message, "%s is empty", show(value))
}

func isEmpty(value any) bool {
	if value == nil {
		return true
	}
	switch v := reflect.ValueOf(value); v.Kind() {
	case reflect.Chan, reflect.Map, reflect.Slice:
		return v.Len() == 0
	case reflect.Pointer:
		return v.IsNil() || isEmpty(v.Elem().Interface())
	default:
		return v.IsZero()
	}
}

func Len(t TestingT, value any, length int, message ...any) bool {
	got := reflect.ValueOf(value).Len()
	return got == length || fail(t, message, "%d, not %d: %s", got, length, show(value))
}

func Contains(t TestingT, list, element any, message ...any) bool {
	return contains(list, element) || fail(t, message, "%s is not in %s", show(element), show(list))
}

func NotContains(t TestingT, list, element any, message ...any) bool {
	return !contains(list, element) || fail(t, message, "%s is in %s", show(element), show(list))
}

// contains looks for a text in a text, a key in a map, or an element in a slice or an array.
func contains(list, element any) bool {
	v := reflect.ValueOf(list)
	switch v.Kind() {
	case reflect.String:
		return strings.Contains(v.String(), reflect.ValueOf(element).String())
	case reflect.Map:
		for _, key := range v.MapKeys() {
			if equal(key.Interface(), element) {
				return true
			}
		}
		return false
	}
	for i := range v.Len() {
		if equal(v.Index(i).Interface(), element) {
			return true
		}
	}
	return false
}

// ElementsMatch asks for the same elements as often, in any order.
func ElementsMatch[T comparable](t TestingT, want, got []T, message ...any) bool {
	counts := map[T]int{}
	for _, element := range want {
		counts[element]++
	}
	for _, element := range got {
		counts[element]--
	}
	same := true
	for _, count := range counts {
		same = same && count == 0
	}
	return same || fail(t, message, "%s, not %s", show(got), show(want))
}

func Regexp(t TestingT, expression, text string, message ...any) bool {
	return regexp.MustCompile(expression).MatchString(text) || fail(t, message, "%q does not match %s", text, expression)
}

func InDelta(t TestingT, want, got, delta float64, message ...any) bool {
	return math.Abs(want-got) <= delta || fail(t, message, "%v is not within %v of %v", got, delta, want)
}

func Greater[T cmp.Ordered](t TestingT, a, b T, message ...any) bool {
	return a > b || fail(t, message, "%v is not greater than %v", a, b)
}

func GreaterOrEqual[T cmp.Ordered](t TestingT, a, b T, message ...any) bool {
	return a >= b || fail(t, message, "%v is less than %v", a, b)
}

func Less[T cmp.Ordered](t TestingT, a, b T, message ...any) bool {
	return a < b || fail(t, message, "%v is not less than %v", a, b)
}

func LessOrEqual[T cmp.Ordered](t TestingT, a, b T, message ...any) bool {
	return a <= b || fail(t, message, "%v is greater than %v", a, b)
}
