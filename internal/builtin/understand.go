package builtin

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/parser"
)

const (
	maxCalculations = 8
	maxZones        = 4
)

// request is what a message was understood to ask for.
type request struct {
	help         bool
	count, words int // negative where not asked for
	expressions  []string
	zones        []string
	query        string // for the files; "" where they are not asked for
}

var (
	countTo    = regexp.MustCompile(`(?i)^\W*(?:please\s+)?count\s+(?:up\s+)?to\s+(\d{1,9})\b`)
	writeWords = regexp.MustCompile(`(?i)^\W*(?:please\s+)?write\s+(\d{1,9})\s+words?\b`)
	askHelp    = regexp.MustCompile(`(?i)^\W*(?:help|what can you do)\W*$`)
	askTime    = regexp.MustCompile(`(?i)\b(?:what(?:'s|’s| is)?\s+(?:the\s+)?(?:current\s+)?(?:time|date|day)\b|what\s+time|which\s+day|what\s+day|time\s+is\s+it|(?:current|local)\s+(?:time|date)|today(?:'s|’s)\s+date|(?:time|date)\s+(?:in|at|now|today)\b|the\s+(?:time|date)\b|clock\b)`)
	hintTime   = regexp.MustCompile(`(?i)\b(?:time|date|day|now|clock)\b`)
	zoneName   = regexp.MustCompile(`\b(?:[A-Z][A-Za-z_]+(?:/[A-Z][A-Za-z0-9_+-]*){1,2}|UTC)\b`)
)

// understand reads a message; hasFiles tells whether there are files that it may ask about.
func understand(text string, hasFiles bool) request {
	r := understandAlone(text)
	if hasFiles {
		r.query = fileQuery(text, r)
	}
	return r
}

func understandAlone(text string) request {
	r := request{count: -1, words: -1}
	if m := countTo.FindStringSubmatch(text); m != nil {
		r.count, _ = strconv.Atoi(m[1]) // nine digits always fit
		return r
	}
	if m := writeWords.FindStringSubmatch(text); m != nil {
		r.words, _ = strconv.Atoi(m[1])
		return r
	}
	if r.help = askHelp.MatchString(text); r.help {
		return r
	}
	zones := zoneName.FindAllString(text, maxZones)
	if askTime.MatchString(text) || (len(zones) > 0 && hintTime.MatchString(text)) {
		r.zones = zones
		if len(zones) == 0 {
			r.zones = cityZones(text)
		}
		if len(r.zones) == 0 {
			r.zones = []string{"UTC"}
		}
	}
	r.expressions = findArithmetic(zoneName.ReplaceAllString(text, " ; "))
	return r
}

var (
	operatorWords = strings.NewReplacer("×", "*", "·", "*", "⋅", "*", "÷", "/", "−", "-", "–", "-")
	spelledOut    = []struct {
		words *regexp.Regexp
		sign  string
	}{
		{regexp.MustCompile(`(?i)\bplus\b`), "+"},
		{regexp.MustCompile(`(?i)\bminus\b`), "-"},
		{regexp.MustCompile(`(?i)\b(?:times|multiplied\s+by)\b`), "*"},
		{regexp.MustCompile(`(?i)\bdivided\s+by\b`), "/"},
	}
	crossSign = regexp.MustCompile(`([\d)])\s*[xX]\s*([\d(])`)
	thousands = regexp.MustCompile(`(\d),(\d{3})\b`)
	run       = regexp.MustCompile(`[\d().,+\-*/%^ \t]*\d[\d().,+\-*/%^ \t]*`)
	breaks    = regexp.MustCompile(`,|\.(?:\s+|$)`)
	listMark  = regexp.MustCompile(`(?m)^[ \t]*(?:[-*+]|\d+[.)])[ \t]+`)
	dateLike  = regexp.MustCompile(`^\d{4}-\d{1,2}-\d{1,2}$|^\d{1,2}/\d{1,2}/\d{2,4}$`)
)

// findArithmetic finds the expressions with at least one operator, in the order of the text. Lines are
// looked at one by one, so that a list of sums is not one long sum.
func findArithmetic(text string) []string {
	text = listMark.ReplaceAllString(operatorWords.Replace(text), "")
	for _, s := range spelledOut {
		text = s.words.ReplaceAllString(text, s.sign)
	}
	// Twice: a match takes the number that the next one begins with.
	for range 2 {
		text = crossSign.ReplaceAllString(text, "$1 * $2")
		text = thousands.ReplaceAllString(text, "$1$2")
	}
	var found []string
	for _, candidate := range run.FindAllString(text, -1) {
		for _, piece := range breaks.Split(candidate, -1) {
			piece = tidy(piece)
			if piece == "" || dateLike.MatchString(piece) || len(piece) > maxExpression {
				continue
			}
			tree, err := parser.Parse(piece)
			if err != nil {
				continue
			}
			if n, err := operations(tree.Node); err == nil && n > 0 {
				found = append(found, piece)
			}
			if len(found) == maxCalculations {
				return found
			}
		}
	}
	return found
}

// tidy cuts what belongs to the sentence around an expression: dangling operators and parentheses that
// have no partner.
func tidy(s string) string {
	s = strings.TrimLeft(s, " \t+*/%^).")
	s = strings.TrimRight(s, " \t+-*/%^(.")
	for strings.Count(s, "(") > strings.Count(s, ")") && strings.HasPrefix(s, "(") {
		s = strings.TrimLeft(s[1:], " \t")
	}
	for strings.Count(s, ")") > strings.Count(s, "(") && strings.HasSuffix(s, ")") {
		s = strings.TrimRight(s[:len(s)-1], " \t")
	}
	return s
}
