package upload

import (
	"bytes"
	"flag"
	"fmt"
	"runtime"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/seed-76f09577/turnwire/wasm/retry"
)

var (
	simSeed    = flag.Int64("seed", -1, "replay the upload of this seed, with its trace")
	simUploads = flag.Int("uploads", 0, "uploads to simulate; 0: a number for every day")
	simFrom    = flag.Int64("from", 0, "seed of the first of them")
)

// TestSimulation runs uploads under seeds, with faults of every kind at random moments, and checks after every step
// what holds for every upload. -seed replays one.
func TestSimulation(t *testing.T) { simulate(t, usual) }

// TestLargeSimulation runs such uploads of up to 200 GiB.
func TestLargeSimulation(t *testing.T) { simulate(t, large) }

func simulate(t *testing.T, scale scale) {
	if *simSeed >= 0 {
		s := newSim(t, uint64(*simSeed), scale)
		defer func() { t.Log("\n" + strings.Join(s.w.trace, "\n")) }()
		s.run()
		return
	}
	n := 2_000
	if runtime.GOOS == "js" {
		n = 300
	}
	if *simUploads > 0 {
		n = *simUploads
	}
	n /= scale.fewer
	began := time.Now()
	ends := map[string]int{}
	for i := range n {
		s := newSim(t, uint64(*simFrom)+uint64(i), scale)
		s.run()
		ends[s.room.protocol.name+" "+s.end()]++
		if t.Failed() {
			return
		}
	}
	t.Logf("%d uploads, seeds from %d, %.0f a second", n, *simFrom, float64(n)/time.Since(began).Seconds())
	var lines []string
	for end, count := range ends {
		lines = append(lines, fmt.Sprintf("%6d %s", count, end))
	}
	sort.Strings(lines)
	t.Log("\n" + strings.Join(lines, "\n"))
}

// sim is one upload in its world: it drives the machine as the bridge does.
type sim struct {
	t       *testing.T
	seed    uint64
	scale   scale
	w       *world
	store   *store
	service *service
	room    *room
	config  Config
	chance  int // of a fault, one in so many; 0 for none
	m       *Machine
	page    int // how often the page was loaded
	record  []byte

	call       *retry.Call
	callID     int
	callTime   int
	flights    map[int]*simFlight
	timer      int
	hashing    bool
	hashed     int64
	released   int64
	outcome    *Outcome
	performing bool
	asked      string // what became of the upload by the user's hand
	offline    bool
	paused     bool
	loaded     int64
	shown      Progress
	shownAt    int64
	woke       int64 // after the machine slept
	reports    []int64
	lostAt     int64           // when the store lost what was not complete
	acked      map[string]bool // blocks that were acknowledged, by place

	// The browser has so many connections, of which so many are in use; what waits for one.
	connections, busy int
	queue             []func() (carried bool)
	source            int64 // ms that the data takes for some bytes, at the most
}

type simFlight struct {
	r       Request
	sent    int64
	carried bool // it has a connection
	over    bool
	at      int64 // when it was sent
}

func simSum(size int64) string { return fmt.Sprintf("%064x", size+1) }

func (s *sim) fail(why string) {
	s.t.Helper()
	if s.t.Failed() {
		return
	}
	if *simSeed >= 0 {
		s.w.log("FAILED: %s", why)
		s.t.Fail()
		return
	}
	s.t.Errorf("%s\nreplay: go test ./wasm/upload -run ^%s$ -seed=%d -v", why, s.t.Name(), s.seed)
}

func (s *sim) end() string {
	if s.outcome == nil {
		return "none"
	}
	if s.outcome.Err != nil {
		return string(s.outcome.Stage) + " " + s.outcome.Err.Code
	}
	return string(s.outcome.Stage)
}

func (s *sim) run() {
	s.w.log("%s %+v lifetime %d renews %t hides %t", s.room.protocol.name, s.config, s.service.lifetime, s.service.renews, s.store.hides)
	s.disturb()
	s.load()
	s.w.run(s.fail)
	if s.outcome == nil {
		s.fail("it hangs")
		return
	}
	s.checkEnd()
}

// load begins with a page, new or again.
func (s *sim) load() {
	s.page++
	policy := *s.config.Policy
	policy.Connections = retry.NewConnections(func() int64 { return s.w.now }, nil)
	s.config.Policy = &policy
	if s.config.Wait != nil {
		s.config.Wait.Policy = s.config.Policy
	}
	s.m = New(s.config)
	s.flights, s.hashing, s.hashed, s.released, s.loaded, s.shownAt, s.shown = map[int]*simFlight{}, false, 0, 0, 0, 0, Progress{}
	s.timer++
	s.callID++
	s.call, s.reports, s.paused = nil, nil, false
	s.input("load", func() {
		if s.offline {
			s.m.Offline(s.w.now)
		}
		if s.record != nil {
			s.m.Restored(s.w.now, s.record)
		} else {
			s.m.Start(s.w.now)
		}
	})
}

