package pdf

import (
	"bytes"
	"compress/zlib"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// extracted gives the pages as one text, each behind its number.
func extracted(ctx context.Context, file []byte) (string, error) {
	var b strings.Builder
	err := Pages(ctx, bytes.NewReader(file), int64(len(file)), func(number int, text string) error {
		fmt.Fprintf(&b, "[%d] %s\n", number, text)
		return nil
	})
	return b.String(), err
}

// build makes a PDF of its objects, of which the first is the catalog.
func build(objects ...string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n")
	var places []int
	for i, object := range objects {
		places = append(places, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	at := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, place := range places {
		fmt.Fprintf(&b, "%010d 00000 n \n", place)
	}
	fmt.Fprintf(&b, "trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, at)
	return b.Bytes()
}

func stream(dict, content string) string {
	return fmt.Sprintf("<<%s/Length %d>>\nstream\n%s\nendstream", dict, len(content), content)
}

// onePage makes a PDF of one page with the fonts F (Helvetica) and G, object 5, and further objects from 6.
func onePage(content, font string, more ...string) []byte {
	return build(append([]string{
		"<</Type/Catalog/Pages 2 0 R>>",
		"<</Type/Pages/Kids[3 0 R]/Count 1/Resources<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>/G 5 0 R>>/XObject<</X 6 0 R>>>>>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Contents 4 0 R/Annots[7 0 R]>>",
		stream("", content),
		font,
	}, more...)...)
}

func TestFiles(t *testing.T) {
	// Made of the .html by Chromium, of the .ms by groff, and by build and pdfcpu, with an owner's password only.
	for _, name := range []string{"handbook", "paper", "unlocked"} {
		t.Run(name, func(t *testing.T) {
			file, err := os.ReadFile(filepath.Join("testdata", name+".pdf"))
			require.NoError(t, err)
			want, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
			require.NoError(t, err)
			got, err := extracted(t.Context(), file)
			require.NoError(t, err)
			require.Equal(t, string(want), got)
		})
	}
}

func TestContent(t *testing.T) {
	simple := "<</Type/Font/Subtype/Type1/BaseFont/X/FirstChar 65/Widths[600 600 600]/Encoding<</Differences[65/Adieresis/f_f_i/uni20AC 68/u1F680/Lslash/g17/afii]>>>>"
	mapped := "<</Type/Font/Subtype/Type0/Encoding/Identity-H/DescendantFonts[<</Subtype/CIDFontType2/W[1[400 400]3 9 800]>>]/ToUnicode 6 0 R>>"
	toUnicode := stream("", "1 begincodespacerange <0000> <FFFF> endcodespacerange 2 beginbfchar <0001> <00660069> <0002> <D83DDE80> endbfchar 2 beginbfrange <0003> <0005> <0041> <0006> <0007> [<0058> <0059>] endbfrange")
	cases := map[string]struct {
		content, font string
		more          []string
		want          string
	}{
		"words":                {content: "BT /F 10 Tf 9 9 Td (Hello) Tj ( wor) Tj (ld) Tj ET", want: "Hello world"},
		"words by distance":    {content: "BT /F 10 Tf [(Hello) -300 (wor) 20 (ld)] TJ ET", want: "Hello world"},
		"a space without room": {content: "BT /F 10 Tf -2.5 Tw (Fo r) Tj ET", want: "For"},
		"lines":                {content: "BT /F 10 Tf 12 TL (one) Tj T* (two) Tj (three) ' 1 0 (four) \" 0 -12 TD (five) Tj T* (six) Tj ET", want: "one\ntwo\nthree\nfour\nfive\nsix"},
		"paragraphs":           {content: "BT /F 10 Tf 0 99 Td (one) Tj 0 -12 Td (two) Tj 0 -25 Td (three) Tj ET", want: "one\ntwo\n\nthree"},
		"a word across lines":  {content: "BT /F 10 Tf 12 TL (impos-) Tj T* (sible, North-) Tj T* (East) Tj ET", want: "impossible, North-\nEast"},
		"an exponent":          {content: "BT /F 10 Tf (m) Tj 4 Ts /F 6 Tf (2) Tj ET", want: "m2"},
		"turned text":          {content: "BT /F 10 Tf (one) Tj 0 1 -1 0 0 0 Tm (two ) Tj (three) Tj ET", want: "one\n\ntwo three"},
		"scaled":               {content: "q .1 0 0 .1 0 0 cm BT /F 100 Tf 50 Tz (a) Tj 28 0 Td (b) Tj 100 0 Td (c) Tj ET Q", want: "ab c"},
		"strings": {content: `BT /F 10 Tf (\(a\)\\(b)\101\5622\
c) Tj <6 4 6
5 7> Tj ET`, want: `(a)\(b)Ar2cdep`},
		"names":                     {content: "BT /#46 10 Tf (a) Tj ET", want: "a"},
		"dictionaries and comments": {content: "/P <</A<</B[(x)]>>/C(>>)>> BDC % (no) Tj\nBT /F 10 Tf (a) Tj ET EMC", want: "a"},
		"an image in line":          {content: "BI /W 1 ID (no) Tj EI( EIx EI BT /F 10 Tf (a) Tj ET", want: "a"},
		"broken syntax":             {content: ") ] >> } Q Tf TJ 1 Td [ BT /F 10 Tf (a) Tj ET", want: ""},
		"an unknown font":           {content: "BT /N 10 Tf (no) Tj /F 10 Tf (a) Tj ET", want: "a"},
		"Adobe's own encoding":      {content: "BT /F 10 Tf (\xaea\xba '`\xd0) Tj ET", want: "fia” ’‘—"},
		"differences":               {content: "BT /G 10 Tf (ABCDE) Tj ET", font: simple, want: "Äffi€🚀Ł"},
		"glyphs without a text":     {content: "BT /G 10 Tf (AFGA) Tj ET", font: simple, want: "ÄÄ"},
		"Windows":                   {content: "BT /G 10 Tf (\x80\xe4) Tj ET", font: "<</Type/Font/Subtype/TrueType/Encoding/WinAnsiEncoding>>", want: "€ä"},
		"Mac":                       {content: "BT /G 10 Tf (\x8a) Tj ET", font: "<</Type/Font/Subtype/TrueType/Encoding/MacRomanEncoding>>", want: "ä"},
		"mapped codes":              {content: "BT /G 10 Tf <00010002000300050007> Tj ET", font: mapped, more: []string{toUnicode}, want: "fi🚀ACY"},
		"codes outside the map":     {content: "BT /G 10 Tf <000300FF000303> Tj ET", font: mapped, more: []string{toUnicode}, want: "AAA"},
		"widths of mapped codes":    {content: "BT /G 10 Tf <0001> Tj 4 0 Td <0003> Tj 10 0 Td <0003> Tj ET", font: mapped, more: []string{toUnicode}, want: "fiA A"},
		"UTF-16 codes":              {content: "BT /G 10 Tf <4F1153C7D83DDE80> Tj ET", font: "<</Type/Font/Subtype/Type0/Encoding/UniJIS-UTF16-H/DescendantFonts[<<>>]>>", want: "休叇🚀"},
		"a form":                    {content: "BT /F 10 Tf (a) Tj ET q /X Do Q BT /F 10 Tf 99 0 Td (c) Tj ET", font: "null", more: []string{stream("/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Matrix[1 0 0 1 50 0]", "BT /F 10 Tf (b) Tj ET")}, want: "a b c"},
		"a form within itself":      {content: "/X Do", font: "null", more: []string{stream("/Type/XObject/Subtype/Form/BBox[0 0 9 9]", "BT /F 10 Tf (b) Tj ET /X Do")}, want: strings.Repeat("b", maxDepth)},
		"a field": {content: "BT /F 10 Tf 0 50 Td (Name:) Tj ET", font: "null", more: []string{
			stream("/Type/XObject/Subtype/Form/BBox[0 0 9 9]", "BT /F 10 Tf (Ada) Tj ET"), "<</Subtype/Widget/Rect[40 50 90 60]/AP<</N 6 0 R>>>>"}, want: "Name: Ada"},
		"a checked box": {content: "", font: "null", more: []string{
			stream("/Type/XObject/Subtype/Form/BBox[0 0 9 9]", "BT /F 10 Tf (yes) Tj ET"), "<</Subtype/Widget/AS/On/AP<</N<</On 6 0 R/Off 9 0 R>>>>>>"}, want: "yes"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := extracted(t.Context(), onePage(c.content, c.font, c.more...))
			require.NoError(t, err)
			if c.want != "" {
				c.want = "[1] " + c.want + "\n"
			}
			require.Equal(t, c.want, got)
		})
	}
}

func TestPageTree(t *testing.T) {
	const helvetica = "/Resources<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>"
	cases := map[string]struct {
		file []byte
		want string
	}{
		"nested, with an empty page": {build("<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R 4 0 R 6 0 R]/Count 4"+helvetica+">>",
			"<</Type/Page/Contents 5 0 R>>", "<</Type/Pages/Kids[7 0 R 3 0 R]>>", stream("", "BT /F 9 Tf (a) Tj ET"),
			"<</Type/Page/Contents[5 0 R 8 0 R]>>", "<</Type/Page>>", stream("", "BT /F 9 Tf 0 -9 Td (b) Tj ET")), "[1] a\n[3] a\nb\n"},
		"in a circle": {build("<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[2 0 R 3 0 R]/Count 9"+helvetica+">>",
			"<</Type/Page/Contents 4 0 R/Parent 3 0 R>>", stream("", "BT /F 9 Tf (a) Tj ET")), "[1] a\n"},
		"a page that is broken": {build("<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R 4 0 R]/Count 2"+helvetica+">>",
			"<</Type/Page/Contents 5 0 R>>", "<</Type/Page/Contents 6 0 R>>", stream("/Filter/FlateDecode", "nonsense"), stream("", "BT /F 9 Tf (a) Tj ET")), "[2] a\n"},
		"no table of objects": {bytes.Replace(onePage("BT /F 10 Tf (a) Tj ET", "null"), []byte("xref"), []byte("wref"), -1), "[1] a\n"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := extracted(t.Context(), c.file)
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
}

func deflated(size int) string {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write(bytes.Repeat([]byte(" "), size))
	_ = w.Close()
	return b.String()
}

func TestRefused(t *testing.T) {
	locked, err := os.ReadFile("testdata/locked.pdf")
	require.NoError(t, err)
	noMap := "<</Type/Font/Subtype/Type0/Encoding/Identity-H/DescendantFonts[<<>>]>>"
	cases := map[string]struct {
		file []byte
		is   error
		says string
	}{
		"nothing":          {file: nil, is: ErrNotPDF},
		"text":             {file: []byte("hello"), is: ErrNotPDF},
		"a password":       {file: locked, is: ErrPassword},
		"unknown glyphs":   {file: onePage("BT /G 10 Tf <00010002> Tj ET", noMap), is: ErrUndecoded},
		"the header alone": {file: []byte("%PDF-1.7\n"), is: ErrNotPDF},
		"no pages":         {file: build("<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[]/Count 0>>"), says: "the PDF is broken"},
		"no catalog":       {file: build("null"), says: "the PDF is broken"},
		"a bomb":           {file: build("<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]>>", "<</Type/Page/Contents 4 0 R>>", stream("/Filter/FlateDecode", deflated(maxDecoded+1))), says: "limit"},
		"doubling forms":   {file: onePage("/X Do", "null", stream("/Type/XObject/Subtype/Form", "/X Do /X Do")), is: ErrLarge},
		"deep arrays":      {file: build("<</Type/Catalog/Pages " + strings.Repeat("[", 1_000_000) + ">>"), says: "the PDF is broken"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := extracted(t.Context(), c.file)
			require.Empty(t, got)
			switch {
			case c.is != nil:
				require.ErrorIs(t, err, c.is)
			case c.says != "":
				require.ErrorContains(t, err, c.says)
			}
		})
	}
	t.Run("much in all", func(t *testing.T) {
		const part = 1 << 20
		form := stream("/Type/XObject/Subtype/Form", "ID "+strings.Repeat("x", part))
		_, err := extracted(t.Context(), onePage(strings.Repeat("/X Do ", maxDecodedAll/part+1), "null", form))
		require.ErrorIs(t, err, ErrLarge)
	})
}

func TestStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := extracted(ctx, onePage("BT /F 10 Tf (a) Tj ET", "null"))
	require.ErrorIs(t, err, context.Canceled)

	ctx, cancel = context.WithCancel(t.Context())
	file, err := os.ReadFile("testdata/handbook.pdf")
	require.NoError(t, err)
	err = Pages(ctx, bytes.NewReader(file), int64(len(file)), func(int, string) error { cancel(); return nil })
	require.ErrorIs(t, err, context.Canceled)
}

// TestBroken cuts a file at many places and changes bytes all over it: there is always an end.
func TestBroken(t *testing.T) {
	file, err := os.ReadFile("testdata/paper.pdf")
	require.NoError(t, err)
	for at := 0; at < len(file); at += 509 {
		_, err := extracted(t.Context(), file[:at])
		require.NotErrorIs(t, err, errPanic)
		changed := bytes.Clone(file)
		for i := at; i < len(changed); i += 997 {
			changed[i] ^= byte(at) | 1
		}
		_, err = extracted(t.Context(), changed)
		require.NotErrorIs(t, err, errPanic)
	}
}

func FuzzPages(f *testing.F) {
	for _, name := range []string{"handbook", "paper"} {
		file, err := os.ReadFile(filepath.Join("testdata", name+".pdf"))
		require.NoError(f, err)
		f.Add(file)
	}
	f.Add(onePage("BT /F 10 Tf (a) Tj ET /X Do", "null", stream("/Type/XObject/Subtype/Form", "BT (b) Tj ET /X Do")))
	f.Fuzz(func(t *testing.T, file []byte) {
		_, err := extracted(t.Context(), file)
		require.NotErrorIs(t, err, errPanic)
	})
}

func FuzzContent(f *testing.F) {
	f.Add("BT /G 10 Tf <0001> Tj [(a) 5 (b)] TJ ET BI ID x EI", "1 beginbfrange <0001> <0002> [<0041>] endbfrange")
	f.Add(`(\101\
) Tj << /A [ (x) >> T* 1 2 3 4 5 6 Tm`, "1 begincodespacerange <00> <FF> endcodespacerange 1 beginbfchar <01> <D83D> endbfchar")
	f.Fuzz(func(t *testing.T, content, toUnicode string) {
		file := onePage(content, "<</Type/Font/Subtype/Type0/Encoding 6 0 R/ToUnicode 6 0 R/DescendantFonts[<<>>]>>", stream("", toUnicode))
		_, err := extracted(t.Context(), file)
		if err != nil {
			require.ErrorIs(t, err, ErrUndecoded)
		}
	})
}
