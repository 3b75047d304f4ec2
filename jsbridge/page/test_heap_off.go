//go:build tinygo && !testbuild

package page

import "github.com/seed-76f09577/turnwire/jsbridge/heap"

// always is what the build with the tag testbuild can set: every call collects.
const always = false

func collect() { heap.Collect() }
