package builtin

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestEvaluate(t *testing.T) {
	cases := map[string]struct{ expression, value, err string }{
		"precedence":       {"1 + 2 * 3", "7", ""},
		"parentheses":      {"(1 + 2) * 3", "9", ""},
		"division":         {"7 / 2", "3.5", ""},
		"remainder":        {"7 % 3", "1", ""},
		"fraction":         {"7.5 % 2", "1.5", ""},
		"power":            {"2 ^ 10", "1024", ""},
		"other power":      {"2 ** 0.5", "1.4142135623731", ""},
		"sign":             {"-5 + 3", "-2", ""},
		"no minus zero":    {"0 * -1", "0", ""},
		"decimals":         {"0.1 + 0.2", "0.3", ""},
		"no wrapping":      {"9999999999 * 9999999999", "9.999999998e+19", ""},
		"division by zero": {"1/0", "", "division by zero"},
		"zero by zero":     {"0/0", "", "division by zero"},
		"hidden zero":      {"1/(2-2)", "", "division by zero"},
		"remainder of 0":   {"5 % 0", "", "division by zero"},
		"overflow":         {"10 ^ 400", "", "the result is too large"},
		"not real":         {"(0-8) ^ 0.5", "", "the result is not a real number"},
		"unfinished":       {"(1 + 2", "", "this is not an arithmetic expression"},
		"a function":       {"len([1])", "", "only numbers, + - * / % ^ and parentheses are understood"},
		"a name":           {"a + 1", "", "only numbers, + - * / % ^ and parentheses are understood"},
		"a string":         {`"a" + "b"`, "", "only numbers, + - * / % ^ and parentheses are understood"},
		"a comparison":     {"1 == 1", "", "only numbers, + - * / % ^ and parentheses are understood"},
		"a range":          {"1..100000000", "", "only numbers, + - * / % ^ and parentheses are understood"},
		"too long":         {strings.Repeat("1+", 100) + "1", "", "the expression is longer than 200 bytes"},
		"deep":             {strings.Repeat("(", 90) + "1+1" + strings.Repeat(")", 90), "2", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			value, err := Evaluate(c.expression)
			require.Equal(t, c.value, value)
			if c.err != "" {
				require.EqualError(t, err, c.err)
			} else {
				require.NoError(t, err)
			}
		})
	}
}

func FuzzEvaluate(f *testing.F) {
	for _, seed := range []string{"1+2*3", "1/0", "7%0", "-(2^3)", "1e9*2", "0x10+1", "1//2", "#", "1 ?: 2"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, expression string) {
		value, err := Evaluate(expression)
		if err == nil {
			var n float64
			require.NoError(t, json.Unmarshal([]byte(value), &n), "a result is a JSON number")
			require.False(t, math.IsInf(n, 0))
		}
		understand(expression, true)
	})
}

func TestUnderstand(t *testing.T) {
	none := request{count: -1, words: -1}
	with := func(change func(*request)) request { r := none; change(&r); return r }
	sums := func(e ...string) request { return with(func(r *request) { r.expressions = e }) }
	times := func(z ...string) request { return with(func(r *request) { r.zones = z }) }
	cases := map[string]struct {
		text string
		want request
	}{
		"one sum":            {"What is 2+3*4?", sums("2+3*4")},
		"several":            {"2+2, (3 * 4) and 1/0.", sums("2+2", "(3 * 4)", "1/0")},
		"a list":             {"1. 2+2\n2. 3*3\n- 4*4", sums("2+2", "3*3", "4*4")},
		"in parentheses":     {"My sum (2+2) and this (that 3*(1+1)).", sums("(2+2)", "3*(1+1)")},
		"signs of print":     {"6 × 7, 8 ÷ 2, 5 − 3", sums("6 * 7", "8 / 2", "5 - 3")},
		"a cross":            {"5 x 4 x 3", sums("5 * 4 * 3")},
		"spelled out":        {"17 times 23 plus 1, 9 divided by 3", sums("17 * 23 + 1", "9 / 3")},
		"thousands":          {"1,000,000 + 2,500.5", sums("1000000 + 2500.5")},
		"at most eight":      {strings.Repeat("1+1, ", 20), sums("1+1", "1+1", "1+1", "1+1", "1+1", "1+1", "1+1", "1+1")},
		"a date":             {"on 2024-01-02 or 3/4/2024", none},
		"numbers alone":      {"I have 3 apples and 4,5 pears.", none},
		"nothing":            {"", none},
		"the time":           {"What time is it?", times("UTC")},
		"the time somewhere": {"what's the time in Europe/Berlin and America/Argentina/Buenos_Aires", times("Europe/Berlin", "America/Argentina/Buenos_Aires")},
		"the time in cities": {"What time is it in Tokyo, New York and Los Angeles? And in Atlantis?", times("Asia/Tokyo", "America/New_York", "America/Los_Angeles")},
		"a zone and a hint":  {"Asia/Tokyo now", times("Asia/Tokyo")},
		"a zone alone":       {"I like Asia/Tokyo", none},
		"time in passing":    {"some time ago", none},
		"both":               {"what is 1+1 and the date in UTC", with(func(r *request) { r.expressions, r.zones = []string{"1+1"}, []string{"UTC"} })},
		"count":              {"count to 100", with(func(r *request) { r.count = 100 })},
		"count politely":     {"Please count up to 7 + 1", with(func(r *request) { r.count = 7 })},
		"words":              {"Write 200 words", with(func(r *request) { r.words = 200 })},
		"help":               {"Help!", with(func(r *request) { r.help = true })},
		"help with a sum":    {"help me with 2+2", sums("2+2")},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, understand(c.text, false)) })
	}
}
