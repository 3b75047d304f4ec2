package upload

const (
	quickest = 17    // ms between two reports: at most 60 a second
	slowest  = 90    // ms between two reports while bytes move
	lull     = 1_000 // ms without a byte after which they are taken to move no more
	sampled  = 250   // ms between two points of the speed
	recent   = 5_000 // ms that the speed looks back
)

// meter shows how an upload goes on.
type meter struct {
	stage   Stage
	loaded  int64
	shown   Progress
	any     bool  // something was shown
	at      int64 // when it was
	dirty   bool  // something has changed since then
	moved   int64 // when loaded last grew
	samples []sample
}

type sample struct{ at, loaded int64 }

// due is when the next report has to come at the latest; 0 where there is none. While bytes move it comes even where
// nothing changed but the speed: of one request, Chromium tells the bytes a little less than ten times a second.
func (p *meter) due() int64 {
	if due := p.at + slowest; p.dirty || p.stage == Uploading && due <= p.moved+lull {
		return due
	}
	return 0
}

func (m *Machine) stage() Stage {
	switch {
	case m.step == over:
		return m.outcome.Stage
	case m.step == closing:
		return Reporting
	case m.step == processing:
		return Processing
	case m.resting():
		return Paused
	case m.step == reporting:
		return Reporting
	case m.step >= storing:
		return Uploading
	}
	return Preparing
}

// Progress is the upload as it stands.
func (m *Machine) Progress() Progress {
	p := Progress{Stage: m.stage(), LoadedBytes: m.progress.loaded, TotalBytes: m.config.Size}
	if t := &m.transfer; t.lanes != nil {
		p.BlocksTotal = t.blocks()
		p.BlocksDone = t.acked / t.block
		if m.step > storing && m.step != closing && m.step != over || p.Stage == Done {
			p.BlocksDone = p.BlocksTotal
		}
	}
	if first, ok := m.progress.oldest(m.now); ok && p.Stage == Uploading {
		p.BytesPerSecond = float64(p.LoadedBytes-first.loaded) * 1000 / float64(m.now-first.at)
	}
	return p
}

// oldest is the point from which the speed is measured: none until there is half a second to measure over.
func (p *meter) oldest(now int64) (sample, bool) {
	for len(p.samples) > 1 && p.samples[1].at <= now-recent {
		p.samples = p.samples[1:]
	}
	if len(p.samples) == 0 || now-p.samples[0].at < 2*sampled {
		return sample{}, false
	}
	return p.samples[0], true
}

// show reports what changed: a stage at once, bytes at most 60 times a second.
func (m *Machine) show() {
	p := &m.progress
	loaded := m.transfer.acked
	for _, f := range m.flights {
		if f.request.carries() {
			loaded += min(f.sent, f.request.To-f.request.From)
		}
	}
	if loaded = min(loaded, m.config.Size); loaded > p.loaded {
		p.loaded, p.moved = loaded, m.now
	}
	stage := m.stage()
	if stage != p.stage {
		p.samples = nil
	}
	if stage == Uploading && (len(p.samples) == 0 || m.now-p.samples[len(p.samples)-1].at >= sampled) {
		p.samples = append(p.samples, sample{m.now, p.loaded})
	}
	p.stage = stage
	now := m.Progress()
	p.dirty = !p.any || now.Stage != p.shown.Stage || now.LoadedBytes != p.shown.LoadedBytes || now.BlocksDone != p.shown.BlocksDone || now.BlocksTotal != p.shown.BlocksTotal
	if p.any && now.Stage == p.shown.Stage && m.now-p.at < quickest {
		return
	}
	if due := p.due(); !p.dirty && (due == 0 || m.now < due) {
		return
	}
	p.shown, p.any, p.at, p.dirty = now, true, m.now, false
	m.Emit(Report{now})
}
