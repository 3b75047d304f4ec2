package heap

import (
	"flag"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	seeds = flag.Int("seeds", 60, "simulated programs, one a seed")
	seed  = flag.Uint64("seed", 0, "simulate the program of this seed alone")
)

// Where the memory of a simulated program has what, in bytes; the rest is the heap's.
const (
	layouts = 1 << 10
	globals = 2 << 10
	above   = globals + 40*4
)

// The layouts that TinyGo gives most.
const (
	none    = 1<<1 | 1
	pointer = 1<<6 | 1<<1 | 1
	unknown = 0
)

// object is what a program knows of one that it was given.
type object struct {
	at, size uint32
	words    []uint32 // what it wrote there
	mayPoint []bool   // by its layout; of which words that are not whole have no part
	cell     uint32   // how much it takes of the heap
}

// program is a mutator that knows what it may still reach, by what it wrote and not by what memory has.
type program struct {
	testing.TB
	rng       *rand.Rand
	h         *Heap
	memory    []uint64
	roots     [(above - globals) / 4]uint32
	constants [(above - globals) / 4]uint32 // what they begin as
	owners    []*object                     // of every 8 bytes that were given out and not found unreachable since
	objects   []*object                     // reachable at the last collection, or new
	large     bool                          // what it asks for is
	spoils    bool                          // after each collection
	loose     bool                          // words may also hold addresses of nothing, which keep what comes to lie there
}

// arena is the memory of one program after the other, cleared as far as the last one had it.
var (
	arena [32 << 20 / 8]uint64
	owned [len(arena)]*object
	used  *Heap
)

func newProgram(t testing.TB, seed uint64, limit uint32) *program {
	if used != nil {
		clear(arena[:used.end/8])
		clear(owned[:used.end/8])
	}
	p := &program{TB: t, rng: rand.New(rand.NewPCG(seed, 0)), memory: arena[:limit/8], owners: owned[:limit/8]}
	p.loose, p.large, p.spoils = seed%4 == 0, limit > 8<<20, seed%2 == 0
	p.h = &Heap{memory: memory{base: unsafe.Pointer(&p.memory[0]), from: globals, to: above, end: 1 << 16, limit: limit}}
	used = p.h
	for i := range p.constants {
		if p.rng.IntN(2) == 0 {
			p.constants[i] = p.number()
			p.setRoot(i, p.constants[i])
		}
	}
	for i := range uint32(8) {
		at := layouts + i*64
		*p.h.word(at) = 1 + p.rng.Uint32N(100)
		*p.h.word(at + 4) = p.rng.Uint32() | 1
		*p.h.word(at + 8) = p.rng.Uint32()
		*p.h.word(at + 12) = p.rng.Uint32()
		*p.h.word(at + 16) = p.rng.Uint32()
	}
	return p
}

func (p *program) size() uint32 {
	switch n := p.rng.Uint32N(100); {
	case p.large && n < 10:
		return p.rng.Uint32N(400_000)
	case n < 70:
		return p.rng.Uint32N(200)
	case n < 90:
		return p.rng.Uint32N(2100)
	case n < 97:
		return p.rng.Uint32N(5000)
	}
	return p.rng.Uint32N(60_000)
}

func (p *program) layout() uint32 {
	switch p.rng.Uint32N(8) {
	case 0, 1:
		return none
	case 2:
		return pointer
	case 3:
		return unknown
	case 4:
		return layouts + 64*p.rng.Uint32N(8)
	}
	size := 1 + p.rng.Uint32N(26)
	return p.rng.Uint32N(1<<size)<<6 | size<<1 | 1
}

// mayPoint is what a layout says of a word.
func (p *program) mayPoint(layout, word uint32) bool {
	switch {
	case layout == unknown:
		return true
	case layout&1 == 1:
		return layout>>6>>(word%(layout>>1&31))&1 == 1
	}
	k := word % *p.h.word(layout)
	return *p.h.word(layout + 4 + k/32*4)>>(k%32)&1 == 1
}

