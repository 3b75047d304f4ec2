package main

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestExports holds what the module exports against contract.Exports: the compiler knows of no such interface.
func TestExports(t *testing.T) {
	c, err := load("../../jsbridge/contract", "../..")
	require.NoError(t, err)
	want := map[string]string{}
	for _, f := range c.exports {
		want[lower(f.name)] = signature(f)
	}

	file, err := parser.ParseFile(token.NewFileSet(), "../../jsbridge/page/exports.go", nil, parser.ParseComments)
	require.NoError(t, err)
	got := map[string]string{}
	for _, decl := range file.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok || fn.Doc == nil {
			continue
		}
		for _, comment := range fn.Doc.List {
			if name, ok := strings.CutPrefix(comment.Text, "//go:wasmexport "); ok {
				got[name] = signature(functionOf(&ast.Field{Names: []*ast.Ident{ast.NewIdent(fn.Name.Name)}, Type: fn.Type}))
			}
		}
	}
	// An address is a number to the page.
	got["shared"] = strings.Replace(got["shared"], "unsafe.Pointer", "uint32", 1)
	assert.Equal(t, want, got)
}

func signature(f function) string {
	var params []string
	for _, p := range f.params {
		params = append(params, p.name+" "+p.typ)
	}
	return "(" + strings.Join(params, ", ") + ") " + f.result
}

// TestStale changes the contract of a copy of the project in ways that each side alone would not notice.
func TestStale(t *testing.T) {
	change := func(t *testing.T, file, old, new string) *contract {
		top := t.TempDir()
		folder := filepath.Join(top, "jsbridge/contract")
		require.NoError(t, os.CopyFS(folder, os.DirFS("../../jsbridge/contract")))
		text, err := os.ReadFile(filepath.Join(folder, file))
		require.NoError(t, err)
		require.Equal(t, 1, strings.Count(string(text), old), "%q in %s", old, file)
		require.NoError(t, os.WriteFile(filepath.Join(folder, file), []byte(strings.Replace(string(text), old, new, 1)), 0o644))
		c, err := load(folder, top)
		require.NoError(t, err)
		return c
	}
	same := change(t, "page.go", "package contract", "package contract")
	was, err := os.ReadFile("../../web/src/contract.ts")
	require.NoError(t, err)
	require.Equal(t, string(was), string(same.script()), "run `make contract`")

	tests := map[string]struct{ file, old, new string }{
		"a member's name":   {"records.go", "IdleTimeout int64", "IdleTimeOut int64"},
		"a member's type":   {"records.go", "IdleTimeout int64", "IdleTimeout string"},
		"a function's name": {"control.go", "DisconnectTurn(turn uint32)", "LeaveTurn(turn uint32)"},
		"a new argument":    {"control.go", "PauseUpload(upload uint32)", "PauseUpload(upload, why uint32)"},
		"a flag":            {"memory.go", "WantsFlush = 2", "WantsFlush = 4"},
		"a word of memory":  {"memory.go", "	Size uint32\n", "	Kind uint32\n	Size uint32\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := change(t, test.file, test.old, test.new)
			assert.NotEqual(t, same.stamp, c.stamp)
			assert.NotEqual(t, withoutStamp(same), withoutStamp(c), "the page's half does not change")
		})
	}
}

func withoutStamp(c *contract) string { return strings.Replace(string(c.script()), c.stamp, "", 1) }

func TestLower(t *testing.T) {
	for name, want := range map[string]string{"WorkspaceID": "workspaceId", "URL": "url", "ID": "id", "UnixTime": "unixTime", "JSON": "json"} {
		assert.Equal(t, want, lower(name))
	}
}

// TestWords finds the constants of a word in the order of their source.
func TestWords(t *testing.T) {
	scope := types.NewPackage("contract", "contract")
	from := types.NewPackage("api", "api")
	kind := types.NewNamed(types.NewTypeName(0, from, "Kind", nil), types.Typ[types.String], nil)
	from.Scope().Insert(kind.Obj())
	for i, value := range []string{"zeta", "alpha"} {
		from.Scope().Insert(types.NewConst(token.Pos(i+1), from, "Kind"+value, kind, constant.MakeString(value)))
	}
	scope.Scope().Insert(types.NewTypeName(0, scope, "ErrorKind", types.NewAlias(types.NewTypeName(0, scope, "ErrorKind", nil), kind)))
	assert.Equal(t, word{"ErrorKind", []string{"zeta", "alpha"}}, wordOf("ErrorKind", scope))
}
