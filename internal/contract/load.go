package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"unicode"

	"github.com/seed-76f09577/turnwire/wasm/upload"
)

// lists are words that no constants name.
var lists = map[string][]string{"Protocol": append([]string{""}, upload.Protocols()...)}

// contract is what the package says.
type contract struct {
	control, page, exports []function
	records                []record // in the order in which they stand
	words                  []word
	constants              []constantOf
	memory                 []field
	stamp                  string
	incoming, outgoing     map[string]bool // records by their direction
}

// function is one of an interface: its last parameter may be a record.
type function struct {
	name   string // as in Go
	doc    string
	params []field
	result string // "", or its Go type
}

type record struct {
	name   string
	doc    string
	fields []field
}

type field struct {
	name     string // as in Go
	typ      string // as in Go, less its package
	doc      string
	optional bool // may be missing
	pointer  bool
	path     string // how Go reaches it; one of an embedded record has a longer one
	count    int64  // of an array
}

// word is a type of a few strings.
type word struct {
	name   string
	values []string
}

type constantOf struct{ name, value, doc string }

func load(folder, top string) (*contract, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return nil, err
	}
	c := &contract{incoming: map[string]bool{}, outgoing: map[string]bool{}}
	hash := sha256.New()
	set := token.NewFileSet()
	var parsed []*ast.File
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, "marshal.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(hash, "%s %d\n%s", filepath.Base(name), len(text), text)
		file, err := parser.ParseFile(set, name, text, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, file)
	}
	// What marshal.go will define is not there yet, and its lack is no error here.
	config := types.Config{Importer: importer.ForCompiler(set, "source", nil), Error: func(error) {}}
	checked, _ := config.Check("contract", set, parsed, nil)
	for _, file := range parsed {
		for _, decl := range file.Decls {
			if general, ok := decl.(*ast.GenDecl); ok {
				c.declare(general, checked)
			}
		}
	}
	for _, f := range c.control {
		c.mark(f, c.incoming)
	}
	for _, f := range c.page {
		c.mark(f, c.outgoing)
	}
	for _, w := range c.words {
		if len(w.values) == 0 {
			return nil, fmt.Errorf("%s has no values: are there constants of that type?", w.name)
		}
	}
	c.stamp = hex.EncodeToString(hash.Sum(nil))[:16]
	return c, nil
}

func (c *contract) declare(decl *ast.GenDecl, checked *types.Package) {
	for _, spec := range decl.Specs {
		switch s := spec.(type) {
		case *ast.ValueSpec:
			for _, name := range s.Names {
				if value, ok := checked.Scope().Lookup(name.Name).(*types.Const); ok && name.IsExported() {
					c.constants = append(c.constants, constantOf{name.Name, value.Val().ExactString(), text(s.Doc)})
				}
			}
		case *ast.TypeSpec:
			doc := s.Doc
			if doc == nil {
				doc = decl.Doc
			}
			switch t := s.Type.(type) {
			case *ast.InterfaceType:
				functions := map[string]*[]function{"Control": &c.control, "Page": &c.page, "Exports": &c.exports}[s.Name.Name]
				for _, method := range t.Methods.List {
					*functions = append(*functions, functionOf(method))
				}
			case *ast.StructType:
				fields := c.fields(t, "", checked)
				if s.Name.Name == "Memory" {
					c.memory = fields
				} else {
					c.records = append(c.records, record{s.Name.Name, text(doc), fields})
				}
			case *ast.SelectorExpr:
				c.words = append(c.words, wordOf(s.Name.Name, checked))
			case *ast.Ident:
				c.words = append(c.words, word{s.Name.Name, lists[s.Name.Name]})
			}
		}
	}
}