func (p *program) alloc(size, layout uint32) *object {
	o := &object{size: size, at: p.h.Alloc(size, layout), words: make([]uint32, size/4), mayPoint: make([]bool, size/4)}
	if o.at%16 != 0 || o.at < above || o.at+size > p.h.end {
		p.Fatalf("%d bytes at %d", size, o.at)
	}
	for _, b := range p.h.bytes(o.at, size) {
		if b != 0 {
			p.Fatal("not zero")
		}
	}
	for i := range o.words {
		o.mayPoint[i] = p.mayPoint(layout, uint32(i))
	}
	o.cell = cell(size, layout&1 == 0 || layout>>6 != 0)
	for at := o.at / 8; at*8 < o.at+max(size, 1); at++ {
		if p.owners[at] != nil {
			p.Fatal("given out twice")
		}
		p.owners[at] = o
	}
	p.objects = append(p.objects, o)
	for i := range min(len(o.words), 100) {
		if !o.mayPoint[i] {
			p.set(o, i, p.number())
		}
	}
	return o
}

// cell is how much of the heap an object takes.
func cell(size uint32, points bool) uint32 {
	if points {
		size += 4
	}
	if size > 2048 {
		if points {
			size -= 4
		}
		return (size + 4095) &^ 4095
	}
	for _, c := range []uint32{16, 32, 48, 64, 80, 96, 112, 128, 192, 256, 384, 512, 768, 1024, 1536} {
		if size <= c {
			return c
		}
	}
	return 2048
}

func (p *program) set(o *object, word int, value uint32) {
	o.words[word] = value
	*p.h.word(o.at + uint32(word)*4) = value
}

func (p *program) setRoot(i int, value uint32) {
	p.roots[i] = value
	*p.h.word(globals + uint32(i)*4) = value
}

// number is a number, which may be that of an address.
func (p *program) number() uint32 {
	if p.rng.IntN(2) == 0 {
		return p.rng.Uint32N(uint32(len(p.memory) * 8))
	}
	return p.rng.Uint32()
}

// address is one of an object, or of a place in it.
func (p *program) address() uint32 {
	if len(p.objects) == 0 || p.rng.IntN(10) == 0 {
		return 0
	}
	if p.loose && p.rng.IntN(10) == 0 {
		return p.number()
	}
	o := p.objects[p.rng.IntN(len(p.objects))]
	if p.rng.IntN(2) == 0 {
		return o.at
	}
	return o.at + p.rng.Uint32N(max(o.size, 1))
}

// reachable are the objects that the program's variables lead to.
func (p *program) reachable() map[*object]bool {
	found, todo := map[*object]bool{}, []*object(nil)
	reach := func(a uint32) {
		if a >= uint32(len(p.owners)*8) {
			return
		}
		if o := p.owners[a/8]; o != nil && !found[o] {
			found[o] = true
			todo = append(todo, o)
		}
	}
	for i, a := range p.roots {
		if a != p.constants[i] {
			reach(a)
		}
	}
	for len(todo) > 0 {
		o := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for i, a := range o.words {
			if o.mayPoint[i] {
				reach(a)
			}
		}
	}
	return found
}

// collect collects, and forgets what can't be reached any more: that may be given out again.
func (p *program) collect() {
	kept := p.reachable()
	p.h.Collect()
	if p.spoils {
		p.h.Spoil()
	}
	live := uint32(0)
	all := p.objects
	p.objects = p.objects[:0]
	for _, o := range all {
		if kept[o] {
			p.objects = append(p.objects, o)
			live += o.cell
			continue
		}
		for at := o.at / 8; at*8 < o.at+max(o.size, 1); at++ {
			p.owners[at] = nil
		}
	}
	if p.loose {
		require.GreaterOrEqual(p, p.h.live, live)
	} else {
		require.Equal(p, live, p.h.live, "what the collector found is what can be reached")
	}
	p.unchanged()
}

func (p *program) unchanged() {
	for _, o := range p.objects {
		for i, w := range o.words {
			if *p.h.word(o.at + uint32(i)*4) != w {
				p.Fatal("changed behind the program's back")
			}
		}
	}
}

