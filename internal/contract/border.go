package main

import (
	"bytes"
	"fmt"
	"strings"
)

// safejs is how the functions cross as callbacks.
func (c *contract) safejs() []byte {
	var b bytes.Buffer
	b.WriteString("//go:build js && wasm\n\n" + generated + "package page\n\nimport \"github.com/seed-76f09577/turnwire/jsbridge/contract\"\n\n")
	b.WriteString("// functions are those of the module, by their names in JavaScript. n has the numbers among the arguments, from the first on.\nvar functions = []struct {\nname string\ncall func(c contract.Control, n *[3]int64, text string) any\n}{\n")
	for _, f := range c.control {
		var args []string
		for i, p := range f.params {
			switch c.crossing(f, i) {
			case asNumber:
				args = append(args, fmt.Sprintf("%s(n[%d])", p.typ, i))
			case asText:
				args = append(args, "text")
			case asRecord:
				args = append(args, fmt.Sprintf("contract.Read%s(text)", p.typ))
			}
		}
		call := fmt.Sprintf("c.%s(%s)", f.name, strings.Join(args, ", "))
		if f.result == "" {
			call += "\nreturn nil"
		} else {
			call = "return " + call
		}
		fmt.Fprintf(&b, "{%q, func(c contract.Control, n *[3]int64, text string) any {\n%s\n}},\n", lower(f.name), call)
	}
	b.WriteString("}\n")
	for _, f := range c.page {
		numbers, last := "", ""
		for i, p := range f.params {
			switch c.crossing(f, i) {
			case asNumber:
				numbers += ", float64(" + p.name + ")"
			case asText:
				last = p.name
			case asRecord:
				last = p.name + ".JSON()"
			}
		}
		call := fmt.Sprintf("invoke(%q%s)", lower(f.name), numbers)
		if last != "" {
			call = fmt.Sprintf("invokeWith(%s, %q%s)", last, lower(f.name), numbers)
		}
		switch f.result {
		case "float64":
			call = "return number(" + call + ")"
		case "bool":
			call = "return truth(" + call + ")"
		}
		fmt.Fprintf(&b, "\n%s { %s }\n", c.method(f), call)
	}
	return b.Bytes()
}

// direct is how the functions cross as imports and exports alone. A text goes as address and size, and the import's module
// says what it is; one that comes lies in the room that the page asked for before.
func (c *contract) direct() []byte {
	var b bytes.Buffer
	b.WriteString("//go:build tinygo\n\n" + generated + "package page\n\nimport (\n\"unsafe\"\n\n\"github.com/seed-76f09577/turnwire/jsbridge/contract\"\n)\n")
	for _, f := range c.control {
		var params, args []string
		for i, p := range f.params {
			switch c.crossing(f, i) {
			case asNumber:
				params = append(params, p.name+" "+crosses[p.typ])
				args = append(args, converted(p.name, crosses[p.typ], p.typ))
			case asText:
				args = append(args, "taken()")
			case asRecord:
				args = append(args, fmt.Sprintf("contract.Read%s(taken())", p.typ))
			}
		}
		call, result := fmt.Sprintf("module.%s(%s)", f.name, strings.Join(args, ", ")), ""
		if f.result != "" {
			call, result = "text := "+call+"\nleave(unsafe.Slice(unsafe.StringData(text), len(text)))\nreturn 1", " uint32"
		}
		fmt.Fprintf(&b, "\n//go:wasmexport %s\nfunc call%s(%s)%s {\nentered(%[1]q)\n%[5]s\n}\n", lower(f.name), f.name, strings.Join(params, ", "), result, call)
	}
	for _, f := range c.page {
		var params, args []string
		text, made, form := "", "", "turnwire"
		for i, p := range f.params {
			switch c.crossing(f, i) {
			case asNumber:
				params = append(params, p.name+" "+crosses[p.typ])
				args = append(args, converted(p.name, p.typ, crosses[p.typ]))
				continue
			case asText:
				text, form = p.name, "text"
			case asRecord:
				text, made, form = "text", "text := "+p.name+".JSON()\n", "record"
			}
			params = append(params, p.name+" *byte", "size uint32")
			args = append(args, "unsafe.StringData("+text+")", "uint32(len("+text+"))")
		}
		result, call := "", fmt.Sprintf("page%s(%s)", f.name, strings.Join(args, ", "))
		switch f.result {
		case "float64":
			result, call = "float64", "return "+call
		case "bool":
			result, call = "uint32", "return "+call+" == 1"
		default:
			call = "away++\n" + call + "\naway--"
		}
		fmt.Fprintf(&b, "\n//go:wasmimport %s %s\nfunc page%s(%s) %s\n", form, lower(f.name), f.name, strings.Join(params, ", "), result)
		fmt.Fprintf(&b, "\n%s { %s }\n", c.method(f), made+call)
	}
	return b.Bytes()
}

// crosses is how a number passes a border of WebAssembly: JavaScript has no other 64 bits than those of a float64.
var crosses = map[string]string{"uint32": "uint32", "int": "int32", "int64": "float64"}

func converted(name, from, to string) string {
	if from == to {
		return name
	}
	return to + "(" + name + ")"
}

// The ways in which an argument crosses.
const (
	asNumber = iota
	asText
	asRecord
)

func (c *contract) crossing(f function, i int) int {
	p := f.params[i]
	switch {
	case crosses[p.typ] != "":
		return asNumber
	case i < len(f.params)-1:
	case p.typ == "string":
		return asText
	case c.record(p.typ) != nil:
		return asRecord
	}
	fail("%s: a %s can't cross there", f.name, p.typ)
	return 0
}

// method begins the method of script that is a function of the page.
func (c *contract) method(f function) string {
	var params []string
	for i, p := range f.params {
		typ := p.typ
		if c.crossing(f, i) == asRecord {
			typ = "*contract." + typ
		}
		params = append(params, p.name+" "+typ)
	}
	if f.result != "" && f.result != "float64" && f.result != "bool" {
		fail("%s: a %s can't come from the page", f.name, f.result)
	}
	return fmt.Sprintf("func (*script) %s(%s) %s", f.name, strings.Join(params, ", "), f.result)
}
