package upload

import (
	"math/rand/v2"
	"sort"
	"testing"

	"github.com/seed-76f09577/turnwire/wasm/retry"
)

const serviceAddress = "https://service.test"

// The sizes of blocks that a simulation chooses from, how much faster its network is and how many fewer uploads it has.
// Large blocks lie about what numbers of 32 bits hold, so that every place and length past the first of them is beyond.
var (
	usual = scale{[]int64{0, 1 << 10, 256 * kib, 5 * mib, 8 * mib, 3_000_001}, 1, 1}
	large = scale{[]int64{1<<31 - 1, 1 << 31, 3_000_000_001, 1<<32 - 1, 1 << 32, 5 << 30}, 1_000, 10}
)

type scale struct {
	blocks []int64
	faster int64
	fewer  int
}

// newSim chooses an upload and its world by a seed.
func newSim(t *testing.T, seed uint64, scale scale) *sim {
	rng := rand.New(rand.NewPCG(seed, 7))
	s := &sim{t: t, seed: seed, scale: scale, flights: map[int]*simFlight{}, acked: map[string]bool{}}
	s.w = &world{rng: rng, now: 1_800_000_000_000}
	w := s.w
	s.room = roomOf(t, protocols[rng.IntN(len(protocols))])
	s.chance = []int{0, 60, 25, 12, 5}[rng.IntN(5)]
	s.connections = 1 + rng.IntN(8)
	block := scale.blocks[rng.IntN(len(scale.blocks))]
	real := block
	if real == 0 {
		real = 8 * mib
	}
	if s.room.block != nil {
		real = s.room.block(real)
	}
	size := []int64{0, 1, real - 1, real, real + 1, 2 * real, w.between(1, 12) * real, w.between(0, 12*real), w.between(10, 40)*real + 1}[rng.IntN(9)]
	sum := ""
	check := []Checksum{NoChecksum, ChecksumDuring, ChecksumDuring, ChecksumBefore, ChecksumKnown}[rng.IntN(5)]
	if check != NoChecksum {
		sum = simSum(size)
	}
	s.config = Config{
		WorkspaceID: "w", Name: "n", ContentType: "a/b", Size: size, BlockSize: block,
		Concurrency: rng.IntN(6), BlockTries: rng.IntN(6), BlockTimeout: []int64{60_000, 5_000}[rng.IntN(2)],
		DataTimeout: 30_000, ReportTimeout: []int64{0, 20_000, 300_000}[rng.IntN(3)],
		Checksum: check, Resumable: !w.one(3),
		Policy: &retry.Policy{MaxRetries: 2, Timeout: 60_000, Jitter: rng.Float64, Host: host(serviceAddress)},
	}
	s.config.Service = serviceAddress
	if check == ChecksumKnown || check == ChecksumDuring && w.one(4) {
		s.config.KnownSum = sum
	}
	if check != ChecksumBefore && w.one(4) {
		s.config.Once = true
	}
	if w.one(4) {
		s.source = []int64{10, 1_000, 25_000}[rng.IntN(3)]
	}
	if w.one(3) {
		s.config.Wait = &WaitConfig{Limit: []int64{0, 600_000, 8_000}[rng.IntN(3)]}
	}
	s.store = &store{w: w, fail: s.fail, size: size, hides: w.one(4), concat: w.one(2), objects: map[string]object{}}
	s.service = &service{w: w, store: s.store, fail: s.fail, room: s.room, sum: sum, before: check == ChecksumBefore || check == ChecksumKnown,
		renews: !w.one(3), moves: w.one(8), says: w.one(2), ends: "ready", files: map[string]*file{}}
	if w.one(3) && s.chance > 0 {
		w.faults++
		s.service.lifetime = w.between(15_000, 60_000)
	}
	if w.one(8) && s.chance > 0 {
		w.faults++
		s.service.ends = "processing_failed"
	}
	if s.service.moves {
		w.faults++
	}
	if s.config.Wait != nil && s.config.Wait.Limit == 8_000 { // shorter than some processing
		w.faults++
	}
	return s
}

// disturb plans what the user and the network do.
func (s *sim) disturb() {
	w := s.w
	if s.chance == 0 {
		return
	}
	at := func() int64 {
		return []int64{w.between(0, 500), w.between(0, 5_000), w.between(0, 60_000)}[w.rng.IntN(3)]
	}
	if w.one(4) {
		for range 1 + w.rng.IntN(3) {
			w.after(at(), func() { s.input("pause", func() { s.paused = true; s.m.Pause(w.now) }) })
			w.after(at()+500, func() { s.input("resume", func() { s.paused = false; s.m.Resume(w.now) }) })
		}
		w.after(70_000, func() { s.input("resume", func() { s.paused = false; s.m.Resume(w.now) }) })
	}
	if w.one(4) {
		start := at()
		w.after(start, s.goOffline)
		w.after(start+w.between(1, 100_000), func() {
			s.offline = false
			if !w.one(10) { // the browser forgets to say so
				s.input("online", func() { s.m.Online(w.now) })
			}
		})
	}
	if w.one(8) {
		w.after(at(), func() { s.input("abort", func() { s.asked = "abort"; s.m.Abort(w.now) }) })
	}
	if w.one(25) {
		w.after(at(), func() {
			s.input("data failed", func() { s.asked = "data"; s.m.DataFailed(w.now, w.between(0, s.config.Size), "gone") })
		})
	}
	if w.one(12) { // the machine sleeps
		w.after(at(), func() { w.faults++; w.now += w.between(1_000, 3_600_000); s.woke = w.now })
	}
	if s.config.Resumable && w.one(3) {
		for range 1 + w.rng.IntN(3) {
			w.after(at(), s.reload)
		}
	}
	if w.one(10) {
		w.after(at(), func() {
			for _, o := range s.store.objects {
				w.faults++
				o.lose()
			}
			w.log("the store loses what is not complete")
			clear(s.acked)
			s.lostAt = w.now
		})
	}
}

func (s *sim) goOffline() {
	s.w.faults++
	s.offline = true
	s.w.log("offline")
	for _, id := range s.ids() {
		f := s.flights[id]
		if s.w.one(2) { // the others stall
			s.w.after(0, func() { s.drop(id, f) })
		}
	}
	s.input("offline", func() { s.m.Offline(s.w.now) })
}

func (s *sim) ids() []int {
	var ids []int
	for id := range s.flights {
		ids = append(ids, id)
	}
	sort.Ints(ids)
	return ids
}
