package library

import (
	"bytes"
	"regexp"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
)

var blankLine = regexp.MustCompile(`\r?\n[ \t]*(?:\r?\n[ \t]*)+`)

// extractText cuts a plain text at its blank lines.
func extractText(content []byte) ([]block, error) {
	text, err := decodeText(content)
	if err != nil {
		return nil, err
	}
	var blocks []block
	for _, paragraph := range blankLine.Split(text, -1) {
		blocks = append(blocks, block{text: paragraph})
	}
	return blocks, nil
}

// decodeText reads UTF-8, with or without a byte order mark, and UTF-16 with one. Other encodings can't
// be told apart for sure, and a wrong guess would be found by no search.
func decodeText(content []byte) (string, error) {
	if bytes.HasPrefix(content, []byte{0xFE, 0xFF}) || bytes.HasPrefix(content, []byte{0xFF, 0xFE}) {
		decoded, err := unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewDecoder().Bytes(content)
		if err != nil {
			return "", unreadable("%w", err)
		}
		content = decoded
	}
	content = bytes.TrimPrefix(content, []byte("\uFEFF"))
	if !utf8.Valid(content) || bytes.IndexByte(content, 0) >= 0 {
		return "", unreadable("it is no text in UTF-8, nor in UTF-16 with a byte order mark; save it as UTF-8")
	}
	return string(content), nil
}
