package checksum

const (
	hexDigits    = "0123456789abcdef"
	base64Digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
)

// AppendHex appends sum to dst as 64 lower-case hexadecimal digits.
func AppendHex(dst []byte, sum [32]byte) []byte {
	for _, b := range sum {
		dst = append(dst, hexDigits[b>>4], hexDigits[b&15])
	}
	return dst
}

// AppendBase64 appends sum to dst in base64, padded to 44 characters (https://www.rfc-editor.org/rfc/rfc4648#section-4).
func AppendBase64(dst []byte, sum [32]byte) []byte {
	const whole = len(sum) / 3 * 3 // what remains is two bytes, hence one "="
	for i := 0; i < whole; i += 3 {
		a, b, c := sum[i], sum[i+1], sum[i+2]
		dst = append(dst, base64Digits[a>>2], base64Digits[a&3<<4|b>>4], base64Digits[b&15<<2|c>>6], base64Digits[c&63])
	}
	a, b := sum[whole], sum[whole+1]
	return append(dst, base64Digits[a>>2], base64Digits[a&3<<4|b>>4], base64Digits[b&15<<2], '=')
}
