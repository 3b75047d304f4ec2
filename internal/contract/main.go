// Command contract writes what follows from package contract: how its records are read and written (marshal.go), how its
// functions cross in either build (safejs_border.go and direct_border.go of package page), and the page's half
// (web/src/contract.ts). With -check it writes
// nothing and fails where one of these is not as it should be.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"go/format"
	"log"
	"os"
	"path/filepath"
)

func main() {
	top := flag.String("top", ".", "the project's folder")
	check := flag.Bool("check", false, "fail where a file is stale, and write none")
	flag.Parse()
	log.SetFlags(0)

	c, err := load(filepath.Join(*top, "jsbridge/contract"), *top)
	if err != nil {
		log.Fatal(err)
	}
	stale := false
	for _, file := range []struct {
		path string
		text []byte
	}{
		{"jsbridge/contract/marshal.go", source(c.marshal())},
		{"jsbridge/page/safejs_border.go", source(c.safejs())},
		{"jsbridge/page/direct_border.go", source(c.direct())},
		{"web/src/contract.ts", c.script()},
	} {
		path := filepath.Join(*top, file.path)
		was, err := os.ReadFile(path)
		switch {
		case err == nil && bytes.Equal(was, file.text):
		case *check:
			stale = true
			fmt.Printf("%s: not what jsbridge/contract says; run `make contract`\n", file.path)
		default:
			if err := os.WriteFile(path, file.text, 0o644); err != nil {
				log.Fatal(err)
			}
		}
	}
	if stale {
		os.Exit(1)
	}
}

// source formats Go.
func source(text []byte) []byte {
	out, err := format.Source(text)
	if err != nil {
		log.Fatalf("%v in\n%s", err, text)
	}
	return out
}
