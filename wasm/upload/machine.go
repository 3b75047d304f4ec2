package upload

import (
	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/seed-76f09577/turnwire/wasm/retry"
)

// Machine is one upload. Its methods must not be called concurrently. The time that each takes is Unix time in
// milliseconds off a clock that does not jump (performance.timeOrigin + performance.now()): addresses expire by it.
//
// Start or Restored comes first, once; before it Offline, where there is no network.
//
//	Ask     → Answered, once, unless DropAsk comes first.
//	Store   → StoreBegun, StoreProgress and StoreAlive as often as there is something to tell, then StoreAnswered or
//	          StoreFailed, once; unless CancelStore comes first.
//	Hash    → Hashed, once. While the data is read for it or for a Store, DataMoved tells that bytes came, and DataFailed that
//	          they can't be had.
//	Release, Report, Save, Forget, Status  → nothing.
//	Finish  is the end, and the last effect.
//
// Pause, Resume, Offline, Online and Abort may come at any time.
//
// Pausing cancels the blocks under way, because who pauses wants the network; what the store has not acknowledged of
// them is sent again. A block whose last byte has left and any other request are finished, because their effect could
// not be taken back. Offline cancels nothing; what fails meanwhile costs no try.
type Machine struct {
	retry.Effects
	config      Config
	serviceHost string
	now         int64
	step        step
	transfer    transfer

	protocol protocol // none until step 1 is done

	asking     purpose
	failures   []Untold // of which the service has to be told
	untold     []Untold // of which it could not be told
	report     report
	reported   bool  // the service knows that the bytes are stored
	keep       bool  // the record outlives the upload
	generation int   // of the address
	expiresAt  int64 // when the address should be renewed; 0 for never
	renewing   bool
	refused    *api.Error // why
	renewals   int        // since the last progress
	worked     bool       // the store has taken something from this page
	restarts   int
	continued  bool // what the store has should be asked before anything is sent

	paused     bool
	offline    bool
	offlineDue int64

	flights []*flight
	waiting []*lane // to be tried (again)
	next    int     // the lanes from there on were never begun
	low     int     // the lanes before are stored
	lastID  int

	sum      sum
	dataAt   int64 // when the data last gave something, or began to be waited for
	progress meter
	wait     *Wait
	waitDue  int64
	timer    int64 // when the timer that is set comes; 0 for none
	save     bool
	released int64
	outcome  Outcome
}

// New makes an upload; Start or Restored begins it.
func New(config Config) *Machine {
	if config.Concurrency <= 0 {
		config.Concurrency = DefaultConcurrency
	}
	config.Concurrency = min(config.Concurrency, mostConcurrency)
	if config.BlockTries <= 0 {
		config.BlockTries = DefaultBlockTries
	}
	m := &Machine{config: config, serviceHost: host(config.Service)}
	m.transfer = transfer{ticket: &api.Ticket{}, name: config.Name, contentType: config.ContentType, size: config.Size, wanted: config.BlockSize,
		concurrency: config.Concurrency, once: config.Once}
	m.progress.stage = Preparing
	if config.Checksum == ChecksumKnown || config.Checksum == ChecksumDuring && config.KnownSum != "" {
		m.sum.value = m.encode(config.KnownSum)
	}
	return m
}

// FileID is the file's identifier, "" until step 1 is done.
func (m *Machine) FileID() string { return m.transfer.ticket.FileID }

// Protocol is the name of the protocol, "" until step 1 is done.
func (m *Machine) Protocol() string { return m.protocol.name }

// Start begins a new upload.
func (m *Machine) Start(now int64) {
	if m.step != idle {
		return
	}
	m.now = now
	m.step = registering
	if m.config.Checksum == ChecksumBefore {
		m.step = summingFirst
		if m.config.Once {
			m.fail(&api.Error{Kind: api.KindClient, Code: "checksum_before_stream",
				Message: `option checksum: "before" needs data that can be read twice, and a stream can't`})
		}
	}
	m.proceed()
}

// Pause stops sending until Resume.
func (m *Machine) Pause(now int64) {
	if m.paused || m.step >= closing {
		return
	}
	m.now, m.paused = now, true
	for i := 0; i < len(m.flights); {
		if f := m.flights[i]; f.request.carries() && f.sending() {
			m.letGo(i)
			f.lane.unsure = true
			m.enqueue(f.lane, 0)
			continue
		} else if f.request.carries() {
			f.spared, f.moved = true, now
		}
		i++
	}
	m.proceed()
}

// Resume goes on after Pause.
func (m *Machine) Resume(now int64) {
	if m.paused {
		m.now, m.paused, m.dataAt = now, false, now
		m.proceed()
	}
}

// Offline tells that the browser knows of no network.
func (m *Machine) Offline(now int64) {
	m.now = now
	m.lostNetwork()
	if m.wait != nil {
		m.wait.Offline(now)
	}
	m.proceed()
}

// recheck is when the browser is no longer believed that there is no network: some say so wrongly.
const recheck = 60_000

func (m *Machine) lostNetwork() {
	m.offline, m.offlineDue = true, m.now+recheck
}

func (m *Machine) foundNetwork() {
	m.offline = false
	if m.wait != nil {
		m.wait.Online(m.now)
		m.waited()
	}
}

// Online tells that the browser has a network again.
func (m *Machine) Online(now int64) {
	m.now = now
	m.foundNetwork()
	m.proceed()
}

// Abort stops the upload and tells the service. An address that is being asked for is waited for: the service may
// have registered a file that nobody would ever hear of. So is a report under way, which another must not cross: it
// comes too late then.
func (m *Machine) Abort(now int64) {
	m.now = now
	if m.step == reporting && m.asking != nobody {
		m.report.last = true
		return
	}
	m.close(Aborted, nil)
	m.proceed()
}

// DataFailed tells that bytes from at on can't be read, or are not those that were there at the beginning.
func (m *Machine) DataFailed(now int64, at int64, detail string) {
	m.now = now
	if m.step >= reporting {
		return // nothing of it is needed any more
	}
	err := failure("data_unreadable", "the data can't be read: was the file changed or removed since it was chosen?")
	if detail != "" {
		err.Message += " (" + detail + ")"
	}
	if m.transfer.block > 0 {
		err.Block, err.HasBlock = at/m.transfer.block, true
	}
	m.fail(err)
	m.proceed()
}

// TimerFired tells that the timer set last is due.
func (m *Machine) TimerFired(now int64) {
	due := m.timer
	m.now, m.timer = now, 0
	if m.step == over {
		return
	}
	if m.offline && m.offlineDue <= now {
		m.foundNetwork()
	}
	m.checkStalls(due)
	m.checkData(due)
	if m.step == processing && m.waitDue != 0 && m.waitDue <= now {
		m.waitDue = 0
		m.wait.TimerFired(now)
		m.waited()
	}
	m.proceed()
}

// resting reports whether nothing new is to be begun.
func (m *Machine) resting() bool { return m.paused || m.offline }
