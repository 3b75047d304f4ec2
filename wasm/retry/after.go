package retry

import "github.com/seed-76f09577/turnwire/wasm/api"

// After reads a Retry-After header (RFC 9110, section 10.2.3): seconds, or an HTTP date against now (Unix time in
// milliseconds). It returns milliseconds, never below 0, and whether the header could be read.
func After(header string, now int64) (ms int64, ok bool) {
	if ms, ok := seconds(header); ok {
		return ms, true
	}
	at, ok := date(header)
	if !ok {
		return 0, false
	}
	if at*1000 <= now {
		return 0, true
	}
	return at*1000 - now, true
}

// seconds reads the form of a header that needs no clock.
func seconds(header string) (ms int64, ok bool) {
	n, ok := api.Digits(header)
	return 1000 * min(n, 1e9), ok // bounded, so that no wait overflows
}

// date reads an IMF-fixdate, "Sun, 06 Nov 1994 08:49:37 GMT", as Unix seconds. It is the only form that a sender may
// use (RFC 9110, section 5.6.7); package time would bring a clock into the core.
func date(s string) (int64, bool) {
	if len(s) != 29 || s[3:5] != ", " || s[7] != ' ' || s[11] != ' ' || s[16] != ' ' || s[19] != ':' || s[22] != ':' || s[25:] != " GMT" {
		return 0, false
	}
	const (
		months  = "JanFebMarAprMayJunJulAugSepOctNovDec"
		lengths = "\x1f\x1c\x1f\x1e\x1f\x1e\x1f\x1f\x1e\x1f\x1e\x1f"
	)
	month, last := int64(0), int64(0)
	for i := 0; i < 12; i++ {
		if months[3*i:3*i+3] == s[8:11] {
			month, last = int64(i+1), int64(lengths[i])
		}
	}
	day, ok1 := api.Digits(s[5:7])
	year, ok2 := api.Digits(s[12:16])
	hour, ok3 := api.Digits(s[17:19])
	minute, ok4 := api.Digits(s[20:22])
	second, ok5 := api.Digits(s[23:25])
	if !ok1 || !ok2 || !ok3 || !ok4 || !ok5 || month == 0 {
		return 0, false
	}
	if month == 2 && year%4 == 0 && (year%100 != 0 || year%400 == 0) {
		last++
	}
	if day < 1 || day > last || hour > 23 || minute > 59 || second > 59 {
		return 0, false
	}
	return api.Days(year, month, day)*86400 + hour*3600 + minute*60 + second, true
}
