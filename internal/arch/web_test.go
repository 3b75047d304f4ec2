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

// doorImport finds what a file of web/src/doors imports: whether types alone, and from where.
var doorImport = regexp.MustCompile(`(?m)^(?:import|export)\s+(type\s)?(?:[^;]*?\sfrom\s+)?"([^"]+)";`)

// doorKits holds what a door may import of its kit, which a page brings itself: packages, and packages of which it has types alone.
var doorKits = map[string]struct{ values, types []string }{
	"react":  {values: []string{"react"}},
	"ai-sdk": {types: []string{"ai"}},
	"ag-ui":  {values: []string{"@ag-ui/client", "rxjs"}},
	// No kit: what it is made of comes with it.
	"element": {values: []string{"marked"}},
}

// doorFolders holds the doors that are several files: web/src/doors/NAME.ts, and those of the folder of its name.
var doorFolders = []string{"element"}

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

// doorFaults returns what a file of web/src/doors imports against the rules: "turnwire" and kits only as types, but for the kit
// that the door is to; of the house only what lies beside it.
func doorFaults(name, text string) []string {
	var found []string
	for _, match := range doorImport.FindAllStringSubmatch(text, -1) {
		isType, from := match[1] != "", match[2]
		switch {
		case strings.HasPrefix(from, "./") && !strings.Contains(from[2:], "/"):
		case slices.Contains(doorFolders, name) && strings.HasPrefix(from, "./"+name+"/"):
		case slices.Contains(doorKits[name].values, from):
		case isType && (from == "turnwire" || slices.Contains(doorKits[name].types, from)):
		default:
			found = append(found, name+".ts imports "+from+": a door has types of turnwire, and its own kit")
		}
	}
	return found
}

// TestDoors shows that the doors to UI kits stand before the package, which knows nothing of them.
func TestDoors(t *testing.T) {
	folder := filepath.Join(top, "web", "src", "doors")
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	imports := map[string][]string{}
	for _, entry := range entries {
		name := strings.TrimSuffix(entry.Name(), ".ts")
		if entry.IsDir() {
			require.Contains(t, doorFolders, name)
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		require.NoError(t, err)
		assert.Empty(t, doorFaults(name, string(text)))
		imports[name] = nil
		for _, match := range webImport.FindAllStringSubmatch(string(text), -1) {
			imports[name] = append(imports[name], match[1])
		}
	}
	for name := range doorKits {
		require.Contains(t, imports, name)
		assert.True(t, slices.Contains(doorFolders, name) || len(imports[name]) > 0, "the imports are read")
	}
	assert.Nil(t, circle(imports), "these files of web/src/doors import each other")

	for _, name := range doorFolders {
		files, err := filepath.Glob(filepath.Join(folder, name, "*.ts"))
		require.NoError(t, err)
		imports := map[string][]string{}
		for _, path := range files {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Empty(t, doorFaults(name, string(text)), path)
			file := strings.TrimSuffix(filepath.Base(path), ".ts")
			for _, match := range webImport.FindAllStringSubmatch(string(text), -1) {
				imports[file] = append(imports[file], match[1])
			}
		}
		require.NotEmpty(t, imports["markdown"], "the imports are read")
		assert.Nil(t, circle(imports), "these files of web/src/doors/%s import each other", name)
	}

	sources, err := filepath.Glob(filepath.Join(top, "web", "src", "*.ts"))
	require.NoError(t, err)
	require.NotEmpty(t, sources)
	for _, path := range sources {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.NotContains(t, string(text), `"./doors/`, path)
	}
}

func TestDoorFaults(t *testing.T) {
	tests := map[string]struct {
		source string
		faults int
	}{
		"its kit":              {`import { useState } from "react";`, 0},
		"types of the package": {"import type {\n  Turn,\n} from \"turnwire\";", 0},
		"a neighbour":          {`import { Frames } from "./frames.ts";`, 0},
		"the package itself":   {`import { AgentClient } from "turnwire";`, 1},
		"the facade":           {`import { Turn } from "../turn.ts";`, 1},
		"types of the facade":  {`import type { Turn } from "../turn.ts";`, 1},
		"another kit":          {`import { Observable } from "rxjs";`, 1},
		"another kit's types":  {`import type { UIMessage } from "ai";`, 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { assert.Len(t, doorFaults("react", test.source), test.faults) })
	}
	assert.Empty(t, doorFaults("ai-sdk", `import type { UIMessage } from "ai";`))
	assert.Len(t, doorFaults("ai-sdk", `import { readUIMessageStream } from "ai";`), 1)
}
