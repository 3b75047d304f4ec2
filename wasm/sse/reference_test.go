package sse

import (
	"regexp"
	"strings"
)

// event is an Event that holds for good.
type event struct {
	Type, Data, ID string
	HasID          bool
}

// result is all that a parser says of one stream.
type result struct {
	Events []event
	End    []event // what End offered: at most one
	LastID string
	Retry  int // -1 where the stream had none
	Err    error
}

var lineEnds = regexp.MustCompile(`\r\n|\n|\r`)

// reference parses a whole stream as the standard's text says, with no thought for speed: the parser's results
// are compared with its own.
func reference(stream string, limit int) result {
	r := result{Retry: -1}
	lines := lineEnds.Split(strings.TrimPrefix(stream, byteOrderMark), -1)
	unfinished := lines[len(lines)-1]

	var data, kind, id string
	var hasData, hasID bool
	field := func(line string) {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "data":
			data += value + "\n"
			hasData = true
			if len(data)-1 > limit {
				r.Err = ErrTooLong
			}
		case "event":
			kind = value
			if len(kind) > min(limit, nameLimit) {
				r.Err = ErrTooLong
			}
		case "id":
			value, _, null := strings.Cut(value, "\x00")
			if len(value) > min(limit, nameLimit) {
				r.Err = ErrTooLong
			} else if !null {
				id, hasID = value, true
			}
		case "retry":
			if value == "" || strings.Trim(value, "0123456789") != "" {
				return
			}
			r.Retry = maxRetry
			if digits := strings.TrimLeft(value, "0"); len(digits) < 11 {
				n := 0
				for _, c := range digits {
					n = n*10 + int(c-'0')
				}
				r.Retry = min(n, maxRetry)
			}
		}
	}
	pending := func() []event {
		if !hasData {
			return nil
		}
		return []event{{Type: kind, Data: strings.TrimSuffix(data, "\n"), ID: id, HasID: hasID}}
	}

	for _, line := range lines[:len(lines)-1] {
		if line != "" {
			if field(line); r.Err != nil {
				return r
			}
			continue
		}
		r.LastID = id
		r.Events = append(r.Events, pending()...)
		data, kind, hasData, hasID = "", "", false, false
	}
	if unfinished != "" {
		if field(unfinished); r.Err != nil {
			return r
		}
	}
	r.End = pending()
	return r
}
