package pdf

import (
	"strings"
	"unicode/utf16"

	corefont "github.com/pdfcpu/pdfcpu/pkg/font"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/types"
	"golang.org/x/text/encoding/charmap"
)

// font tells which text and which width the codes of a string have.
type font struct {
	// toUnicode is asked first; nil where the font has none.
	toUnicode *cmap
	// composite fonts (type 0) have codes of several bytes; encoding tells their lengths, nil says two.
	composite bool
	encoding  *cmap
	utf16     bool // the codes are UTF-16
	simple    [256]string
	// widths are in thousandths of the font's size.
	widths map[uint32]float64
	width  float64 // of any other code
}

// glyph is one character of a string that is shown.
type glyph struct {
	text  string // "" where the font does not tell
	width float64
	space bool // the single byte 32, which word spacing widens
}

// glyphs reads the codes of a string.
func (f *font) glyphs(s text, each func(glyph)) {
	for len(s) > 0 {
		n := f.length(s)
		c := codeOf(s[:n])
		g := glyph{width: f.width, space: n == 1 && s[0] == ' '}
		if w, ok := f.widths[c.value]; ok {
			g.width = w
		}
		g.text = f.text(c, s[:n])
		each(g)
		s = s[n:]
	}
}

func (f *font) length(s text) int {
	switch {
	case !f.composite:
		return 1
	case f.encoding != nil:
		if n := f.encoding.length(s); n > 0 {
			return n
		}
	case f.utf16 && len(s) >= 4 && utf16.IsSurrogate(rune(s[0])<<8):
		return 4
	}
	return min(2, len(s))
}

func (f *font) text(c code, s text) string {
	if f.toUnicode != nil {
		// Some writers pad the codes of the map, so its other length is asked too.
		for _, length := range []int{c.length, 2, 1} {
			if t, ok := f.toUnicode.text(code{c.value, length}); ok {
				return visible(t)
			}
		}
	}
	switch {
	case f.utf16:
		return visible(string(utf16.Decode(units(s))))
	case !f.composite:
		return f.simple[byte(c.value)]
	}
	return ""
}

var ligatures = strings.NewReplacer("ﬀ", "ff", "ﬁ", "fi", "ﬂ", "fl", "ﬃ", "ffi", "ﬄ", "ffl", "ﬅ", "st", "ﬆ", "st")

// visible writes ligatures out, since nobody types them, and drops the null that some maps hold.
func visible(s string) string { return ligatures.Replace(strings.Trim(s, "\x00")) }

// font reads a font's dictionary, once for each reference to it.
func (d *document) font(o types.Object) *font {
	ref, isRef := o.(types.IndirectRef)
	if isRef && d.fonts[ref] != nil {
		return d.fonts[ref]
	}
	dict := d.dict(o)
	if dict == nil {
		return nil
	}
	f := &font{width: 500, widths: map[uint32]float64{}}
	// A map that can't be decoded is none.
	if content, err := d.stream(dict["ToUnicode"]); err == nil && content != nil {
		f.toUnicode = readCMap(content)
	}
	if d.name(dict["Subtype"]) == "Type0" {
		d.readComposite(f, dict)
	} else {
		d.readSimple(f, dict)
	}
	if isRef {
		d.fonts[ref] = f
	}
	return f
}

func (d *document) readComposite(f *font, dict types.Dict) {
	f.composite, f.width = true, 1000
	if content, err := d.stream(dict["Encoding"]); err == nil && content != nil {
		f.encoding = readCMap(content)
	}
	encoding := d.name(dict["Encoding"])
	f.utf16 = strings.Contains(encoding, "UTF16") || strings.Contains(encoding, "UCS2")
	descendants := d.array(dict["DescendantFonts"])
	if len(descendants) == 0 {
		return
	}
	below := d.dict(descendants[0])
	f.width = d.number(below["DW"], 1000)
	// first [w …] gives each code its width, first last w a range of them one.
	list := d.array(below["W"])
	for i := 0; i+1 < len(list) && len(f.widths) < maxMapped; {
		first := uint32(d.number(list[i], 0))
		if each := d.array(list[i+1]); each != nil {
			for j, w := range each {
				f.widths[first+uint32(j)] = d.number(w, f.width)
			}
			i += 2
			continue
		}
		if i+2 >= len(list) {
			return
		}
		last, w := uint32(d.number(list[i+1], 0)), d.number(list[i+2], f.width)
		for c := first; c <= last && c-first < 1<<16 && len(f.widths) < maxMapped; c++ {
			f.widths[c] = w
		}
		i += 3
	}
}