func functionOf(method *ast.Field) function {
	f := function{name: method.Names[0].Name, doc: text(method.Doc)}
	signature := method.Type.(*ast.FuncType)
	for _, param := range signature.Params.List {
		for _, name := range param.Names {
			typ := types.ExprString(param.Type)
			one := field{name: name.Name, typ: strings.TrimPrefix(typ, "*")}
			one.pointer = one.typ != typ
			f.params = append(f.params, one)
		}
	}
	if signature.Results != nil {
		f.result = types.ExprString(signature.Results.List[0].Type)
	}
	if len(f.params) > 3 {
		fail("%s has more than three parameters: make them a record", f.name)
	}
	return f
}

func (c *contract) fields(t *ast.StructType, path string, checked *types.Package) (out []field) {
	for _, f := range t.Fields.List {
		typ := types.ExprString(f.Type)
		doc := text(f.Doc) + text(f.Comment)
		if len(f.Names) == 0 {
			for _, r := range c.records {
				if r.name == typ {
					for _, inner := range r.fields {
						inner.path = typ + "." + inner.path
						out = append(out, inner)
					}
				}
			}
			continue
		}
		tag := ""
		if f.Tag != nil {
			tag = reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json")
		}
		for _, name := range f.Names {
			one := field{name: name.Name, typ: strings.TrimPrefix(typ, "*"), doc: doc, path: name.Name}
			one.pointer = one.typ != typ
			one.optional = one.pointer || tag == ",omitempty"
			if array, ok := f.Type.(*ast.ArrayType); ok && array.Len != nil {
				if at, ok := checked.Scope().Lookup("Memory").Type().Underlying().(*types.Struct); ok {
					for i := range at.NumFields() {
						if at.Field(i).Name() == name.Name {
							one.count = at.Field(i).Type().(*types.Array).Len()
						}
					}
				}
			}
			out = append(out, one)
		}
	}
	return out
}

// wordOf finds the constants of a type in the package that it is from.
func wordOf(name string, checked *types.Package) word {
	w := word{name: name}
	named, ok := types.Unalias(checked.Scope().Lookup(name).Type()).(*types.Named)
	if !ok {
		fail("%s is no type of a package", name)
	}
	scope := named.Obj().Pkg().Scope()
	type value struct {
		pos  token.Pos
		text string
	}
	var values []value
	for _, other := range scope.Names() {
		if k, ok := scope.Lookup(other).(*types.Const); ok && types.Identical(k.Type(), named) {
			values = append(values, value{k.Pos(), constant.StringVal(k.Val())})
		}
	}
	for len(values) > 0 {
		first := 0
		for i, v := range values {
			if v.pos < values[first].pos {
				first = i
			}
		}
		w.values = append(w.values, values[first].text)
		values = append(values[:first], values[first+1:]...)
	}
	return w
}

// mark notes the records that a function takes, and those within them.
func (c *contract) mark(f function, seen map[string]bool) {
	for i, p := range f.params {
		if r := c.record(p.typ); r != nil {
			if i != len(f.params)-1 || !p.pointer {
				fail("%s: the record %s must be the last parameter, by a pointer", f.name, p.typ)
			}
			c.markRecord(r, seen)
		}
	}
}

func (c *contract) markRecord(r *record, seen map[string]bool) {
	seen[r.name] = true
	for _, f := range r.fields {
		if inner := c.record(f.typ); inner != nil && !seen[inner.name] {
			c.markRecord(inner, seen)
		}
	}
}

func (c *contract) record(name string) *record {
	for i := range c.records {
		if c.records[i].name == name {
			return &c.records[i]
		}
	}
	return nil
}

func (c *contract) isWord(name string) bool {
	for _, w := range c.words {
		if w.name == name {
			return true
		}
	}
	return false
}

// lower is a name as JavaScript has it: WorkspaceID is workspaceId, URL is url.
func lower(name string) string {
	letters := []rune(strings.NewReplacer("ID", "Id", "URL", "Url", "JSON", "Json").Replace(name))
	letters[0] = unicode.ToLower(letters[0])
	return string(letters)
}

func text(doc *ast.CommentGroup) string { return strings.TrimSpace(doc.Text()) }

func fail(form string, args ...any) {
	fmt.Fprintf(os.Stderr, "contract: "+form+"\n", args...)
	os.Exit(1)
}
