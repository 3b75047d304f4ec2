package service

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

type status string

const (
	statusRunning     status = "running"
	statusCompleted   status = "completed"
	statusCancelled   status = "cancelled"
	statusFailed      status = "failed"
	statusInterrupted status = "interrupted"
)

var errTurnOver = errors.New("the turn is over")

// toolRun is one tool that ran.
type toolRun struct {
	CallID string `json:"call_id"`
	Name   string `json:"name"`
}

// turn is the event log of one turn. One goroutine appends to it, any number of streams follow it.
type turn struct {
	id, chatID, key, digest, model string
	created                        time.Time
	temporary                      bool
	// pace is the time between events; failAfter fails the turn after so many events, unless negative.
	pace      time.Duration
	failAfter int

	ctx    context.Context
	cancel context.CancelFunc
	// cut is closed when the turn is stopped from outside: its streams close at once.
	cut chan struct{}
	// done is closed when nothing of the turn runs any more.
	done chan struct{}

	mu sync.Mutex
	// decided is set once the end is settled, before it is recorded and shown.
	decided status
	shown   status
	events  []Event
	bytes   int
	saved   int
	tools   []toolRun
	spent   *Tokens // nil where the agent tells none
	changed chan struct{}
	aborts  int
}

func newTurn(m Message, key, digest string, created time.Time) *turn {
	t := &turn{
		id: m.TurnID, chatID: m.ChatID, key: key, digest: digest, model: m.Model, created: created,
		failAfter: -1,
		cut:       make(chan struct{}),
		done:      make(chan struct{}),
		changed:   make(chan struct{}),
		decided:   statusRunning,
		shown:     statusRunning,
	}
	t.ctx, t.cancel = context.WithCancel(context.Background())
	return t
}

// pastTurn is a turn read from the journal: over, with all its events.
func pastTurn(id, chatID, key, digest, model string, created time.Time, ended status, events []Event, tools []toolRun) *turn {
	t := newTurn(Message{TurnID: id, ChatID: chatID, Model: model}, key, digest, created)
	t.cancel()
	t.decided, t.shown = ended, ended
	t.events, t.saved, t.tools = events, len(events), tools
	for _, e := range events {
		t.bytes += len(e.Data)
	}
	close(t.done)
	return t
}

// over tells whether the end is shown: nothing of the turn acts any more, and another may start.
func (t *turn) over() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.shown != statusRunning
}

// stop settles the end of a running turn from outside; false where it was settled before.
func (t *turn) stop(as status) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.decided != statusRunning {
		return false
	}
	t.decided = as
	t.cancel()
	close(t.cut)
	return true
}

func (t *turn) abort() bool {
	t.mu.Lock()
	t.aborts++
	t.mu.Unlock()
	return t.stop(statusCancelled)
}

// settle takes the producer's own verdict, unless the turn was stopped before, and returns what holds.
func (t *turn) settle(as status) status {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.decided == statusRunning {
		t.decided = as
	}
	return t.decided
}

// add appends one event of a turn that goes on.
func (t *turn) add(e Event) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.decided != statusRunning {
		return errTurnOver
	}
	t.push(e)
	return nil
}

func (t *turn) push(e Event) {
	t.events = append(t.events, e)
	t.bytes += len(e.Data)
	t.wake()
}

func (t *turn) wake() {
	close(t.changed)
	t.changed = make(chan struct{})
}

// show publishes the end, with its event where it has one.
func (t *turn) show(ended status, last ...Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.shown = ended
	for _, e := range last {
		t.push(e)
	}
	t.wake()
}

// since returns the events after the first n, whether the turn is over with them, and a channel that
// is closed at the next change.
func (t *turn) since(n int) (events []Event, over bool, changed <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.events[n:len(t.events):len(t.events)], t.shown != statusRunning, t.changed
}

func (t *turn) length() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.events)
}

// unsaved returns the events that the journal does not hold yet and counts them as saved.
func (t *turn) unsaved() (first int, events []Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	first, events = t.saved, t.events[t.saved:len(t.events):len(t.events)]
	t.saved = len(t.events)
	return first, events
}

func (t *turn) ran(tool toolRun) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.decided != statusRunning {
		return errTurnOver
	}
	t.tools = append(t.tools, tool)
	return nil
}

// answer is the beginning of the text that the turn gave.
func (t *turn) answer() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var b strings.Builder
	for _, e := range t.events {
		var data struct {
			Chunk string `json:"chunk"`
		}
		if e.Kind != TextDelta || json.Unmarshal(e.Data, &data) != nil {
			continue
		}
		b.WriteString(data.Chunk)
		if b.Len() > keptRunes*utf8.UTFMax {
			break
		}
	}
	return beginning(b.String())
}

func (t *turn) spend(more Tokens) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.spent == nil {
		t.spent = &Tokens{}
	}
	t.spent.Input += more.Input
	t.spent.Output += more.Output
	t.spent.Reasoning += more.Reasoning
}

// usage is what the turn took, as turn_complete tells it.
func (t *turn) usage() map[string]int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	usage := map[string]int64{"events": int64(len(t.events)) + 1, "tool_calls": int64(len(t.tools))}
	if t.spent != nil {
		usage["input_tokens"], usage["output_tokens"] = t.spent.Input, t.spent.Output
		if t.spent.Reasoning > 0 {
			usage["reasoning_tokens"] = t.spent.Reasoning
		}
	}
	return usage
}

func (t *turn) toolRuns() []toolRun {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.tools)
}
