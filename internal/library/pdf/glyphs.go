package pdf

import (
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// accents are the combining characters that the Adobe Glyph List's names end with.
var accents = map[string]rune{
	"acute": '\u0301', "breve": '\u0306', "caron": '\u030C', "cedilla": '\u0327', "circumflex": '\u0302',
	"commaaccent": '\u0326', "dieresis": '\u0308', "dotaccent": '\u0307', "grave": '\u0300', "hungarumlaut": '\u030B',
	"macron": '\u0304', "ogonek": '\u0328', "ring": '\u030A', "tilde": '\u0303',
}

// glyphs are the names that neither are their character nor are made of one and an accent.
var glyphs = func() map[string]string {
	m := map[string]string{}
	pairs := strings.Fields(`exclam ! quotedbl " numbersign # dollar $ percent % ampersand & quotesingle ' parenleft (
		parenright ) asterisk * plus + comma , hyphen - period . slash / zero 0 one 1 two 2 three 3 four 4 five 5 six 6 seven 7
		eight 8 nine 9 colon : semicolon ; less < equal = greater > question ? at @ bracketleft [ backslash \ bracketright ]
		asciicircum ^ underscore _ grave ` + "`" + ` braceleft { bar | braceright } asciitilde ~
		exclamdown ¡ cent ¢ sterling £ currency ¤ yen ¥ brokenbar ¦ section § dieresis ¨ copyright © ordfeminine ª
		guillemotleft « logicalnot ¬ registered ® macron ¯ degree ° plusminus ± acute ´ mu µ paragraph ¶ periodcentered ·
		middot · cedilla ¸ ordmasculine º guillemotright » onequarter ¼ onehalf ½ threequarters ¾ questiondown ¿ multiply ×
		divide ÷ AE Æ ae æ Oslash Ø oslash ø Eth Ð eth ð Thorn Þ thorn þ germandbls ß OE Œ oe œ Lslash Ł lslash ł dotlessi ı
		dotlessj ȷ Dcroat Đ dcroat đ Hbar Ħ hbar ħ Tbar Ŧ tbar ŧ Eng Ŋ eng ŋ ij ĳ IJ Ĳ kgreenlandic ĸ longs ſ florin ƒ
		quoteleft ‘ quoteright ’ quotesinglbase ‚ quotedblleft “ quotedblright ” quotedblbase „ guilsinglleft ‹
		guilsinglright › endash – emdash — ellipsis … bullet • dagger † daggerdbl ‡ perthousand ‰ trademark ™ Euro € fraction ⁄
		minus − infinity ∞ notequal ≠ lessequal ≤ greaterequal ≥ approxequal ≈ summation ∑ product ∏ radical √ integral ∫
		partialdiff ∂ lozenge ◊ arrowleft ← arrowup ↑ arrowright → arrowdown ↓ circumflex ˆ tilde ˜ caron ˇ breve ˘ dotaccent ˙
		ring ˚ ogonek ˛ hungarumlaut ˝ fi fi fl fl ff ff ffi ffi ffl ffl f_f ff f_i fi f_l fl f_f_i ffi f_f_l ffl t_t tt
		Alpha Α Beta Β Gamma Γ Delta Δ Epsilon Ε Zeta Ζ Eta Η Theta Θ Iota Ι Kappa Κ Lambda Λ Mu Μ Nu Ν Xi Ξ Omicron Ο Pi Π
		Rho Ρ Sigma Σ Tau Τ Upsilon Υ Phi Φ Chi Χ Psi Ψ Omega Ω alpha α beta β gamma γ delta δ epsilon ε zeta ζ eta η theta θ
		iota ι kappa κ lambda λ nu ν xi ξ omicron ο pi π rho ρ sigma σ sigma1 ς tau τ upsilon υ phi φ chi χ psi ψ omega ω`)
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	for _, space := range []string{"space", "nbspace", "nonbreakingspace"} {
		m[space] = " "
	}
	return m
}()

// glyphText gives the text of a glyph's name (Adobe Glyph List Specification); "" where the name tells none.
func glyphText(name string) string {
	name, _, _ = strings.Cut(name, ".")
	if s, ok := glyphs[name]; ok {
		return s
	}
	if len(name) == 1 && isLetter(name[0]) {
		return name
	}
	if digits, ok := strings.CutPrefix(name, "uni"); ok && len(digits) >= 4 && len(digits) <= 64 {
		var b strings.Builder
		for ; len(digits) >= 4; digits = digits[4:] {
			n, err := strconv.ParseUint(digits[:4], 16, 16)
			if err != nil {
				return ""
			}
			b.WriteRune(rune(n))
		}
		return b.String()
	}
	if digits, ok := strings.CutPrefix(name, "u"); ok && len(digits) >= 4 && len(digits) <= 6 {
		if n, err := strconv.ParseUint(digits, 16, 32); err == nil {
			return string(rune(n))
		}
	}
	for accent, mark := range accents {
		if letter, ok := strings.CutSuffix(name, accent); ok && letter != "" && len(letter) <= 8 {
			if base := glyphText(letter); base != "" {
				return norm.NFC.String(base + string(mark))
			}
		}
	}
	if parts := strings.Split(name, "_"); len(parts) > 1 && len(name) <= 64 {
		var b strings.Builder
		for _, part := range parts {
			b.WriteString(glyphText(part))
		}
		return b.String()
	}
	return ""
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
