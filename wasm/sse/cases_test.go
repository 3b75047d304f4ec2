package sse

import "strings"

// streamCase is one stream and the events of it, each {type, data, id}.
type streamCase struct {
	name   string
	stream string
	want   []event
	end    []event // what End offers
	retry  int     // 0: none is expected
	lastID string
}

func ev(kind, data string) event { return event{Type: kind, Data: data} }

func withID(e event, id string) event { e.ID, e.HasID = id, true; return e }

func inherits(e event, id string) event { e.ID = id; return e }

// The cases named format-* and event-data are those of web-platform-tests' eventsource folder, with streams of
// our own. format-mime-bogus, format-mime-trailing-semicolon and format-mime-valid-bogus are about the
// response's Content-Type, which a parser of the body does not see.
var streamCases = []streamCase{
	{name: "empty stream"},
	{name: "only blank lines", stream: "\n\r\r\n\n"},
	{name: "event-data", stream: "data:a\ndata:b\n\n:\ndata\n\nfalse: x\n\ndata:c\n\n",
		want: []event{ev("", "a\nb"), ev("", ""), ev("", "c")}},

	{name: "format-bom", stream: "\xEF\xBB\xBFdata:1\n\n\xEF\xBB\xBFdata:2\n\ndata:3\n\n",
		want: []event{ev("", "1"), ev("", "3")}},
	{name: "format-bom-2", stream: "\xEF\xBB\xBF\xEF\xBB\xBFdata:1\n\ndata:2\n\n", want: []event{ev("", "2")}},
	{name: "BOM before a comment", stream: "\xEF\xBB\xBF:x\ndata:1\n\n", want: []event{ev("", "1")}},
	{name: "BOM before a blank line", stream: "\xEF\xBB\xBF\r\ndata:1\n\n", want: []event{ev("", "1")}},
	{name: "nothing but a BOM", stream: "\xEF\xBB\xBF"},
	{name: "half a BOM begins an unknown field", stream: "\xEF\xBBdata:1\ndata:2\n\n", want: []event{ev("", "2")}},
	{name: "a third of a BOM is a line", stream: "\xEF\ndata:2\n\n", want: []event{ev("", "2")}},
	{name: "nothing but half a BOM", stream: "\xEF\xBB"},
	{name: "BOM inside data stays", stream: "data:\xEF\xBB\xBF\n\n", want: []event{ev("", "\xEF\xBB\xBF")}},

	{name: "format-comments", stream: "data:a\r:\x00\n:\r\ndata:b\n:" + strings.Repeat("y", 3000) +
		"\rdata:c\n:data:no\r:" + strings.Repeat("z", 3000) + "\ndata:d\n\n", want: []event{ev("", "a\nb\nc\nd")}},
	{name: "comments dispatch nothing", stream: ": keep-alive\n\n:\n\n"},
	{name: "comment between events", stream: "data:1\n\n: ping\n\ndata:2\n\n", want: []event{ev("", "1"), ev("", "2")}},

	{name: "format-data-before-final-empty-line", stream: "retry:900\ndata:x\n\ndata:y",
		want: []event{ev("", "x")}, end: []event{ev("", "y")}, retry: 900},
	{name: "unfinished event", stream: "data:1\n\ndata:2\n", want: []event{ev("", "1")}, end: []event{ev("", "2")}},
	{name: "unfinished event of two lines", stream: "data:1\ndata:2", end: []event{ev("", "1\n2")}},
	{name: "unfinished event after CR", stream: "data:1\r", end: []event{ev("", "1")}},
	{name: "unfinished data line without colon", stream: "data", end: []event{ev("", "")}},
	{name: "unfinished name", stream: "data:1\ndat", end: []event{ev("", "1")}},
	{name: "unfinished comment", stream: "data:1\n: 2", end: []event{ev("", "1")}},
	{name: "unfinished event with type and id", stream: "event:t\ndata:1\nid:7", end: []event{withID(ev("t", "1"), "7")}},
	{name: "unfinished event inherits the id", stream: "id:7\n\ndata:1", end: []event{inherits(ev("", "1"), "7")}, lastID: "7"},
	{name: "unfinished event without data", stream: "event:t\nid:7\n"},
	{name: "unfinished retry", stream: "retry:5", retry: 5},

	{name: "format-field-data", stream: "data:\n\ndata\ndata\n\ndata:z\n\n",
		want: []event{ev("", ""), ev("", "\n"), ev("", "z")}},
	{name: "data lines between other fields", stream: "data:1\nevent:t\ndata:2\nid:3\ndata\n\n",
		want: []event{withID(ev("t", "1\n2\n"), "3")}, lastID: "3"},
	{name: "format-field-event", stream: "event:tick\ndata:a\n\ndata:b\n\n", want: []event{ev("tick", "a"), ev("", "b")}},
	{name: "format-field-event-empty", stream: "event: \ndata:x\n\n", want: []event{ev("", "x")}},
	{name: "event without colon", stream: "event:t\nevent\ndata:x\n\n", want: []event{ev("", "x")}},
	{name: "last event field counts", stream: "event:t\nevent:u\ndata:x\n\n", want: []event{ev("u", "x")}},
	{name: "event field after data", stream: "data:x\nevent:t\n\n", want: []event{ev("t", "x")}},
	{name: "type without data is forgotten", stream: "event:t\n\ndata:x\n\n", want: []event{ev("", "x")}},

	{name: "format-field-id", stream: "id:…\ndata:a\n\ndata:b\n\n",
		want: []event{withID(ev("", "a"), "…"), inherits(ev("", "b"), "…")}, lastID: "…"},
	{name: "format-field-id-2", stream: "id:1\ndata:a\n\ndata:b\n\nid:2\ndata:c\n\n",
		want:   []event{withID(ev("", "a"), "1"), inherits(ev("", "b"), "1"), withID(ev("", "c"), "2")},
		lastID: "2"},
	{name: "format-field-id-3", stream: "id:1\ndata:a\n\nid\ndata:b\n\ndata:c\n\n",
		want: []event{withID(ev("", "a"), "1"), withID(ev("", "b"), ""), ev("", "c")}},
	{name: "format-field-id-null", stream: "id:\x00\ndata:a\n\nid:1\x00\ndata:b\n\nid:1\x002\ndata:c\n\n",
		want: []event{ev("", "a"), ev("", "b"), ev("", "c")}},
	{name: "id with NUL leaves the id before it", stream: "id:1\nid:2\x003\ndata:a\n\nid:\x00\ndata:b\n\n",
		want: []event{withID(ev("", "a"), "1"), inherits(ev("", "b"), "1")}, lastID: "1"},
	{name: "last id field counts", stream: "id:1\nid:22\nid:3\ndata:a\n\n",
		want: []event{withID(ev("", "a"), "3")}, lastID: "3"},
	{name: "id without data", stream: "id:1\n\ndata:a\n\n", want: []event{inherits(ev("", "a"), "1")}, lastID: "1"},
	{name: "id of an unfinished event is not the last", stream: "id:1\ndata:a\n\nid:2\ndata:b\n",
		want: []event{withID(ev("", "a"), "1")}, end: []event{withID(ev("", "b"), "2")}, lastID: "1"},

	{name: "format-field-parsing", stream: "data:\x00\ndata:  a\rData:no\ndata\x00:no\ndata:b\r\x00data:no\n" +
		"da-ta:no\rdata_x\ndata:c\rdata:\r\n data:no\ndata:d\n\n", want: []event{ev("", "\x00\n a\nb\nc\n\nd")}},
	{name: "format-field-retry", stream: "retry:02500\ndata:x\n\n", want: []event{ev("", "x")}, retry: 2500},
	{name: "format-field-retry-bogus", stream: "retry:3000\nretry:1000x\nretry:-5\nretry:1.5\nretry:1 \ndata:x\n\n",
		want: []event{ev("", "x")}, retry: 3000},
	{name: "format-field-retry-empty", stream: "retry\nretry:\nretry: \ndata:x\n\n", want: []event{ev("", "x")}},
	{name: "retry saturates", stream: "retry:" + strings.Repeat("9", 40) + "\n", retry: maxRetry},
	{name: "last valid retry counts", stream: "retry:1\n\nretry: 2\nretry:three\n", retry: 2},
	{name: "format-field-unknown", stream: "data:a\n data\ndata\nother:b\nsometext\n:comment\ndata:c\n\n",
		want: []event{ev("", "a\n\nc")}},
	{name: "names longer or shorter than fields", stream: "dat:1\ndatas:2\nevents:3\nretrying:4\ni:5\nidd:6\n\ndata:x\n\n",
		want: []event{ev("", "x")}},
	{name: "names have case", stream: "DATA:1\nEvent:t\nID:1\nRetry:1\ndata:x\n\n", want: []event{ev("", "x")}},
	{name: "space before the colon", stream: "data :1\ndata:x\n\n", want: []event{ev("", "x")}},

	{name: "format-leading-space", stream: "data:\ta\rdata: \ndata:  b\ndata:c\n\n", want: []event{ev("", "\ta\n\n b\nc")}},
	{name: "colons in the value", stream: "data::a: b:\n\n", want: []event{ev("", ":a: b:")}},

	{name: "format-newlines", stream: "data:a\r\ndata\ndata:b\r\n\r", want: []event{ev("", "a\n\nb")}},
	{name: "LF only", stream: "data:a\ndata:b\n\ndata:c\n\n", want: []event{ev("", "a\nb"), ev("", "c")}},
	{name: "CR only", stream: "data:a\rdata:b\r\rdata:c\r\r", want: []event{ev("", "a\nb"), ev("", "c")}},
	{name: "CRLF only", stream: "data:a\r\ndata:b\r\n\r\ndata:c\r\n\r\n", want: []event{ev("", "a\nb"), ev("", "c")}},
	{name: "LF CR ends an event", stream: "data:a\n\rdata:b\n\r", want: []event{ev("", "a"), ev("", "b")}},
	{name: "LF CRLF ends an event", stream: "data:a\n\r\ndata:b\n\r\n", want: []event{ev("", "a"), ev("", "b")}},
	{name: "CRLF alone does not", stream: "data:a\r\ndata:b\r\n\n", want: []event{ev("", "a\nb")}},
	{name: "CR CRLF ends an event once", stream: "data:a\r\r\ndata:b\r\r\n", want: []event{ev("", "a"), ev("", "b")}},
	{name: "CR far before the only LF", stream: strings.Repeat("data:a\r\r", 20) + "\n",
		want: repeat(ev("", "a"), 20)},

	{name: "format-null-character", stream: "data:\x00\n\n\x00\n\ndata:a\x00b\n\n", want: []event{ev("", "\x00"), ev("", "a\x00b")}},
	{name: "format-utf-8", stream: "data:ok…\n\ndata:\xF0\x9F\x98\x80\n\n", want: []event{ev("", "ok…"), ev("", "😀")}},
	{name: "bytes that are not UTF-8 stay", stream: "data:\xFF\xC3\n\nid:\x80\ndata:\xE2\x82\n\n",
		want: []event{ev("", "\xFF\xC3"), withID(ev("", "\xE2\x82"), "\x80")}, lastID: "\x80"},
	{name: "long data", stream: "data: " + strings.Repeat("long ", 500) + "\n\n",
		want: []event{ev("", strings.Repeat("long ", 500))}},
}

func repeat(e event, n int) (events []event) {
	for range n {
		events = append(events, e)
	}
	return events
}
