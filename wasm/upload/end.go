package upload

import (
	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/seed-76f09577/turnwire/wasm/retry"
)

// fail ends the upload with an error.
func (m *Machine) fail(err *api.Error) {
	if m.step >= closing {
		return
	}
	err.Stage, err.FileID = string(m.stage()), m.FileID()
	err.Stored = m.step == reporting && err.Kind != api.KindFile
	// Once a file is registered, an error of a request is one of the upload. That the wait took too long is none.
	request := err.Kind == api.KindAPI || err.Kind == api.KindConnection || err.Kind == api.KindTimeout && m.step != processing
	if err.FileID != "" && request {
		err.Kind = api.KindUpload
	}
	m.close(Failed, err)
}

// close ends an upload that did not succeed; the service is told before the end.
func (m *Machine) close(stage Stage, err *api.Error) {
	if m.step >= closing {
		return
	}
	if m.asking != nobody && !m.WantsTicket() && m.asking != forFailure {
		m.Emit(DropAsk{})
		m.asking = nobody
	}
	for len(m.flights) > 0 {
		m.letGo(0)
	}
	m.waiting, m.wait, m.waitDue = nil, nil, 0
	why := "the upload was aborted"
	if err != nil {
		why = err.Message
	}
	// Where a report may be on its way that the bytes are stored, none follows that says the contrary: the second could
	// overtake the first.
	if m.step < reporting || m.step == reporting && !m.report.begun {
		m.abandon(m.FileID(), why)
	}
	m.keep = err != nil && err.Stored && m.config.Resumable
	m.step, m.outcome = closing, Outcome{Stage: stage, Err: err}
	// A page that is loaded before the end must not go on with this upload, and has to report what this page did not.
	m.save = true
}

// abandon notes that the service is to be told that a file failed.
func (m *Machine) abandon(fileID, why string) {
	if fileID != "" {
		m.failures = append(m.failures, Untold{fileID, why})
	}
}

// finish ends the upload with m.outcome.
func (m *Machine) finish() {
	m.step = over
	if m.outcome.Stage == Done {
		m.progress.loaded = m.config.Size
	}
	// Where nothing was registered anew, what an earlier page left to be reported still is.
	m.untold, m.failures = append(m.untold, m.failures...), nil
	m.outcome.Untold = m.untold
	switch {
	case !m.config.Resumable:
	case m.keep || len(m.untold) > 0:
		m.Emit(Save{m.Record()})
	default:
		m.Emit(Forget{})
	}
	m.show()
	if m.timer != 0 {
		m.timer = 0
		m.Emit(retry.StopTimer{})
	}
	m.Emit(Finish{m.outcome})
}