// TestSimulation runs programs against a model of what they may still reach. A failure names its seed:
// go test ./jsbridge/heap -run Simulation -seed N runs that program alone.
func TestSimulation(t *testing.T) {
	from, to := uint64(1), uint64(*seeds)
	if *seed != 0 {
		from, to = *seed, *seed
	}
	for s := from; s <= to; s++ {
		failed := true
		func() {
			defer func() {
				if failed {
					t.Errorf("seed %d", s)
				}
			}()
			limit := uint32(2 << 20)
			if s%7 == 0 {
				limit = 32 << 20
			}
			p := newProgram(t, s, limit)
			often := 1 + p.rng.IntN(200)
			for range 100 + p.rng.IntN(900) {
				p.step(often)
			}
			p.collect()
			failed = false
		}()
	}
}

func (p *program) step(often int) {
	if p.h.Due() || p.rng.IntN(often) == 0 {
		p.collect()
	}
	switch n := p.rng.IntN(10); {
	case n < 5:
		p.setRoot(p.rng.IntN(len(p.roots)), p.alloc(p.size(), p.layout()).at)
	case n == 5:
		p.setRoot(p.rng.IntN(len(p.roots)), p.address())
	case len(p.objects) > 0:
		o := p.objects[p.rng.IntN(len(p.objects))]
		if len(o.words) == 0 {
			return
		}
		if i := p.rng.IntN(len(o.words)); o.mayPoint[i] {
			p.set(o, i, p.address())
		} else {
			p.set(o, i, p.number())
		}
	}
}

// TestSteadyLoad: a program that keeps no more than it did needs no more memory than it did, whatever the sizes are.
func TestSteadyLoad(t *testing.T) {
	p := newProgram(t, 1, 4<<20)
	var most uint32
	for i := range 30_000 {
		if p.h.Due() {
			p.h.Collect()
			most = max(most, p.h.live)
		}
		size := p.size()
		p.setRoot(p.rng.IntN(len(p.roots)), p.h.Alloc(size, []uint32{none, pointer}[i%2]))
	}
	t.Logf("%d KiB live at most, of %d", most>>10, p.h.end>>10)
	assert.Less(t, p.h.end, 3*most+2*least, "garbage and what can't be used is not more than what is live")
}

// TestDepth: a list as long as memory has room, and an array of as many objects, are kept and cost the stack of the search
// no more than a word an object.
func TestDepth(t *testing.T) {
	const n = 100_000
	shapes := map[string]func(p *program) func() (length int){
		"a list": func(p *program) func() int {
			for range n {
				a := p.h.Alloc(4, pointer)
				*p.h.word(a) = *p.h.word(globals)
				*p.h.word(globals) = a
			}
			return func() (length int) {
				for a := *p.h.word(globals); a != 0; a = *p.h.word(a) {
					length++
				}
				return length
			}
		},
		"an array": func(p *program) func() int {
			a := p.h.Alloc(4*n, pointer)
			*p.h.word(globals) = a + 2*n
			for i := range uint32(n) {
				o := p.h.Alloc(12, pointer)
				*p.h.word(a + 4*i), *p.h.word(o) = o, i
			}
			return func() (length int) {
				for i := range uint32(n) {
					if *p.h.word(*p.h.word(a + 4*i)) == i {
						length++
					}
				}
				return length
			}
		},
	}
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			p := newProgram(t, 1, 16<<20)
			length := shape(p)
			require.Equal(t, n, length())
			for range 3 {
				p.h.Collect()
				assert.GreaterOrEqual(t, p.h.live, uint32(16*n))
				for range n {
					p.h.Alloc(12, unknown)
				}
			}
			assert.Equal(t, n, length())
			*p.h.word(globals) = 0
			p.h.Collect()
			assert.Zero(t, p.h.live)
			taken := uint32(0)
			for i := range p.h.pages {
				if p.h.page(i).kind != free {
					taken++
				}
			}
			assert.LessOrEqual(t, taken<<pageBits, p.h.room*uint32(unsafe.Sizeof(page{}))+2*pageSize, "only the table is left, and the variables that began as numbers")
		})
	}
}