func (d *document) readSimple(f *font, dict types.Dict) {
	encoding := d.get(dict["Encoding"])
	base, _ := encoding.(types.Name)
	var differences types.Array
	if own, ok := encoding.(types.Dict); ok {
		base = types.Name(d.name(own["BaseEncoding"]))
		differences = d.array(own["Differences"])
	}
	f.simple = baseEncoding(string(base), d.name(dict["Subtype"]) == "TrueType")
	at := 0
	for _, o := range differences {
		switch o := d.get(o).(type) {
		case types.Integer:
			at = int(o)
		case types.Name:
			if at >= 0 && at < len(f.simple) {
				f.simple[at] = glyphText(string(o))
			}
			at++
		}
	}

	toThousandths := 1.0
	if matrix := d.array(dict["FontMatrix"]); d.name(dict["Subtype"]) == "Type3" && len(matrix) == 6 {
		toThousandths = 1000 * d.number(matrix[0], 0.001)
	}
	f.width = d.number(d.dict(dict["FontDescriptor"])["MissingWidth"], 500)
	first := int(d.number(dict["FirstChar"], 0))
	widths := d.array(dict["Widths"])
	for i, w := range widths[:min(len(widths), 256)] {
		f.widths[uint32(first+i)] = d.number(w, f.width) * toThousandths
	}
	if core := d.name(dict["BaseFont"]); len(widths) == 0 && corefont.IsCoreFont(core) {
		for c, s := range f.simple {
			for _, r := range s {
				if w, err := corefont.CharWidth(core, r); err == nil {
					f.widths[uint32(c)] = float64(w)
				}
			}
		}
	}
}

// baseEncoding gives what the bytes of a simple font stand for before its differences (ISO 32000-1, annex D).
func baseEncoding(name string, trueType bool) (table [256]string) {
	from := charmap.Windows1252
	if name == "MacRomanEncoding" {
		from = charmap.Macintosh
	}
	for i := range table {
		if r := from.DecodeByte(byte(i)); i >= ' ' && i != 0x7F && r != '\uFFFD' {
			table[i] = string(r)
		}
	}
	if name == "" && !trueType {
		for i := 0x80; i < 0x100; i++ {
			table[i] = ""
		}
		for c, s := range standardEncoding {
			table[c] = s
		}
	}
	return table
}

// standardEncoding is where Adobe's own differs from ASCII.
var standardEncoding = map[byte]string{
	0x27: "’", 0x60: "‘", 0xA1: "¡", 0xA2: "¢", 0xA3: "£", 0xA4: "⁄", 0xA5: "¥", 0xA6: "ƒ", 0xA7: "§", 0xA8: "¤", 0xA9: "'",
	0xAA: "“", 0xAB: "«", 0xAC: "‹", 0xAD: "›", 0xAE: "fi", 0xAF: "fl", 0xB1: "–", 0xB2: "†", 0xB3: "‡", 0xB4: "·", 0xB6: "¶",
	0xB7: "•", 0xB8: "‚", 0xB9: "„", 0xBA: "”", 0xBB: "»", 0xBC: "…", 0xBD: "‰", 0xBF: "¿", 0xC1: "`", 0xC2: "´", 0xD0: "—",
	0xE1: "Æ", 0xE3: "ª", 0xE8: "Ł", 0xE9: "Ø", 0xEA: "Œ", 0xEB: "º", 0xF1: "æ", 0xF5: "ı", 0xF8: "ł", 0xF9: "ø", 0xFA: "œ",
	0xFB: "ß",
}
