package upload

import (
	"strconv"

	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/seed-76f09577/turnwire/wasm/retry"
)

// judge does what the verdict on an answer asks for.
func (m *Machine) judge(f *flight, v verdict, a *Answer) {
	l := f.lane
	switch v.outcome {
	case onward:
		m.moved(f)
	case again:
		after, named := retry.After(a.get("retry-after"), m.now)
		m.retry(l, v.err, after, named)
	case expired:
		m.refuse(f, v.err)
	case gone:
		m.restart(l, v.err)
	case failed:
		m.blame(l, v.err)
	}
}

// moved goes on with a lane after an answer that was understood.
func (m *Machine) moved(f *flight) {
	l := f.lane
	m.save, m.worked = true, true
	if l.done || l.at > l.best {
		l.best, l.tries, m.renewals = max(l.best, l.at), 0, 0
	} else if f.request.carries() {
		m.retry(l, passing("storage_unavailable", "the storage accepted a block and kept nothing of it"), 0, false)
		return
	}
	if !l.done {
		m.enqueue(l, 0)
	}
}

const retryAfterMost = 60_000

// retry waits and tries once more, or gives up with err. after is the wait in ms that the store named, where it named one.
func (m *Machine) retry(l *lane, err *api.Error, after int64, named bool) {
	l.unsure = true
	if m.offline {
		m.enqueue(l, 0)
		return
	}
	l.tries++
	giveUp := l.tries >= m.config.BlockTries || named && after > retryAfterMost
	if giveUp && l.role == survey {
		m.plan() // its answer is welcome, not needed
		return
	}
	if giveUp {
		err.RetryAfter, err.HasRetry = after, named
		m.blame(l, err)
		return
	}
	if !named {
		after = retry.Backoff(l.tries-1, m.config.Policy.Jitter())
	}
	m.log("warn", "trying a block again", err,
		retry.Field{Name: "block", Value: m.blockOf(l)}, retry.Field{Name: "attempt", Value: int64(l.tries)}, retry.Field{Name: "waitMs", Value: after})
	m.enqueue(l, m.now+after)
}

// blockOf is the index of the block that a lane is at, -1 of a survey and of a commit.
func (m *Machine) blockOf(l *lane) int64 {
	if l.role != data {
		return -1
	}
	return min(l.at/m.transfer.block, m.transfer.blocks()-1)
}

// blame fails the upload for one lane.
func (m *Machine) blame(l *lane, err *api.Error) {
	if l.role == data {
		err.Block, err.HasBlock = m.blockOf(l), true
		err.Message += " (block " + strconv.FormatInt(err.Block, 10) + " of " + strconv.FormatInt(m.transfer.blocks(), 10) + ")"
	}
	m.fail(err)
}

const (
	mostRenewals = 2 // without progress
	mostRestarts = 2
)

// refuse asks the service for a new address, because the store does not accept this one. Where several blocks are refused
// together, only the first asks.
func (m *Machine) refuse(f *flight, err *api.Error) {
	if f.generation == m.generation {
		if m.renewals >= mostRenewals {
			err.Message += "; a new address from the service did not help"
			m.blame(f.lane, err)
			return
		}
		m.renewing, m.refused = true, err
	}
	m.enqueue(f.lane, 0)
}

// restart sends a lane from its beginning again, because the store has nothing of it any more; after a commit, all lanes.
func (m *Machine) restart(l *lane, err *api.Error) {
	m.restarts++
	if m.restarts > mostRestarts || m.config.Once {
		m.blame(l, err)
		return
	}
	m.log("warn", "beginning anew", err)
	m.save = true
	if l.role == data {
		m.transfer.reset(l)
		m.enqueue(l, 0)
		return
	}
	m.restartAll()
}

// restartAll begins every lane anew; where the store can tell what it has, it is asked first.
func (m *Machine) restartAll() {
	for len(m.flights) > 0 {
		m.letGo(0)
	}
	m.waiting = nil
	for _, l := range m.transfer.lanes {
		m.transfer.reset(l)
		l.tries, l.due = 0, 0
	}
	m.continued, m.save = true, true
	m.step = surveying
}
