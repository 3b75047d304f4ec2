package api

// Digits reads a whole number without a sign, as headers have it. One over 10^17 is read as 10^17, so that nothing
// overflows; strconv would bring its errors.
func Digits(s string) (n int64, ok bool) {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = min(10*n+int64(s[i]-'0'), 1e17)
	}
	return n, s != ""
}
