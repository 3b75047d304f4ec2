package upload

import (
	"fmt"
	"strings"
)

// checkReport checks what the service is about to be told of a file: what the store has whole never failed, but where the
// caller took it back, or the data could not be read, before anything was reported; and one report is all.
func (s *sim) checkReport(e Ask) {
	if e.Request.Method != "PATCH" {
		return
	}
	f := s.service.files[strings.TrimPrefix(e.Request.Path, "/v1/files/")]
	if !e.Request.Keepalive {
		s.fail("told without keepalive")
	}
	if strings.Contains(string(e.Request.Body), `"uploaded"`) {
		f.reports++
		return
	}
	if f.reports > 0 || f.stored && s.asked == "" && !s.config.Once {
		s.fail("what was stored is reported as failed")
	}
}

func (s *sim) report(p Progress) {
	if p.LoadedBytes < s.loaded || p.LoadedBytes > s.config.Size || p.BlocksDone > p.BlocksTotal {
		s.fail(fmt.Sprintf("progress %+v after %d", p, s.loaded))
	}
	if p.Stage == s.shown.Stage {
		if s.w.now-s.shownAt < 16 {
			s.fail("reports too close")
		}
	}
	if p.Stage == Done && (p.LoadedBytes != s.config.Size || p.BlocksDone != p.BlocksTotal) {
		s.fail(fmt.Sprintf("done with %+v", p))
	}
	s.loaded, s.shown, s.shownAt = p.LoadedBytes, p, s.w.now
}

// checkEnd checks what holds when all is over.
func (s *sim) checkEnd() {
	o := s.outcome
	if s.w.faults == 0 && s.asked == "" && o.Stage != Done {
		s.fail(fmt.Sprintf("nothing went wrong, and it ended as %s: %v", o.Stage, o.Err))
	}
	if (o.Err != nil) != (o.Stage == Failed) || o.Err != nil && (o.Err.Code == "" || o.Err.Message == "" || o.Err.Stage == "" || strings.Contains(o.Err.Message, "sig=")) {
		s.fail(fmt.Sprintf("outcome %+v %+v", o, o.Err))
	}
	if stored := o.Err != nil && o.Err.Stored; s.config.Resumable != (s.record != nil) && (stored || len(o.Untold) > 0) || s.record != nil && !stored && len(o.Untold) == 0 {
		s.fail(fmt.Sprintf("the record %s is left after %s", s.record, s.end()))
	}
	for _, untold := range o.Untold {
		s.service.files[untold.FileID].told = true // by a notice
	}
	if o.Stage == Done {
		f := s.service.files[o.File.ID]
		if f == nil || f.status != "processing" && f.status != "ready" && f.status != s.service.ends || s.config.Wait != nil && f.status != "ready" {
			s.fail(fmt.Sprintf("done with %+v", f))
		}
		if !s.service.complete(f) {
			s.fail("done, and not stored")
		}
	}
	for id, f := range s.service.files {
		if !f.heard || o.Stage == Done && id == o.File.ID || f.told {
			continue
		}
		if f.reports > 0 {
			continue // the service's own matter
		}
		s.fail(fmt.Sprintf("%s is left as %s after %s", id, f.status, s.end()))
	}
}

// checkSend checks a request to the store by itself.
func (s *sim) checkSend(r Request) {
	if r.From > r.To || r.From < 0 || r.To > s.config.Size || field(r, "Authorization") != "" {
		s.fail(fmt.Sprintf("sends %+v", r))
	}
	for at := r.From; at < r.To; at += max((r.To-r.From)/16, 1) {
		if s.acked[fmt.Sprint(s.home(r.URL), " ", at)] {
			s.fail(fmt.Sprintf("sends byte %d again, which was acknowledged", at))
		}
	}
	if s.config.Once && r.To > r.From {
		limit := int64(s.config.Concurrency)
		if limit == 0 {
			limit = 4
		}
		if r.From < s.released || r.From >= s.released+limit*s.m.transfer.block {
			s.fail(fmt.Sprintf("asks for %d to %d, released %d", r.From, r.To, s.released))
		}
	}
	if s.paused && s.offline {
		s.fail("sends while held")
	}
	if s.paused && r.To > r.From {
		s.fail("sends data while paused")
	}
}
