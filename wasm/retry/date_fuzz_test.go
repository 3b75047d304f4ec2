//go:build !js

// net/http, which the core's reading of dates is compared with, is no part of what runs in a browser.

package retry

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzDate takes what date takes for what net/http takes it for, and takes every date in the form that a sender uses.
func FuzzDate(f *testing.F) {
	f.Add("Sun, 06 Nov 1994 08:49:37 GMT")
	f.Add("Thu, 29 Feb 2024 23:59:59 GMT")
	f.Add("Tue, 29 Feb 2100 00:00:00 GMT")
	f.Add("Sunday, 06-Nov-94 08:49:37 GMT")
	f.Add("Sun Nov  6 08:49:37 1994")
	f.Add("120")
	f.Fuzz(func(t *testing.T, s string) {
		got, ok := date(s)
		want, err := http.ParseTime(s)
		if ok {
			// The day's name adds nothing, and is not read.
			want, err = http.ParseTime("Sun" + s[3:])
			require.NoError(t, err)
			if want.Year() > 0 {
				require.Equal(t, want.Unix(), got)
			}
		} else if err == nil {
			require.NotEqual(t, s, want.UTC().Format(http.TimeFormat))
		}
		if ms, ok := After(s, unix); ok {
			require.GreaterOrEqual(t, ms, int64(0))
		}
	})
}