// TestHoles: where every other object of a page is live, the rest of it is given out again.
func TestHoles(t *testing.T) {
	const n = 10_000
	p := newProgram(t, 1, 4<<20)
	first := p.h.Alloc(12, pointer)
	*p.h.word(globals) = first
	last := first
	for range n {
		p.h.Alloc(12, pointer)
		a := p.h.Alloc(12, pointer)
		*p.h.word(last), last = a, a
	}
	p.h.Collect()
	require.Equal(t, uint32(16*(n+1)), p.h.live)
	for range n {
		assert.Less(t, p.h.Alloc(12, pointer), last)
	}
}

// TestBetweenCells: what follows the last cell of a page is no object.
func TestBetweenCells(t *testing.T) {
	p := newProgram(t, 1, 1<<20)
	a := p.h.Alloc(380, pointer)
	p.setRoot(0, a+379)
	p.h.Collect()
	require.Equal(t, uint32(384), p.h.live)
	p.setRoot(0, a|4095)
	p.h.Collect()
	assert.Zero(t, p.h.live)
}

// TestSpoil: what is free is written over, what is kept is not, and what is given out is zero all the same.
func TestSpoil(t *testing.T) {
	p := newProgram(t, 1, 1<<20)
	var lost []uint32
	for _, size := range []uint32{12, 380, 10_000} {
		for _, layout := range []uint32{none, pointer} {
			lost = append(lost, p.h.Alloc(size, layout))
		}
	}
	kept := p.h.Alloc(12, none) // in a page with one that is lost
	p.setRoot(0, kept)
	*p.h.word(kept) = 7
	p.h.Collect()
	for _, a := range lost {
		assert.Zero(t, *p.h.word(a), "Collect leaves what it takes back as it is")
	}
	p.h.Spoil()
	for _, a := range lost {
		assert.Equal(t, uint32(0xDBDBDBDB), *p.h.word(a))
	}
	assert.Equal(t, []uint32{7, 0, 0}, []uint32{*p.h.word(kept), *p.h.word(kept + 4), *p.h.word(kept + 8)})
	for _, size := range []uint32{12, 380, 10_000} {
		a := p.h.Alloc(size, none)
		assert.Contains(t, lost, a)
		assert.Equal(t, make([]byte, size), p.h.bytes(a, size))
	}
}

// TestOutOfMemory: a program that asks for more than there is, or for more than there can be, panics, and says why.
func TestOutOfMemory(t *testing.T) {
	for name, size := range map[string]uint32{"bit by bit": 1000, "at once": 3 << 20, "as much as there are addresses": 1<<32 - 1} {
		t.Run(name, func(t *testing.T) {
			p := newProgram(t, 1, 2<<20)
			assert.PanicsWithValue(t, "out of memory", func() {
				for {
					p.h.Alloc(size, none)
				}
			})
		})
	}
}

// TestDue: a collection is due after so much as the last one had to look at. What has no addresses is not looked at.
func TestDue(t *testing.T) {
	for name, c := range map[string]struct {
		layout uint32
		due    uint32 // how many KiB make one due
	}{
		"addresses": {pointer, 600},
		"text":      {none, 256},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProgram(t, 1, 4<<20)
			keep := p.h.Alloc(600<<10, c.layout)
			require.True(t, p.h.Due())
			p.setRoot(0, keep)
			p.h.Collect()
			p.h.Alloc((c.due-50)<<10, none)
			assert.False(t, p.h.Due())
			p.h.Alloc(100<<10, none)
			assert.True(t, p.h.Due())
		})
	}
}

// TestOwnNumbers: what the heap knows of itself, numbers of bytes among it, keeps nothing.
func TestOwnNumbers(t *testing.T) {
	p := newProgram(t, 1, 4<<20)
	own := uint32(unsafe.Sizeof(*p.h))
	p.h.mine = globals + 4
	p.h.to = p.h.mine + own + 4
	a := p.h.Alloc(100<<10, none)
	for at := p.h.mine; at < p.h.mine+own; at += 4 {
		*p.h.word(at) = a + at
	}
	p.h.Collect()
	assert.Zero(t, p.h.live)
	a = p.h.Alloc(100<<10, none)
	*p.h.word(p.h.mine + own) = a
	p.h.Collect()
	assert.Equal(t, uint32(100<<10), p.h.live, "the variable behind them counts")
}
