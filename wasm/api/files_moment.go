package api

import "github.com/seed-76f09577/turnwire/wasm/json"

// moment reads a point in time as Unix milliseconds, 0 where the JSON value is none: a number of seconds or, from 10^11
// on, of milliseconds; such a number as a string; or an ISO 8601 date. What lies before 1973 is none: it is a number of
// something else.
func moment(value []byte) int64 {
	ms, ok := int64(0), false
	if json.IsString(value) {
		text := json.String(value)
		ms, ok = ParseDate(text)
		value = []byte(text)
	}
	if !ok {
		if ms, ok = json.Int(value); ms < 1e11 {
			ms *= 1000
		}
	}
	if !ok || ms < 1e11 || ms > 1e15 {
		return 0
	}
	return ms
}

// ParseDate reads an ISO 8601 date as Unix milliseconds: extended (2026-11-20T10:00:00.5+01:00) or basic
// (20261120T100000Z), the time of day, its seconds and the zone being optional. Without a zone it is UTC, as signed
// addresses mean it.
func ParseDate(s string) (ms int64, ok bool) {
	p := dateParser{s: s, ok: true}
	year := p.number(4)
	extended := p.skip('-')
	month := p.number(2)
	p.separator('-', extended)
	day := p.number(2)
	var hour, minute, second, zone int64
	if p.skip('T') || p.skip('t') || p.skip(' ') {
		hour = p.number(2)
		p.separator(':', extended)
		minute = p.number(2)
		if p.skip(':') || p.digit() {
			second = p.number(2)
		}
		if p.skip('.') || p.skip(',') {
			ms = p.fraction()
		}
		zone = p.zone()
	}
	if !p.ok || p.s != "" || month < 1 || month > 12 || day < 1 || day > 31 || hour > 24 || minute > 59 || second > 60 {
		return 0, false
	}
	return ms + 1000*(86400*Days(year, month, day)+3600*hour+60*(minute-zone)+second), true
}

type dateParser struct {
	s  string
	ok bool
}

func (p *dateParser) digit() bool { return p.s != "" && p.s[0] >= '0' && p.s[0] <= '9' }

func (p *dateParser) skip(c byte) bool {
	if p.s == "" || p.s[0] != c {
		return false
	}
	p.s = p.s[1:]
	return true
}

func (p *dateParser) separator(c byte, wanted bool) {
	if wanted && !p.skip(c) {
		p.ok = false
	}
}

func (p *dateParser) number(n int) int64 {
	if len(p.s) < n {
		p.ok = false
		return 0
	}
	v, ok := Digits(p.s[:n])
	p.ok = p.ok && ok
	p.s = p.s[n:]
	return v
}

// fraction reads the digits after a second's point as milliseconds.
func (p *dateParser) fraction() (ms int64) {
	p.ok = p.ok && p.digit()
	for unit := int64(100); p.digit(); unit /= 10 {
		ms += unit * int64(p.s[0]-'0')
		p.s = p.s[1:]
	}
	return ms
}

// zone reads Z or an offset as minutes east of UTC.
func (p *dateParser) zone() int64 {
	sign := int64(1)
	switch {
	case p.s == "" || p.skip('Z') || p.skip('z'):
		return 0
	case p.skip('-'):
		sign = -1
	case !p.skip('+'):
		p.ok = false
		return 0
	}
	minutes := 60 * p.number(2)
	if p.skip(':') || p.digit() {
		minutes += p.number(2)
	}
	return sign * minutes
}
