package upload

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/seed-76f09577/turnwire/wasm/retry"
)

// performCall carries the service call under way.
func (s *sim) performCall(id int) {
	if id != s.callID || s.call == nil {
		return
	}
	call := s.call
	effects := call.Take()
	tell := func(ms int64, do func()) {
		page := s.page
		s.w.after(ms, func() {
			if id == s.callID && page == s.page && s.outcome == nil {
				do()
				s.performCall(id)
			}
		})
	}
	for len(effects) > 0 {
		next := effects[0]
		effects = effects[1:]
		switch e := next.(type) {
		case retry.Send:
			s.callTime++
			call.Sent()
			effects = append(effects, call.Take()...)
			s.w.log("%s %s %s", e.Request.Method, e.Request.Path, e.Request.Body)
			lost := func() { call.RequestFailed("TypeError") }
			if s.offline || s.w.fault(s.chance) {
				tell(s.w.between(0, 50), lost)
				continue
			}
			status, body := 503, `{"error":"busy"}`
			switch {
			case s.w.fault(s.chance):
			case s.w.fault(4 * s.chance):
				status, body = 400, `{"error":"no"}`
			default:
				arrives := s.w.between(1, 200)
				if s.w.fault(s.chance) { // the service acts when nobody waits for it any more
					arrives = s.w.between(40_000, 150_000)
				}
				s.w.after(arrives, func() {
					status, body = s.service.handle(e.Request)
					s.w.log("service says %d %s", status, body)
					if s.w.fault(s.chance) {
						tell(5, lost)
						return
					}
					tell(s.w.between(1, 100), func() {
						s.hear(id, body)
						call.Headers(s.w.now, &api.Response{Status: status})
						call.Body(s.w.now, []byte(body))
					})
				})
				continue
			}
			tell(s.w.between(1, 300), func() {
				call.Headers(s.w.now, &api.Response{Status: status})
				call.Body(s.w.now, []byte(body))
			})
		case retry.SetTimer:
			s.callTime++
			this := s.callTime
			tell(e.After, func() {
				if this == s.callTime {
					call.TimerFired(s.w.now)
				}
			})
		case retry.StopTimer:
			s.callTime++
		case retry.Done:
			s.call = nil
			if id := strings.TrimPrefix(call.Request().Path, "/v1/files/"); strings.Contains(string(call.Request().Body), `"upload_failed"`) && (e.Err == nil || !e.Err.Retryable) {
				s.service.files[id].told = true
			}
			s.input("", func() { s.m.Answered(s.w.now, e) })
			return
		}
	}
}

// hear notes whose identifier the page knows now.
func (s *sim) hear(call int, body string) {
	if i := strings.Index(body, `"file_id":"`); i >= 0 && call == s.callID {
		id, _, _ := strings.Cut(body[i+len(`"file_id":"`):], `"`)
		if f := s.service.files[id]; f != nil {
			f.heard = true
		}
	}
}

// send carries a request to the store.
func (s *sim) send(e Store) {
	w, r := s.w, e.Request
	s.w.log("  #%d %s %s %d-%d %v %s", e.ID, r.Method, r.URL, r.From, r.To, r.Header, r.Body)
	s.checkSend(r)
	f := &simFlight{r: r, at: w.now}
	s.flights[e.ID] = f
	s.read(r.To > r.From, func() bool { return !f.over }, func() { s.begin(e.ID, f) })
}

// read lets the data give its bytes: mostly at once, from a slow source later than any limit on the store, but never
// silent for as long as the limit on the data.
func (s *sim) read(carries bool, wanted func() bool, done func()) {
	page := s.page
	if !carries || s.source == 0 {
		done()
		return
	}
	var more func(left int)
	more = func(left int) {
		s.w.after(s.w.between(0, s.source), func() {
			if page != s.page || s.outcome != nil || !wanted() {
				return
			}
			s.input("", func() { s.m.DataMoved(s.w.now) })
			if left > 0 {
				more(left - 1)
				return
			}
			done()
		})
	}
	more(s.w.rng.IntN(4))
}

// begin hands a request to the browser.
func (s *sim) begin(id int, f *simFlight) {
	s.input("", func() { s.m.StoreBegun(s.w.now, id) })
	if f.over {
		return
	}
	s.queue = append(s.queue, func() bool {
		if !f.over {
			f.carried = true
			s.carry(id, f)
		}
		return f.carried
	})
	s.connect()
}

// connect carries what waits for a connection, as far as the browser has some left.
func (s *sim) connect() {
	for len(s.queue) > 0 && s.busy < s.connections {
		carried := s.queue[0]()
		s.queue = s.queue[1:]
		if carried {
			s.busy++
		}
	}
}

// free gives the flight's connection to the next.
func (s *sim) free(f *simFlight) {
	f.over = true
	if f.carried {
		s.busy--
		s.w.after(0, s.connect)
	}
}

