//go:build !js

// net/http, which the core's reading of dates is compared with, is no part of what runs in a browser.

package retry

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAfter(t *testing.T) {
	cases := map[string]struct {
		header string
		ms     int64
		ok     bool
	}{
		"none":            {"", 0, false},
		"zero":            {"0", 0, true},
		"seconds":         {"120", 120_000, true},
		"leading zeros":   {"007", 7000, true},
		"huge":            {"99999999999999999999999", 1e12, true},
		"sign":            {"+5", 0, false},
		"fraction":        {"1.5", 0, false},
		"space":           {"5 ", 0, false},
		"two":             {"5, 6", 0, false},
		"now":             {"Sun, 06 Nov 1994 08:49:37 GMT", 0, true},
		"in a second":     {"Sun, 06 Nov 1994 08:49:38 GMT", 1000, true},
		"past":            {"Sat, 05 Nov 1994 08:49:38 GMT", 0, true},
		"a day later":     {"Mon, 07 Nov 1994 08:49:37 GMT", 86_400_000, true},
		"long past":       {"Thu, 01 Jan 1970 00:00:00 GMT", 0, true},
		"before 1970":     {"Sat, 01 Jan 0000 00:00:00 GMT", 0, true},
		"another zone":    {"Sun, 06 Nov 1994 08:49:37 CET", 0, false},
		"obsolete":        {"Sunday, 06-Nov-94 08:49:37 GMT", 0, false},
		"asctime":         {"Sun Nov  6 08:49:37 1994", 0, false},
		"no such month":   {"Sun, 06 Nuv 1994 08:49:37 GMT", 0, false},
		"between months":  {"Sun, 06 anF 1994 08:49:37 GMT", 0, false},
		"no day 0":        {"Sun, 00 Nov 1994 08:49:37 GMT", 0, false},
		"no day 31":       {"Sun, 31 Nov 1994 08:49:37 GMT", 0, false},
		"no leap day":     {"Sun, 29 Feb 1900 08:49:37 GMT", 0, false},
		"no hour 24":      {"Sun, 06 Nov 1994 24:00:00 GMT", 0, false},
		"no minute 60":    {"Sun, 06 Nov 1994 08:60:00 GMT", 0, false},
		"no second 60":    {"Sun, 06 Nov 1994 08:49:60 GMT", 0, false},
		"letters in it":   {"Sun, 06 Nov 1994 08:4x:37 GMT", 0, false},
		"one digit short": {"Sun, 6 Nov 1994 08:49:37 GMT", 0, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			ms, ok := After(c.header, unix)
			assert.Equal(t, c.ok, ok)
			assert.Equal(t, c.ms, ms)
		})
	}
}

// TestDateOfEachDay compares with net/http over all days of the years in which anything is special, and a time of day
// that differs from day to day.
func TestDateOfEachDay(t *testing.T) {
	for _, year := range []int{1600, 1899, 1900, 1970, 1999, 2000, 2023, 2024, 2038, 2100, 9999} {
		at := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
		for ; at.Year() == year; at = at.Add(24*time.Hour + 197*time.Second) {
			got, ok := date(at.Format(http.TimeFormat))
			require.True(t, ok, at)
			require.Equal(t, at.Unix(), got, at)
		}
	}
}

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