// reload lets the page go: what it had sent may still arrive.
func (s *sim) reload() {
	if s.outcome != nil {
		return
	}
	s.w.faults++
	s.w.log("reload with %s", s.record)
	for _, id := range s.ids() {
		s.abandon(s.flights[id])
	}
	s.load()
}

// input tells the machine something and performs what it asks for.
func (s *sim) input(name string, tell func()) {
	if s.outcome != nil || s.t.Failed() {
		return
	}
	if name != "" {
		s.w.log("%s", name)
	}
	tell()
	if s.performing {
		return // what it led to comes after the rest
	}
	s.performing = true
	for s.m.Wants() {
		for _, e := range s.m.Take() {
			if s.outcome != nil {
				s.fail(fmt.Sprintf("%T after the end", e))
				break
			}
			s.perform(e)
		}
	}
	s.performing = false
	if s.outcome != nil {
		if len(s.flights) > 0 || s.call != nil {
			s.fail("something is under way at the end")
		}
		return
	}
	if s.m.step == reporting && s.m.FileID() != "" {
		s.service.files[s.m.FileID()].stored = true
	}
	limit := s.config.Concurrency
	if limit == 0 {
		limit = 4
	}
	sending := 0
	for _, f := range s.flights {
		if f.sent < f.r.To-f.r.From || f.r.To == f.r.From {
			sending++
		}
	}
	if sending > limit || len(s.flights) > limit+limit/2 {
		s.fail("too many requests at once")
	}
	if p := s.m.Progress(); p.LoadedBytes != s.shown.LoadedBytes && s.w.now-max(s.shownAt, s.woke) > 100 {
		s.fail(fmt.Sprintf("progress waits since %d ms", s.w.now-s.shownAt))
	}
}

func (s *sim) perform(e retry.Effect) {
	switch e := e.(type) {
	case Ask:
		if s.call != nil {
			s.fail("two calls at once")
		}
		s.callID++
		s.call = retry.NewCall(e.Request, e.Policy)
		s.checkReport(e)
		s.call.Start()
		s.performCall(s.callID)
	case DropAsk:
		s.callID++
		s.call = nil
	case Store:
		s.send(e)
	case CancelStore:
		f := s.flights[e.ID]
		if f == nil {
			s.fail("cancels what is not under way")
			return
		}
		if s.chance == 0 {
			s.fail("cancels what nothing disturbs")
		}
		s.abandon(f)
		delete(s.flights, e.ID)
	case Hash:
		s.hash(e)
	case Release:
		if e.Before <= s.released || !s.config.Once {
			s.fail("released twice")
		}
		s.released = e.Before
	case Report:
		s.report(e.Progress)
	case Save:
		s.record = e.Record
		if s.record == nil {
			s.record = s.m.Record()
		}
		s.record = bytes.Clone(s.record)
	case Forget:
		s.record = nil
	case retry.SetTimer:
		s.timer++
		this := s.timer
		s.w.after(e.After+s.w.between(0, 3), func() {
			if this == s.timer {
				s.input("timer", func() { s.m.TimerFired(s.w.now) })
			}
		})
	case retry.StopTimer:
		s.timer++
	case Finish:
		s.outcome = &e.Outcome
		s.w.log("finish %s", s.end())
	case Status, retry.Log:
	default:
		s.fail(fmt.Sprintf("unknown effect %T", e))
	}
}

func (s *sim) hash(e Hash) {
	switch {
	case s.hashing:
		s.fail("hashes twice at once")
	case e.From != 0 && e.State == "" && e.From != s.hashed, e.State != "" && e.State != fmt.Sprint(e.From):
		s.fail(fmt.Sprintf("hashes from %d with %q after %d", e.From, e.State, s.hashed))
	case e.Last != (e.To == s.config.Size), s.config.Once && e.From < s.released:
		s.fail(fmt.Sprintf("hashes %+v", e))
	}
	s.hashing = true
	page := s.page
	s.read(e.To > e.From, func() bool { return true }, func() { s.sum(e, page) })
}

func (s *sim) sum(e Hash, page int) {
	s.w.after(1+(e.To-e.From)/s.scale.faster/100_000, func() {
		if page != s.page {
			return
		}
		s.hashing, s.hashed = false, e.To
		h := HashState{At: e.To, State: fmt.Sprint(e.To)}
		if e.Last {
			h.Sum = simSum(e.To)
		}
		s.input("", func() { s.m.Hashed(s.w.now, h) })
	})
}
