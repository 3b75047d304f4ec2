package service

import (
	"context"
	"net/http"
	"time"
)

// writeWithin is how long one write may take: a client that reads nothing is let go.
const writeWithin = 2 * time.Minute

// pieces are the sizes of slow_chunks, in turn; coprime ones cut events and characters everywhere.
var pieces = []int{1, 7, 3, 13, 5, 17, 2, 11}

// shaper writes the body of a stream as the faults of its request want it.
type shaper struct {
	w   http.ResponseWriter
	rc  *http.ResponseController
	ctx context.Context
	// cut and closing end the stream between two small writes.
	cut, closing <-chan struct{}
	slow         time.Duration // between small writes; negative is off
	size         func() int    // of the next piece; nil is everything
	hold         bool
	held         []byte
	left         int // bytes until the cut; negative is off
	// wrote is told of every write.
	wrote func()
}

func newShaper(ctx context.Context, w http.ResponseWriter, f *faults, cut, closing <-chan struct{}) *shaper {
	o := &shaper{w: w, rc: http.NewResponseController(w), ctx: ctx, cut: cut, closing: closing, hold: f.has(faultOneChunk),
		left: f.number(faultCutBytes), wrote: func() {}}
	o.slow = f.durationOr(faultSlowChunks, 0)
	switch {
	case f.has(faultByteByByte):
		o.size = func() int { return 1 }
	case f.has(faultSlowChunks):
		next := 0
		o.size = func() int { next++; return pieces[(next-1)%len(pieces)] }
	}
	return o
}

func (o *shaper) write(p []byte) error {
	if o.hold {
		o.held = append(o.held, p...)
		return nil
	}
	return o.send(p)
}

func (o *shaper) send(p []byte) error {
	cut := o.left >= 0 && len(p) >= o.left
	if cut {
		p = p[:o.left]
	}
	if o.left >= 0 {
		o.left -= len(p)
	}
	for len(p) > 0 {
		n := len(p)
		if o.size != nil {
			n = min(n, o.size())
		}
		if _, err := o.w.Write(p[:n]); err != nil {
			return err
		}
		if err := o.flush(); err != nil {
			return err
		}
		p = p[n:]
		if err := o.pause(); err != nil {
			return err
		}
	}
	if cut {
		return errBroken
	}
	return nil
}

func (o *shaper) pause() error {
	if o.slow <= 0 {
		return nil
	}
	timer := time.NewTimer(o.slow)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-o.cut:
		return errClose
	case <-o.closing:
		return errClose
	case <-o.ctx.Done():
		return o.ctx.Err()
	}
}

func (o *shaper) flush() error {
	o.wrote()
	// Not every ResponseWriter has deadlines; the write itself is what matters.
	_ = o.rc.SetWriteDeadline(time.Now().Add(writeWithin))
	return o.rc.Flush()
}

// end writes what one_chunk held back.
func (o *shaper) end() error {
	if len(o.held) == 0 {
		return nil
	}
	return o.send(o.held)
}
