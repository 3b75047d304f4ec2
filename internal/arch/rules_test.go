// Package arch holds the house's arrows and import rules, as tests: see docs/design.md.
package arch

import (
	"go/ast"
	"go/build/constraint"
	"go/token"
	"slices"
	"strings"
)

// layers says which packages of the module each package that goes into the binary may import. A path is relative to
// the module, the root package is ".".
var layers = map[string][]string{
	".":                 {"jsbridge", "jsbridge/contract", "jsbridge/page"},
	"jsbridge":          {"jsbridge/contract", "jsbridge/streams", "wasm/turn", "wasm/upload", "wasm/checksum", "wasm/api", "wasm/retry", "wasm/sse", "wasm/json"},
	"jsbridge/streams":  {"jsbridge/contract", "wasm/turn"},
	"jsbridge/page":     {"jsbridge/contract", "jsbridge/streams", "jsbridge/heap"},
	"jsbridge/heap":     {},
	"jsbridge/contract": {"wasm/turn", "wasm/upload", "wasm/retry", "wasm/api", "wasm/json"},
	"wasm/turn":         {"wasm/api", "wasm/retry", "wasm/sse", "wasm/json"},
	"wasm/upload":       {"wasm/api", "wasm/retry", "wasm/sse", "wasm/json"},
	"wasm/checksum":     {"wasm/api", "wasm/retry", "wasm/sse", "wasm/json"},
	"wasm/retry":        {"wasm/api", "wasm/json"},
	"wasm/api":          {"wasm/json"},
	"wasm/sse":          {"wasm/json"},
	"wasm/json":         {},
}

const (
	noIO        = "the core and its drivers do no I/O: they take inputs, and the page acts"
	noClock     = "the core has no clock: each input brings the time it happened at"
	noRandom    = "the core has no randomness: it is handed in, so that a seed replays a run"
	noWaiting   = "nothing in the core and its drivers waits, so nothing in it can deadlock, race or leak"
	noWeight    = "it is heavy in the binary, and would rule out a build without reflection"
	noJS        = "only jsbridge/page touches JavaScript"
	standsAlone = "proxy is public: who serves it in a program of his own gets nothing of this house with it"
	twoSources  = "the reference service is written from the spec, not from the client, so that one checks the other"
)

// pureForbids gives the reason why the core, its drivers and the contract may not import a package, or one below it.
var pureForbids = map[string]string{
	"syscall":       noIO,
	"os":            noIO,
	"net":           noIO,
	"time":          noClock,
	"math/rand":     noRandom,
	"crypto/rand":   noRandom,
	"context":       noWaiting,
	"sync":          noWaiting,
	"reflect":       noWeight,
	"fmt":           noWeight,
	"encoding/json": noWeight,
}

// bridging packages are those that only code behind `js && wasm` in jsbridge/page may import.
var bridging = []string{"syscall/js", "github.com/hack-pad/safejs"}

// binaryForbids are too heavy for the binary by whatever way they come in: +1.5 MB and +245 KB compressed.
var binaryForbids = []string{"net/http", "encoding/json"}

// A source is one parsed Go file. Folder is that of its package, relative to the module's.
type source struct {
	folder, name string
	file         *ast.File
	fset         *token.FileSet
}

func (s source) isTest() bool { return strings.HasSuffix(s.name, "_test.go") }

// compares reports whether the source is a test of this package's, which may look at both sides.
func (s source) compares() bool {
	return s.folder == "internal/arch" && s.isTest() || s.folder == "internal/contract"
}

func (s source) fault(at token.Pos, why string) string {
	position := s.fset.Position(at)
	position.Filename = strings.TrimPrefix(s.folder+"/"+s.name, "./")
	return position.String() + ": " + why
}

