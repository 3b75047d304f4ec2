// Package require is assert whose failures end the test, and with it the program: TinyGo's FailNow goes on, for there is
// nothing to leave a function by.
package require

import (
	"cmp"

	"github.com/stretchr/testify/assert"
)

type TestingT interface {
	assert.TestingT
	Name() string
}

func end(t TestingT, ok bool) {
	if !ok {
		panic("FAIL: " + t.Name())
	}
}

func Fail(t TestingT, failure string, message ...any) { end(t, assert.Fail(t, failure, message...)) }

func True(t TestingT, value bool, message ...any) { end(t, assert.True(t, value, message...)) }

func False(t TestingT, value bool, message ...any) { end(t, assert.False(t, value, message...)) }

func Equal(t TestingT, want, got any, message ...any) { end(t, assert.Equal(t, want, got, message...)) }

func NotEqual(t TestingT, unwanted, got any, message ...any) {
	end(t, assert.NotEqual(t, unwanted, got, message...))
}

func Nil(t TestingT, value any, message ...any) { end(t, assert.Nil(t, value, message...)) }

func NotNil(t TestingT, value any, message ...any) { end(t, assert.NotNil(t, value, message...)) }

func NoError(t TestingT, err error, message ...any) { end(t, assert.NoError(t, err, message...)) }

func NotEmpty(t TestingT, value any, message ...any) { end(t, assert.NotEmpty(t, value, message...)) }

func Len(t TestingT, value any, length int, message ...any) {
	end(t, assert.Len(t, value, length, message...))
}

func Contains(t TestingT, list, element any, message ...any) {
	end(t, assert.Contains(t, list, element, message...))
}

func Greater[T cmp.Ordered](t TestingT, a, b T, message ...any) {
	end(t, assert.Greater(t, a, b, message...))
}

func GreaterOrEqual[T cmp.Ordered](t TestingT, a, b T, message ...any) {
	end(t, assert.GreaterOrEqual(t, a, b, message...))
}

func Less[T cmp.Ordered](t TestingT, a, b T, message ...any) {
	end(t, assert.Less(t, a, b, message...))
}

func LessOrEqual[T cmp.Ordered](t TestingT, a, b T, message ...any) {
	end(t, assert.LessOrEqual(t, a, b, message...))
}

// NotPanics needs no more than to call f: a panic ends the program.
func NotPanics(t TestingT, f func()) { f() }
