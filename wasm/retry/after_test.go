package retry

import (
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

// TestDateOfEachDay compares with package time over all days of the years in which anything is special, and a time of day
// that differs from day to day.
func TestDateOfEachDay(t *testing.T) {
	for _, year := range []int{1600, 1899, 1900, 1970, 1999, 2000, 2023, 2024, 2038, 2100, 9999} {
		at := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
		for ; at.Year() == year; at = at.Add(24*time.Hour + 197*time.Second) {
			got, ok := date(at.Format("Mon, 02 Jan 2006 15:04:05 GMT"))
			require.True(t, ok, at)
			require.Equal(t, at.Unix(), got, at)
		}
	}
}
