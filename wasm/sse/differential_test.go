//go:build !js

package sse

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// script runs npm eventsource-parser; its first lines say how it is spoken to.
const script = "bench/differential/parse.mjs"

// dispatched is an event as eventsource-parser gives it: text, and no id but the event's own.
type dispatched struct {
	Chunk int     `json:"chunk"`
	ID    *string `json:"id"`
	Event *string `json:"event"`
	Data  string  `json:"data"`
}

type verdict struct {
	Events []dispatched `json:"events"`
	End    []dispatched `json:"end"`
	LastID string       `json:"lastId"`
	Retry  float64      `json:"retry"`
	tooBig bool
}

func (v verdict) equal(w verdict) bool {
	a, _ := json.Marshal(v)
	b, _ := json.Marshal(w)
	return bytes.Equal(a, b)
}

// rule is a known difference. Its apply changes the stream that we parse, or their verdict, to what would be
// the same without it.
type rule struct {
	name, why string
	apply     func(s sample, ours verdict, theirs *verdict) sample
}

// mojibake is U+00EF U+00BB U+00BF: a BOM that was decoded as Latin-1 and encoded again.
const mojibake = "\u00EF\u00BB\u00BF"

var rules = []rule{
	{
		"second BOM", "its customary TextDecoder drops a BOM and the parser then drops another; the standard drops one",
		func(s sample, _ verdict, _ *verdict) sample {
			if s.decoderDropsBOM && bytes.HasPrefix(s.stream, []byte(byteOrderMark+byteOrderMark)) {
				return s.without(bomDone)
			}
			return s
		},
	},
	{
		"mojibake BOM", "it takes the characters U+00EF U+00BB U+00BF for a BOM, for bytes that were decoded as Latin-1; to the standard they begin a field's name",
		func(s sample, _ verdict, _ *verdict) sample {
			start := 0
			if s.decoderDropsBOM && bytes.HasPrefix(s.stream, []byte(byteOrderMark)) {
				start = bomDone
			}
			if !bytes.HasPrefix(s.stream[start:], []byte(mojibake)) {
				return s
			}
			// One BOM is left in its place, so that we drop no other.
			s = s.without(start + len(mojibake) - bomDone)
			s.stream = slices.Concat([]byte(byteOrderMark), s.stream[bomDone:])
			return s
		},
	},
	{
		"retry saturates", "it reports any number; ours ends at what a browser's timer takes",
		func(s sample, _ verdict, theirs *verdict) sample {
			theirs.Retry = min(theirs.Retry, maxRetry)
			return s
		},
	},
	{
		"long name", "it takes a type or an id of any length; ours refuses the stream over 64 KiB",
		func(s sample, ours verdict, theirs *verdict) sample {
			if ours.tooBig && len(s.stream) > nameLimit && len(theirs.Events) >= len(ours.Events) {
				*theirs = verdict{theirs.Events[:len(ours.Events)], ours.End, ours.LastID, ours.Retry, true}
			}
			return s
		},
	},
}

func TestAgainstEventsourceParser(t *testing.T) {
	const samples = 5000
	all := make([]sample, samples)
	for seed := range all {
		all[seed] = newSample(uint64(seed))
	}
	theirs := askEventsourceParser(t, all)

	tally := map[string]int{}
	for seed, s := range all {
		ours, theirs := s.parse(), theirs[seed]
		for _, r := range rules {
			if ours.equal(theirs) {
				break
			}
			before := theirs
			changed := r.apply(s, ours, &theirs)
			if !bytes.Equal(changed.stream, s.stream) || !before.equal(theirs) {
				tally[r.name]++
				s, ours = changed, changed.parse()
			}
		}
		if !ours.equal(theirs) {
			require.Equal(t, theirs, ours, "seed %d differs and no rule explains it", seed)
		}
	}
	t.Logf("%d streams; differences:", samples)
	for _, r := range rules {
		t.Logf("%5d  %s: %s", tally[r.name], r.name, r.why)
		require.Positive(t, tally[r.name], "no stream shows %q: the rule explains nothing", r.name)
	}
}

func askEventsourceParser(t *testing.T, all []sample) []verdict {
	t.Helper()
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	_, err = os.Stat(filepath.Join(root, "node_modules", "eventsource-parser"))
	require.NoError(t, err, "npm packages are missing: run `npm ci` in %s", root)

	var in []byte
	number := func(n int) { in = binary.LittleEndian.AppendUint32(in, uint32(n)) }
	for _, s := range all {
		number(boolean(s.decoderDropsBOM))
		chunks := s.chunks()
		number(len(chunks))
		for _, chunk := range chunks {
			number(len(chunk))
			in = append(in, chunk...)
		}
	}
	cmd := exec.Command("node", filepath.FromSlash(script))
	cmd.Dir, cmd.Stdin, cmd.Stderr = root, bytes.NewReader(in), os.Stderr
	out, err := cmd.Output()
	require.NoError(t, err, "node %s", script)

	verdicts := make([]verdict, len(all))
	decoder := json.NewDecoder(bytes.NewReader(out))
	for i := range verdicts {
		require.NoError(t, decoder.Decode(&verdicts[i]))
	}
	return verdicts
}

