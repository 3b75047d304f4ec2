package builtin

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/seed-76f09577/turnwire/internal/library"
)

// Files is what the agent searches in.
type Files interface {
	// HasFiles tells whether a workspace has anything to search in.
	HasFiles(ctx context.Context, workspaceID string) (bool, error)
	// Search finds the passages that match what a person typed, the best first, at most limit.
	Search(ctx context.Context, workspaceID, query string, limit int) ([]library.Passage, error)
}

const (
	maxQuery    = 300 // characters
	maxPassages = 5   // in a result
	maxQuoted   = 3   // in an answer
	// farBehind is the part of the best score under which a passage is not worth quoting.
	farBehind = 0.1
)

var (
	aboutFiles = regexp.MustCompile(`(?i)\b(?:search|look\s+up|according\s+to|who\s+wrote|what\s+(?:do|does|did)\b.+\bsay|` +
		`(?:my|our|the|these|those|uploaded)\s+(?:\pL+\s+)?(?:files?|documents?|docs|pdfs?|uploads?|handbook|manual|report|policy|contract|paper|notes))\b`)
	question = regexp.MustCompile(`(?i)\?\s*$|^\W*(?:who|whose|what|when|where|why|which|how|is|are|was|were|do|does|did|can|could|may|must|` +
		`should|will|tell\s+me|show\s+me|find|explain|describe|summari[sz]e|list)\b`)
	searchFor = regexp.MustCompile(`(?is)\b(?:search|look)\b.*?\bfor\s+(.+)`)
	findIn    = regexp.MustCompile(`(?is)\b(?:search|find|look\s+up)\s+(.+?)\s+in\s+(?:all\s+)?(?:my|our|the|these|those)\s+(?:uploaded\s+)?(?:files|documents|docs|pdfs|uploads)\b`)
)

// fileQuery gives what a message wants to be looked for in the files, "" where it does not: a message
// about files always does, any other where it is a question that no other tool understands.
func fileQuery(text string, r request) string {
	if r.count >= 0 || r.words >= 0 || r.help {
		return ""
	}
	understood := len(r.expressions)+len(r.zones) > 0
	if !aboutFiles.MatchString(text) && (understood || !question.MatchString(strings.TrimSpace(text))) {
		return ""
	}
	query := text
	for _, form := range []*regexp.Regexp{findIn, searchFor} {
		if m := form.FindStringSubmatch(text); m != nil {
			query = m[1]
			break
		}
	}
	query = strings.Join(strings.Fields(query), " ")
	if runes := []rune(query); len(runes) > maxQuery {
		query = string(runes[:maxQuery])
	}
	return strings.TrimRight(query, " ?.!")
}

// filesAnswer quotes the best passages that a search found.
func filesAnswer(query string, found []library.Passage) string {
	var b strings.Builder
	if len(found) == 0 {
		fmt.Fprintf(&b, "Your files say nothing about **%s**: I looked for its words in their texts and their names.\n\n", escape(query))
		return b.String()
	}
	fmt.Fprintf(&b, "I looked for **%s** in your files:\n\n", escape(query))
	for _, p := range found[:min(len(found), maxQuoted)] {
		if p.Score < found[0].Score*farBehind {
			break
		}
		fmt.Fprintf(&b, "**%s**", escape(strings.Join(strings.Fields(p.File), " ")))
		if p.Page > 0 {
			fmt.Fprintf(&b, ", page %d", p.Page)
		}
		fmt.Fprintf(&b, ":\n\n%s\n\n", quotation(p.Text))
	}
	return b.String()
}
