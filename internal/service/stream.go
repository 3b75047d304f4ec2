package service

import (
	"errors"
	"net/http"
	"strconv"
	"time"
)

// flushAt bounds what one write of a long replay gathers, in bytes.
const flushAt = 32 << 10

// What ends a stream before its turn's end.
var (
	errBroken = errors.New("break the connection")
	errClose  = errors.New("end the stream")
	errStall  = errors.New("say nothing more")
)

// stream sends a turn's events until its end, its cancelling, or the client's leaving.
func (s *Service) stream(w http.ResponseWriter, r *http.Request, t *turn, f *faults, replay bool) {
	pos := 0
	// A replay that says something else starts anew: after an id it could not be told apart.
	if last, err := strconv.Atoi(r.Header.Get("Last-Event-ID")); err == nil && last > 0 && last <= t.length() &&
		!f.has(faultReplayAll) && !f.has(faultDiffer) && !f.has(faultResplit) {
		pos = last
	}
	// A stream that follows a running turn is closed the moment it is stopped; a later replay shows
	// all that there was.
	cut := t.cut
	if t.over() {
		cut = nil
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)

	out := newShaper(r.Context(), w, f, cut, s.closing)
	follow := &follower{service: s, turn: t, request: r, faults: f, out: out, pos: pos, cut: cut,
		frames: framer{f: f, n: pos, replay: replay}}
	err := out.flush()
	if err == nil {
		err = follow.run()
	}
	if err == nil || errors.Is(err, errClose) {
		err = out.end()
	}
	switch {
	case errors.Is(err, errBroken):
		breakOff(w)
	case errors.Is(err, errStall):
		select {
		case <-r.Context().Done():
		case <-s.closing:
		}
	}
}

// follower is one stream on a turn.
type follower struct {
	service *Service
	turn    *turn
	request *http.Request
	faults  *faults
	out     *shaper
	frames  framer
	pos     int
	sent    int
	cut     <-chan struct{}
	buffer  []byte
}

func (f *follower) run() error {
	if err := f.fault(); err != nil {
		return err
	}
	heartbeat := f.faults.durationOr(faultHeartbeat, f.service.cfg.Heartbeat)
	var silence <-chan time.Time
	if heartbeat > 0 {
		ticker := time.NewTicker(heartbeat)
		defer ticker.Stop()
		silence = ticker.C
		f.out.wrote = func() { ticker.Reset(heartbeat) }
	}
	for {
		events, over, changed := f.turn.since(f.pos)
		for _, e := range events {
			f.pos++
			if err := f.send(f.frames.reshape(e)); err != nil {
				return err
			}
		}
		if over {
			if err := f.send(f.frames.rest()); err != nil {
				return err
			}
			return f.flush()
		}
		if err := f.flush(); err != nil {
			return err
		}
		select {
		case <-changed:
		case <-silence:
			if err := f.out.write([]byte(": keep-alive\n\n")); err != nil {
				return err
			}
		case <-f.cut:
			return errClose
		case <-f.request.Context().Done():
			return f.request.Context().Err()
		case <-f.service.closing:
			return errClose
		}
	}
}

func (f *follower) send(events []Event) error {
	for _, e := range events {
		select {
		case <-f.cut:
			return errClose
		default:
		}
		f.buffer = f.frames.append(f.buffer, e)
		f.sent++
		if err := f.fault(); err != nil {
			return errors.Join(f.flush(), err)
		}
		if len(f.buffer) >= flushAt {
			if err := f.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *follower) flush() error {
	if len(f.buffer) == 0 {
		return nil
	}
	err := f.out.write(f.buffer)
	f.buffer = f.buffer[:0]
	return err
}

// fault tells what comes after the events sent so far.
func (f *follower) fault() error {
	switch f.sent {
	case f.faults.number(faultCutEvents):
		return errBroken
	case f.faults.number(faultCloseEvents):
		return errClose
	case f.faults.number(faultStallEvents):
		return errStall
	case f.faults.number(faultErrorEvents):
		// The turn that this request started has its error event in the log.
		if f.turn.failAfter != f.sent {
			f.buffer = f.frames.append(f.buffer, failureEvent(errFault))
			return errors.Join(f.flush(), errClose)
		}
	}
	return nil
}
