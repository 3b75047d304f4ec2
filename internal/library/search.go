package library

import (
	"context"
	"regexp"
	"strings"
	"unicode"
)

// Passage is a piece of a file, about a paragraph long.
type Passage struct {
	FileID string `json:"file_id"`
	File   string `json:"file"`           // its name
	Page   int    `json:"page,omitempty"` // from 1; 0 where the format has no pages
	Number int    `json:"passage"`        // within the file, from 1
	Text   string `json:"text"`           // what is around the words found, … where more stands there
	// Score is BM25's, larger for a better match. It compares the passages of one search only.
	Score float64 `json:"score"`
}

// Search finds the passages that match what a person typed, at most limit, the best first. A match holds
// one of its words, in one of its forms; words that say nothing are left out, and "quoted words" are
// looked for in their order. Where no text matches, the files' names are looked at. Every query is valid.
func (l *Library) Search(ctx context.Context, workspaceID, query string, limit int) ([]Passage, error) {
	words := expression(query)
	if words == "" {
		return nil, nil
	}
	// A match in the name ranks a passage higher, but finds none by itself: it would find the whole file.
	for _, column := range []string{"text", "name"} {
		found, err := l.match(ctx, workspaceID, words, column, limit)
		if err != nil {
			return nil, stopped(ctx, err)
		}
		if len(found) > 0 {
			return found, nil
		}
	}
	return nil, nil
}

// match finds what holds one of the words in a column, and ranks it by both.
func (l *Library) match(ctx context.Context, workspaceID, words, column string, limit int) ([]Passage, error) {
	rows, err := l.db.QueryContext(ctx, `
		SELECT f.file_id, f.name, p.page, p.number, snippet(passages, 4, '', '', '…', 64), -bm25(passages, 0, 0, 0, 2, 1) AS score
		FROM passages AS p JOIN files AS f ON f.id = p.file
		WHERE passages MATCH ?1 AND f.workspace_id = ?2
			AND p.rowid IN (SELECT rowid FROM passages WHERE passages MATCH ?3)
		ORDER BY score DESC, p.rowid LIMIT ?4`, words, workspaceID, column+" : ("+words+")", limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []Passage
	for rows.Next() {
		var p Passage
		if err := rows.Scan(&p.FileID, &p.File, &p.Page, &p.Number, &p.Text, &p.Score); err != nil {
			return nil, err
		}
		p.Text = strings.ReplaceAll(p.Text, string(joint), "")
		found = append(found, p)
	}
	return found, rows.Err()
}

// maxTerms bounds what one query looks for.
const maxTerms = 32

// A term is a quotation, or a word with what joins it: handbook.pdf, well-known, 1.25.
var term = regexp.MustCompile(`["“”„«]([^"“”«»]*)["“”»]|[\p{L}\p{N}\p{M}]+(?:[._-][\p{L}\p{N}\p{M}]+)*`)

// expression puts a query into the language of FTS5: each word or quoted phrase is a string, of which
// one has to match. It is "" where nothing is left to look for.
func expression(query string) string {
	var terms []string
	add := func(s string) {
		if len(terms) < maxTerms && strings.ContainsFunc(s, isWord) {
			terms = append(terms, `"`+s+`"`)
		}
	}
	for _, m := range term.FindAllStringSubmatch(strings.ToValidUTF8(query, " "), -1) {
		switch {
		case m[1] != "":
			add(segment(strings.ReplaceAll(m[1], "\x00", " ")))
		case !saysNothing[strings.ToLower(m[0])]:
			for _, s := range pairs(segment(m[0])) {
				add(s)
			}
		}
	}
	return strings.Join(terms, " OR ")
}

// joint is the zero-width space. The tokenizer knows words by what stands between them, so it is put
// between the characters of scripts that write none.
const joint = '\u200B'

// segment makes each character of a script without spaces a word of its own.
func segment(text string) string {
	var b strings.Builder
	var before rune
	for _, r := range text {
		if isWord(before) && isWord(r) && (isUnspaced(before) || isUnspaced(r)) {
			b.WriteRune(joint)
		}
		b.WriteRune(r)
		before = r
	}
	return b.String()
}

// pairs gives the overlapping pairs of a segmented word: the words of a script without spaces are two
// characters long more often than not, and whole sentences never match.
func pairs(word string) []string {
	parts := strings.Split(word, string(joint))
	if len(parts) < 3 {
		return []string{word}
	}
	var out []string
	for i := range len(parts) - 1 {
		out = append(out, parts[i]+string(joint)+parts[i+1])
	}
	return out
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

func isUnspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// saysNothing are the words that questions are made of.
var saysNothing = func() map[string]bool {
	words := map[string]bool{}
	for _, w := range strings.Fields(`a about all also an and any are as at be been but by can could did do does doing don for from
		get give had has have he her him his how i if in into is it its just know let like ll many me more much my no not of on one or
		our out please re s say says said search she should show so some t tell than that the their them then there these they this
		those to too us ve want was we were what when where which who whom whose why will with would you your
		file files document documents find look uploaded upload mention mentions mentioned contain contains`) {
		words[w] = true
	}
	return words
}()
