// Package contract is what the module and the script of a page must both know, said once: the functions that each has of
// the other, the records that cross, the memory that both read. `make contract` writes what follows from it: marshal.go
// beside this file, two files of package page, and web/src/contract.ts.
//
// Numbers, strings, booleans and records cross, and nothing else: what only JavaScript can hold, such as a response or a
// listener, stays in the page under a number. A record crosses as JSON; it is its function's last argument, and a
// pointer there. A member that is a pointer may be missing, one with omitempty is left out where it is zero, and all others
// are always there.
package contract

//go:generate go run ../../internal/contract -top ../..

// Header is a header field: its name and its value.
type Header [2]string

// JSON is a JSON value as it came: it crosses untouched.
type JSON []byte
