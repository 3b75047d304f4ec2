package proxy

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"sync"
)

// lines hold what must be known of a chat so that an abort for a caller who has left stops his turn, and none that came
// after it: the abort names a chat, not a turn.
type lines struct {
	mu    sync.Mutex
	chats map[string]*line
}

type line struct {
	// turns counts those under way; newest is the last that began.
	turns, newest int
	// stopped is the turn that an abort of the caller's own came for.
	stopped int
	// aborting is closed when the abort under way is answered.
	aborting chan struct{}
}

// begin registers a turn, once no abort is under way that could stop it.
func (l *lines) begin(ctx context.Context, chat string) (turn int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		of := l.chats[chat]
		if of == nil {
			of = &line{}
			l.chats[chat] = of
		}
		if of.aborting == nil {
			of.turns++
			of.newest++
			return of.newest, nil
		}
		waiting := of.aborting
		l.mu.Unlock()
		select {
		case <-waiting:
		case <-ctx.Done():
		}
		l.mu.Lock()
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
	}
}

// stopped notes that the caller has ended what is under way himself.
func (l *lines) stopped(chat string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if of := l.chats[chat]; of != nil {
		of.stopped = of.newest
	}
}

// end lets go of a turn. Where its caller has left it, and it is the newest and was not stopped, it tells that an abort is
// due: then the chat's next message waits until aborted is called.
func (l *lines) end(chat string, turn int, left bool) (aborted func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	of := l.chats[chat]
	of.turns--
	defer l.tidy(chat, of)
	if !left || turn != of.newest || turn == of.stopped || of.aborting != nil {
		return nil
	}
	done := make(chan struct{})
	of.aborting = done
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		of.aborting = nil
		close(done)
		l.tidy(chat, of)
	}
}

func (l *lines) tidy(chat string, of *line) {
	if of.turns == 0 && of.aborting == nil {
		delete(l.chats, chat)
	}
}

// abort tells the service to stop what a chat is producing, for a caller who is gone.
func (p *Proxy) abort(x *exchange) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(x.ctx), p.cfg.AnswerTimeout)
	defer cancel()
	address := abortRoute.target(p.base, x.id)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address.String(), nil)
	if err == nil {
		request.Header.Set("Authorization", "Bearer "+p.cfg.Key)
		var res *http.Response
		if res, err = p.cfg.Transport.RoundTrip(request); err == nil {
			err = res.Body.Close()
			if err == nil && res.StatusCode/100 != 2 {
				err = upstreamFault("abort_refused", res.Status, nil)
			}
		}
	}
	if err != nil {
		p.cfg.Log.WarnContext(ctx, "abort failed", "chat", x.id, "request_id", x.requestID, "error", p.hide(err))
		return
	}
	p.cfg.Log.InfoContext(ctx, "aborted", "chat", x.id, "request_id", x.requestID, "caller", x.caller)
}

// ending watches a stream for the event that ends its turn (docs/service-interface.md, "The end of a turn"): who leaves
// after it has left nothing.
type ending struct {
	line []byte
	// skipping says that the line is longer than any that ends a turn.
	skipping bool
	seen     bool
}

// maxEnding bounds the line that is kept, in bytes. The end of a turn whose event is longer is not seen.
const maxEnding = 64 << 10

func (e *ending) feed(chunk []byte) {
	for len(chunk) > 0 && !e.seen {
		at := bytes.IndexAny(chunk, "\r\n")
		piece := chunk
		if at >= 0 {
			piece = chunk[:at]
		}
		if len(e.line)+len(piece) > maxEnding {
			e.skipping = true
		}
		if !e.skipping {
			e.line = append(e.line, piece...)
		}
		if at < 0 {
			return
		}
		if !e.skipping {
			e.seen = ends(e.line)
		}
		e.line, e.skipping = e.line[:0], false
		chunk = chunk[at+1:]
	}
}

// ends tells whether a line names the kind of event that ends a turn.
func ends(line []byte) bool {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch {
	case !bytes.Contains(value, []byte("turn_complete")) && !bytes.Contains(value, []byte("error")):
		return false
	case string(name) == "event":
		return string(value) == "turn_complete" || string(value) == "error"
	case string(name) != "data":
		return false
	}
	var event struct{ Type string }
	return json.Unmarshal(value, &event) == nil && (event.Type == "turn_complete" || event.Type == "error")
}
