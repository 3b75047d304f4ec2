package arch

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const top = "../.."

func TestHouse(t *testing.T) {
	module, sources := load(t, top)
	for _, fault := range faults(module, sources) {
		t.Error(fault)
	}

	list := exec.Command("go", "list", "-deps", ".")
	list.Dir = top
	list.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	out, err := list.Output()
	require.NoError(t, err)
	packages := strings.Fields(string(out))
	require.Contains(t, packages, "syscall/js", "go list did not look at the browser's build")
	assert.Empty(t, tooHeavy(packages), "too heavy for the binary; `go list -deps` with GOOS=js tells who brings them in")
}

// TestRules breaks each rule once in a small module of its own.
func TestRules(t *testing.T) {
	const browser = "//go:build js && wasm\n\n"
	tests := map[string]struct {
		file, source string
		want         string // in the only fault; "" for none
	}{
		"page uses safejs":         {"jsbridge/page/a.go", browser + `package page; import _ "github.com/hack-pad/safejs"`, ""},
		"page may use time":        {"jsbridge/page/a.go", browser + `package page; import _ "time"`, ""},
		"page uses contract":       {"jsbridge/page/a.go", `package page; import _ "m/jsbridge/contract"`, ""},
		"page has a heap":          {"jsbridge/page/a.go", `package page; import _ "m/jsbridge/heap"`, ""},
		"main uses the bridge":     {"main.go", browser + `package main; import _ "m/jsbridge"`, ""},
		"turn uses api":            {"wasm/turn/a.go", `package turn; import _ "m/wasm/api"`, ""},
		"service uses anything":    {"internal/service/a.go", `package service; import (_ "net/http"; _ "time")`, ""},
		"command uses service":     {"cmd/x/main.go", `package main; import _ "m/internal/service"`, ""},
		"core's test uses a clock": {"wasm/sse/a_test.go", `package sse; import _ "time"`, ""},

		"this house's own tests": {"internal/arch/a_test.go", `package arch; import (_ "m/wasm/upload"; _ "m/internal/service")`, ""},
		"this house's own code":  {"internal/arch/a.go", `package arch; import _ "m/wasm/upload"`, twoSources},

		"untagged page":          {"jsbridge/page/a.go", `package page; import _ "syscall/js"`, "jsbridge/page/a.go:1:22: imports syscall/js: the file needs"},
		"narrower tag":           {"jsbridge/page/a.go", "//go:build js && wasm && !x\n\n" + `package page; import _ "syscall/js"`, ""},
		"tag too wide":           {"jsbridge/page/a.go", "//go:build js || wasm\n\n" + `package page; import _ "syscall/js"`, "the file needs"},
		"tag after the package":  {"jsbridge/page/a.go", "package page\n\nimport _ \"syscall/js\"\n\n//go:build js && wasm\n", "the file needs"},
		"JavaScript in a driver": {"jsbridge/a.go", browser + `package jsbridge; import _ "syscall/js"`, noJS},
		"JavaScript in main":     {"main.go", browser + `package main; import _ "github.com/hack-pad/safejs"`, noJS},
		"clock in a driver":      {"jsbridge/a.go", `package jsbridge; import _ "time"`, noClock},
		"goroutine in a driver":  {"jsbridge/a.go", `package jsbridge; func f() { go f() }`, "a go statement: "},
		"driver to page":         {"jsbridge/a.go", `package jsbridge; import _ "m/jsbridge/page"`, "arrows go one way"},
		"driver to heap":         {"jsbridge/a.go", `package jsbridge; import _ "m/jsbridge/heap"`, "arrows go one way"},
		"heap to contract":       {"jsbridge/heap/a.go", `package heap; import _ "m/jsbridge/contract"`, "arrows go one way"},
		"page to driver":         {"jsbridge/page/a.go", `package page; import _ "m/jsbridge"`, "arrows go one way"},
		"core to contract":       {"wasm/turn/a.go", `package turn; import _ "m/jsbridge/contract"`, "arrows go one way"},
		"JavaScript in the core": {"wasm/turn/a.go", browser + `package turn; import _ "syscall/js"`, noJS},
		"safejs in a test":       {"wasm/turn/a_test.go", browser + `package turn; import _ "github.com/hack-pad/safejs"`, noJS},
		"JavaScript in service":  {"internal/service/a.go", browser + `package service; import _ "syscall/js"`, noJS},

		"clock":            {"wasm/retry/a.go", `package retry; import _ "time"`, noClock},
		"network":          {"wasm/turn/a.go", `package turn; import _ "net/http"`, noIO},
		"system":           {"wasm/turn/a.go", `package turn; import _ "os"`, noIO},
		"context":          {"wasm/turn/a.go", `package turn; import _ "context"`, noWaiting},
		"lock":             {"wasm/turn/a.go", `package turn; import _ "sync"`, noWaiting},
		"atomics":          {"wasm/turn/a.go", `package turn; import _ "sync/atomic"`, noWaiting},
		"randomness":       {"wasm/retry/a.go", `package retry; import _ "math/rand/v2"`, noRandom},
		"crypto's":         {"wasm/retry/a.go", `package retry; import _ "crypto/rand"`, noRandom},
		"reflection":       {"wasm/api/a.go", `package api; import _ "reflect"`, noWeight},
		"formatting":       {"wasm/api/a.go", `package api; import _ "fmt"`, noWeight},
		"encoding/json":    {"wasm/api/a.go", `package api; import _ "encoding/json"`, noWeight},
		"behind a tag too": {"wasm/api/a.go", browser + `package api; import _ "fmt"`, noWeight},

		"goroutine": {"wasm/turn/a.go", `package turn; func f() { go f() }`, "a go statement: "},
		"channel":   {"wasm/turn/a.go", `package turn; type t chan int`, "a channel: "},
		"receive":   {"wasm/turn/a.go", `package turn; func f() { <-c }`, "a receive: "},
		"send":      {"wasm/turn/a.go", `package turn; func f() { c <- 1 }`, "a send: "},
		"select":    {"wasm/turn/a.go", `package turn; func f() { select {} }`, "a select: "},

		"upwards":               {"wasm/api/a.go", `package api; import _ "m/wasm/retry"`, "arrows go one way"},
		"sideways":              {"wasm/turn/a.go", `package turn; import _ "m/wasm/upload"`, "arrows go one way"},
		"core to bridge":        {"wasm/turn/a.go", `package turn; import _ "m/jsbridge"`, "arrows go one way"},
		"main past the bridge":  {"main.go", browser + `package main; import _ "m/wasm/turn"`, "arrows go one way"},
		"new package":           {"wasm/new/a.go", `package new; import _ "m/wasm/api"`, "no place in the layers"},
		"core from service":     {"wasm/turn/a.go", `package turn; import _ "m/internal/service"`, twoSources},
		"its test as well":      {"wasm/turn/a_test.go", `package turn; import _ "m/internal/service"`, twoSources},
		"service from core":     {"internal/service/a.go", `package service; import _ "m/wasm/sse"`, twoSources},
		"command from core":     {"cmd/x/main.go", `package main; import _ "m/wasm/sse"`, twoSources},
		"proxy from service":    {"proxy/a.go", `package proxy; import _ "m/internal/service"`, standsAlone},
		"proxy from core":       {"proxy/a.go", `package proxy; import _ "m/wasm/sse"`, standsAlone},
		"proxy's test of both":  {"proxy/a_test.go", `package proxy; import _ "m/internal/service"`, ""},
		"proxy's own part":      {"proxy/metrics/a.go", `package metrics; import _ "m/proxy"`, ""},
		"command serves proxy":  {"cmd/x/main.go", `package main; import _ "m/proxy"`, ""},
		"service from proxy":    {"internal/service/a.go", `package service; import _ "m/proxy"`, "commands serve the proxy"},
		"service from jsbridge": {"internal/service/a.go", `package service; import _ "m/jsbridge"`, twoSources},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "go.mod", "module m\n")
			write(t, dir, test.file, test.source)
			found := faults(load(t, dir))
			if test.want == "" {
				assert.Empty(t, found)
				return
			}
			require.Len(t, found, 1)
			assert.Contains(t, found[0], test.want)
		})
	}

	assert.Equal(t, []string{"net/http", "net/http/internal", "encoding/json"},
		tooHeavy([]string{"net", "net/http", "net/http/internal", "encoding/json", "encoding/hex"}))
}

// load parses every Go file of a module, whatever builds it takes part in.
func load(t *testing.T, dir string) (module string, sources []source) {
	t.Helper()
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	require.NoError(t, err)
	module = strings.TrimPrefix(strings.SplitN(string(mod), "\n", 2)[0], "module ")

	root := os.DirFS(dir)
	require.NoError(t, fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if base := path.Base(name); base == "node_modules" || base == "testdata" || base != "." && strings.HasPrefix(base, ".") {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		sources = append(sources, source{folder: path.Dir(name), name: path.Base(name), file: file, fset: fset})
		return nil
	}))
	return module, sources
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	full := filepath.Join(dir, filepath.FromSlash(name))
	require.NoError(t, os.MkdirAll(filepath.Dir(full), 0o755))
	require.NoError(t, os.WriteFile(full, []byte(text), 0o644))
}
