package builtin

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/seed-76f09577/turnwire/internal/library"
)

const (
	calculatorTool = "calculator"
	clockTool      = "clock"
	searchTool     = "search_files"
)

// Tool is one of the tools, as a model is told of it. Each takes one argument, a string.
type Tool struct{ Name, Description, Argument, About string }

// All are the tools that there are. To search is told where there is something to search in.
func All(hasFiles bool) []Tool {
	all := []Tool{
		{calculatorTool, "Computes an arithmetic expression exactly.", "expression", "decimal numbers, + - * / % ^ and parentheses, such as (2 + 3) * 4"},
		{clockTool, "Tells the date and the time in a time zone.", "zone", "an IANA time zone, such as Asia/Tokyo or UTC"},
	}
	if hasFiles {
		all = append(all, Tool{searchTool, "Searches the texts of the uploaded files and gives the passages that match best.", "query", "the words to look for"})
	}
	return all
}

// Tools is what the calls of a turn run on.
type Tools struct {
	// Now is the clock tool's clock; nil is time.Now.
	Now func() time.Time
	// Files is what the search tool searches in; with nil there is no such tool.
	Files       Files
	WorkspaceID string
}

// HasFiles tells whether there is anything to search in.
func (u Tools) HasFiles(ctx context.Context) (bool, error) {
	if u.Files == nil {
		return false, nil
	}
	has, err := u.Files.HasFiles(ctx, u.WorkspaceID)
	if err != nil {
		return false, fmt.Errorf("look for files: %w", err)
	}
	return has, nil
}

// Run runs a tool of All on its argument.
func (u Tools) Run(ctx context.Context, name, argument string) (map[string]any, error) {
	switch {
	case name == calculatorTool:
		value, err := Evaluate(argument)
		return map[string]any{"value": json.Number(value)}, err
	case name == clockTool:
		now := time.Now
		if u.Now != nil {
			now = u.Now
		}
		at, err := readClock(now(), argument)
		return map[string]any{"zone": at.Zone, "time": at.Time, "weekday": at.Weekday, "utc_offset": at.UTCOffset}, err
	case name == searchTool && u.Files != nil:
		found, err := u.Files.Search(ctx, u.WorkspaceID, argument, maxPassages)
		return map[string]any{"query": argument, "passages": append([]library.Passage{}, found...)}, err // never null
	}
	return nil, fmt.Errorf("there is no tool %q", name)
}

// Result is what is shown of a call: an error of the tool is a result too.
func Result(found map[string]any, err error) map[string]any {
	if err != nil {
		return map[string]any{"error": err.Error()}
	}
	return found
}