// carry brings a request to the store and the answer back.
func (s *sim) carry(id int, f *simFlight) {
	w, r := s.w, f.r
	length := r.To - r.From
	took := w.between(5, 60) + length/s.scale.faster/w.between(2_000, 60_000)
	if s.offline || w.fault(s.chance) {
		w.after(w.between(0, 30), func() { s.drop(id, f) })
		return
	}
	stop := length + 1 // where the body stops
	breaks := false
	if w.fault(s.chance) {
		stop, breaks = w.rng.Int64N(length+1), true
	}
	stalls := !breaks && w.fault(3*s.chance)
	if stalls {
		stop = w.rng.Int64N(length + 1)
	}
	steps := max(1+w.rng.Int64N(6), took/2_000+1) // nothing for five seconds would be a stall
	for i := int64(1); i <= steps && length > 0; i++ {
		sent := length * i / steps
		if sent > stop {
			break
		}
		w.after(took*i/steps, func() {
			if f.over || s.offline {
				return
			}
			f.sent = sent
			s.input("", func() { s.m.StoreProgress(w.now, id, sent) })
		})
	}
	if stalls {
		return
	}
	if breaks {
		w.after(took/2, func() {
			if !f.over {
				s.arrive(f, extent{r.From, r.From + min(stop, length)}, stop >= length)
				s.drop(id, f)
			}
		})
		return
	}
	w.after(took, func() {
		if f.over {
			return
		}
		if s.offline {
			s.drop(id, f)
			return
		}
		a := s.judge(f)
		if w.fault(s.chance) { // the answer is lost
			s.drop(id, f)
			return
		}
		w.after(w.between(1, 40), func() { s.deliver(id, f, a) })
	})
}

// judge is the store's answer, faults and all.
func (s *sim) judge(f *simFlight) Answer {
	w := s.w
	switch {
	case w.fault(s.chance):
		a := answer([]int{500, 503, 429, 408}[w.rng.IntN(4)])
		if w.one(3) {
			a.Header = append(a.Header, api.Field{Name: "Retry-After", Value: "2"})
		}
		return a
	case w.fault(4 * s.chance):
		return Answer{Status: 403, Body: []byte("<Error><Code>AccessDenied</Code></Error>")}
	}
	if s.chance > 0 && w.one(20) { // a duplicate comes later
		w.after(w.between(1, 2_000), func() { s.arrive(f, extent{f.r.From, f.r.To}, true) })
	}
	return s.arrive(f, extent{f.r.From, f.r.To}, true)
}

// arrive lets the store have a request, or as much of it as came.
func (s *sim) arrive(f *simFlight, got extent, whole bool) Answer {
	if until := query(f.r.URL, "until"); until != "" {
		if at, err := strconv.ParseInt(until, 10, 64); err != nil || at < s.w.now {
			return Answer{Status: 403, Body: []byte("<Error><Code>AuthenticationFailed</Code><Message>Signature not valid in the specified time frame</Message></Error>")}
		}
	}
	o := s.object(f.r.URL)
	if o == nil {
		s.fail("no object at " + f.r.URL)
		return Answer{Status: 404}
	}
	if !whole && got.to == got.from {
		return Answer{}
	}
	a := o.handle(s.store, f.r, got)
	s.w.log("  store says %d %v %s", a.Status, a.Header, a.Body)
	return a
}

func (s *sim) object(url string) object {
	for at := place(url); ; {
		if o := s.store.objects[at]; o != nil {
			return o
		}
		i := strings.LastIndexByte(at, '/')
		if i < 0 {
			return nil
		}
		at = at[:i]
	}
}

// abandon lets go of a request: it may arrive all the same, whole or in part.
func (s *sim) abandon(f *simFlight) {
	if f.over {
		return
	}
	s.free(f)
	if s.w.one(3) {
		sent := f.sent
		s.w.after(s.w.between(0, 20), func() {
			s.arrive(f, extent{f.r.From, f.r.From + sent}, sent == f.r.To-f.r.From)
		})
	}
}

// drop ends a request without an answer.
func (s *sim) drop(id int, f *simFlight) {
	if f.over {
		return
	}
	s.free(f)
	delete(s.flights, id)
	s.input(fmt.Sprintf("  #%d gets no answer", id), func() { s.m.StoreFailed(s.w.now, id, "error", s.offline && s.w.one(2)) })
}

func (s *sim) deliver(id int, f *simFlight, a Answer) {
	if f.over {
		return
	}
	if s.offline {
		s.drop(id, f)
		return
	}
	s.free(f)
	delete(s.flights, id)
	if f.at > s.lostAt {
		s.acknowledge(f.r, a)
	}
	if body := string(a.Body); strings.Contains(body, "InvalidBlockList") || strings.Contains(body, "a part is lost") {
		clear(s.acked) // there may be no way to ask what is left
	}
	s.input(fmt.Sprintf("  #%d answered %d", id, a.Status), func() { s.m.StoreAnswered(s.w.now, id, a) })
}

// acknowledge notes which bytes the page was told to be stored.
func (s *sim) acknowledge(r Request, a Answer) {
	if r.To == r.From {
		return
	}
	to := r.To
	switch {
	case a.Status == 308:
		at, ok := rangeEnd(a.get("range"))
		if ok {
			to = at + 1
		} else if !s.store.hides {
			return
		}
	case a.Status < 200 || a.Status > 299:
		return
	}
	for at := r.From; at < to; at += max((to-r.From)/4, 1) {
		s.acked[fmt.Sprint(s.home(r.URL), " ", at)] = true
	}
}

// home is what bytes have to be stored at to count: the object, and its session where it has some.
func (s *sim) home(url string) string { return place(url) + query(url, "upload_id") }