// sample is a stream and where it is cut.
type sample struct {
	stream          []byte
	cuts            []int
	decoderDropsBOM bool
}

func (s sample) chunks() (chunks [][]byte) {
	from := 0
	for _, cut := range append(slices.Clone(s.cuts), len(s.stream)) {
		chunks = append(chunks, s.stream[from:cut])
		from = cut
	}
	return chunks
}

// without returns s less its first n bytes, the chunks keeping their numbers.
func (s sample) without(n int) sample {
	s.stream, s.cuts = s.stream[n:], slices.Clone(s.cuts)
	for i := range s.cuts {
		s.cuts[i] = max(s.cuts[i]-n, 0)
	}
	return s
}

func (s sample) parse() verdict {
	var p Parser
	v := verdict{Events: []dispatched{}, End: []dispatched{}, Retry: -1}
	seen := func(chunk int, e event) dispatched {
		d := dispatched{Chunk: chunk, Data: decodeUTF8(e.Data)}
		if e.HasID {
			id := decodeUTF8(e.ID)
			d.ID = &id
		}
		if e.Type != "" {
			kind := decodeUTF8(e.Type)
			d.Event = &kind
		}
		return d
	}
	for i, chunk := range s.chunks() {
		for _, e := range feed(&p, string(chunk)) {
			v.Events = append(v.Events, seen(i, e))
		}
	}
	if e, ok := p.End(); ok {
		v.End = append(v.End, seen(0, hold(e)))
	}
	v.LastID = decodeUTF8(string(p.LastEventID()))
	if ms, ok := p.Retry(); ok {
		v.Retry = float64(ms)
	}
	v.tooBig = p.Err() != nil
	return v
}

// decodeUTF8 decodes as TextDecoder does: U+FFFD for each maximal part of a sequence that is not UTF-8, where
// Go's conversions put one for each byte.
func decodeUTF8(s string) string {
	var out []rune
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 {
			// FullRune is false while some continuation would still make a rune of it.
			for n < len(s) && !utf8.FullRuneInString(s[:n+1]) {
				n++
			}
		}
		out = append(out, r)
		s = s[n:]
	}
	return string(out)
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}

// newSample makes the stream of a seed.
func newSample(seed uint64) sample {
	rng := rand.New(rand.NewPCG(seed, 3))
	oneOf := func(options ...string) string { return options[rng.IntN(len(options))] }
	chance := func(n int) bool { return rng.IntN(n) == 0 }

	ends := [][]string{{"\n"}, {"\r\n"}, {"\r"}, {"\n", "\n", "\r\n", "\r"}, {"\n", "\r"}}[rng.IntN(5)]
	text := func() string {
		var b []byte
		for range rng.IntN(6) {
			b = append(b, oneOf("a", " ", "  ", ":", "{\"x\":1}", "é", "…", "😀", "\t", "\x00", "\xFF", "\xE2\x82", "\xF0\x9F",
				"\xED\xA0\x80", "\xC0\x80", "\uFEFF", "\u2028", "0", "data:", "word")...)
		}
		if chance(150) {
			b = append(b, bytes.Repeat([]byte(oneOf("long ", "é", "x")), rng.IntN(20_000))...)
		}
		return string(b)
	}

	var b []byte
	if chance(3) {
		for range 1 + rng.IntN(2) {
			b = append(b, oneOf(byteOrderMark, byteOrderMark, mojibake, "\xEF\xBB", "\xEF", "ï", "ï»", "\uFEFF")...)
		}
	}
	for range rng.IntN(40) {
		switch rng.IntN(14) {
		case 0, 1, 2:
		case 3, 4, 5, 6:
			b = append(b, "data"+oneOf(":", ": ", "")+text()...)
		case 7:
			b = append(b, "event"+oneOf(":", ": ", "")+text()...)
		case 8:
			b = append(b, "id"+oneOf(":", ": ", "")+text()...)
		case 9:
			b = append(b, "retry"+oneOf(":", ": ")+oneOf("", "0", "1500", "007", "12x", "-1", "1.5", "٣", "2147483647", "2147483648", "99999999999999999999")...)
		case 10:
			b = append(b, ":"+text()...)
		case 11:
			b = append(b, oneOf("dat", "datax", "Data", " data", "eventt", "i", "idd", "retries", "data\x00", "\uFEFFdata", "x")+":"+text()...)
		case 12:
			b = append(b, oneOf("data", "event", "id", "retry", "da", "other", "\x00")...)
		case 13:
			b = append(b, text()...)
		}
		if chance(4000) {
			b = append(b, slices.Concat([]byte(ends[0]+oneOf("event:", "id:")), bytes.Repeat([]byte("x"), nameLimit+1))...)
		}
		b = append(b, ends[rng.IntN(len(ends))]...)
		if chance(8) {
			b = append(b, ends[0]+ends[0]...)
		}
	}
	if chance(3) {
		b = append(b, "data:"+text()...)
	}
	s := sample{stream: b, decoderDropsBOM: chance(2)}
	switch {
	case chance(4):
	case chance(3) && len(b) < 5000:
		s.cuts = everyByte(len(b))
	default:
		s.cuts = randomCuts(rng, len(b), 1+rng.IntN(1+len(b)/3))
	}
	return s
}
