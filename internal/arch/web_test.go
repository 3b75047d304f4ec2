package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var webImport = regexp.MustCompile(`(?m)^(?:import|export)\s[^;]*?"\./([\w-]+)\.ts";`)

// circle is a way through the imports that comes back to where it began; nil where there is none.
func circle(imports map[string][]string) []string {
	done := map[string]bool{}
	var walk func(file string, way []string) []string
	walk = func(file string, way []string) []string {
		if i := slices.Index(way, file); i >= 0 {
			return append(way[i:], file)
		}
		if done[file] {
			return nil
		}
		for _, next := range imports[file] {
			if found := walk(next, append(slices.Clone(way), file)); found != nil {
				return found
			}
		}
		done[file] = true
		return nil
	}
	for file := range imports {
		if found := walk(file, nil); found != nil {
			return found
		}
	}
	return nil
}

// TestWeb shows that no two files of the page's side need each other: one of them could not be read without the other.
func TestWeb(t *testing.T) {
	folder := filepath.Join(top, "web", "src")
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	imports := map[string][]string{}
	for _, entry := range entries {
		name, isSource := strings.CutSuffix(entry.Name(), ".ts")
		if !isSource {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		require.NoError(t, err)
		imports[name] = nil
		for _, match := range webImport.FindAllStringSubmatch(string(text), -1) {
			imports[name] = append(imports[name], match[1])
		}
	}
	require.Contains(t, imports["client"], "client-context", "the imports are read")
	assert.Nil(t, circle(imports), "these files of web/src import each other")
}

func TestCircle(t *testing.T) {
	assert.Nil(t, circle(map[string][]string{"a": {"b", "c"}, "b": {"c"}, "c": nil}))
	assert.Len(t, circle(map[string][]string{"a": {"b"}, "b": {"c"}, "c": {"b"}}), 3)
}