// faults returns what in the module's sources breaks a rule, each with its place and the reason for the rule.
func faults(module string, sources []source) []string {
	var found []string
	for _, s := range sources {
		for _, spec := range s.file.Imports {
			path := strings.Trim(spec.Path.Value, `"`)
			if why := importFault(module, s, path); why != "" {
				found = append(found, s.fault(spec.Pos(), "imports "+path+": "+why))
			}
		}
		if isPure(s.folder) && !s.isTest() {
			found = append(found, waiting(s)...)
		}
	}
	return found
}

func importFault(module string, s source, path string) string {
	shipped := below("wasm", s.folder) || below("jsbridge", s.folder) || s.folder == "."

	if slices.ContainsFunc(bridging, func(b string) bool { return below(b, path) }) {
		if !below("jsbridge/page", s.folder) {
			return noJS
		}
		if !builtForBrowserOnly(s.file) {
			return "the file needs //go:build js && wasm, or it breaks every native build"
		}
	}
	if !s.isTest() && isPure(s.folder) {
		for forbidden, why := range pureForbids {
			if below(forbidden, path) {
				return why
			}
		}
	}

	local, isLocal := strings.CutPrefix(path, module+"/")
	if !isLocal {
		return ""
	}
	if below("proxy", s.folder) && !below("proxy", local) && !s.isTest() {
		return standsAlone
	}
	if local == "proxy" && !below("proxy", s.folder) && !below("cmd", s.folder) && !below("bench", s.folder) {
		return "arrows go one way: commands serve the proxy, nothing else knows it"
	}
	if shipped != (below("wasm", local) || below("jsbridge", local)) && !s.compares() {
		return twoSources
	}
	if !shipped || s.isTest() {
		return ""
	}
	allowed, known := layers[s.folder]
	if !known {
		return s.folder + " has no place in the layers yet: give it one in internal/arch"
	}
	if !slices.Contains(allowed, local) {
		return "arrows go one way, main → jsbridge, page → streams → contract → turn, upload, checksum → retry, sse → api → json"
	}
	return ""
}

// isPure reports whether a package's code has to be free of whatever is not Go alone: the core, its drivers, the contract.
func isPure(folder string) bool {
	return below("wasm", folder) || below("jsbridge", folder) && !below("jsbridge/page", folder)
}

// waiting finds what makes a goroutine or waits for one.
func waiting(s source) []string {
	var found []string
	ast.Inspect(s.file, func(n ast.Node) bool {
		what := ""
		switch n := n.(type) {
		case *ast.GoStmt:
			what = "a go statement"
		case *ast.ChanType:
			what = "a channel"
		case *ast.SendStmt:
			what = "a send"
		case *ast.SelectStmt:
			what = "a select"
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				what = "a receive"
			}
		}
		if what != "" {
			found = append(found, s.fault(n.Pos(), what+": "+noWaiting))
		}
		return true
	})
	return found
}

// builtForBrowserOnly reports whether the file's build constraint leaves out every build but js && wasm.
func builtForBrowserOnly(file *ast.File) bool {
	for _, group := range file.Comments {
		if group.Pos() > file.Package {
			break
		}
		for _, comment := range group.List {
			if !constraint.IsGoBuild(comment.Text) {
				continue
			}
			expr, err := constraint.Parse(comment.Text)
			return err == nil && demands(expr, "js") && demands(expr, "wasm")
		}
	}
	return false
}

// demands reports whether the constraint holds only with the tag, as every part of a conjunction has to.
func demands(expr constraint.Expr, tag string) bool {
	switch e := expr.(type) {
	case *constraint.TagExpr:
		return e.Tag == tag
	case *constraint.AndExpr:
		return demands(e.X, tag) || demands(e.Y, tag)
	}
	return false
}

// tooHeavy returns those of a binary's packages that it may not hold.
func tooHeavy(packages []string) []string {
	var found []string
	for _, path := range packages {
		if slices.ContainsFunc(binaryForbids, func(f string) bool { return below(f, path) }) {
			found = append(found, path)
		}
	}
	return found
}

// below reports whether path is parent or lies under it.
func below(parent, path string) bool {
	return path == parent || strings.HasPrefix(path, parent+"/")
}
