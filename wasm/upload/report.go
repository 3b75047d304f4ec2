package upload

import (
	"strconv"

	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/seed-76f09577/turnwire/wasm/retry"
)

// report is how the service is told that the bytes are stored. From then on nothing says that the upload failed: the
// service may have taken a report whose answer is late or lost (profile, "Files" 4).
type report struct {
	begun bool       // one may have reached the service
	since int64      // when the first was sent
	err   *api.Error // of the last; the record has not been looked at since
	due   int64      // when the next may be sent
	tries int
	last  bool // the caller wants no other
}

const (
	reportFirst = 1_000 // ms between a report and the next
	reportMost  = 30_000
)

// askReport reports, or looks whether a report that got no good answer was taken all the same.
func (m *Machine) askReport() {
	r := &m.report
	if r.err != nil {
		m.ask(forRecord, api.GetFile(m.FileID()), retry.Repeatable)
		return
	}
	m.save = m.save || !r.begun
	r.begun = true
	if r.since == 0 {
		r.since = m.now
	}
	m.ask(forReport, m.reportRequest(), retry.Repeatable)
}

func (m *Machine) reportRequest() *api.Request {
	return api.ReportUploaded(m.FileID(), m.config.Size, m.sum.value)
}

// confirmed reads the answer to a report.
func (m *Machine) confirmed(d *retry.Done) {
	if m.step != reporting {
		return
	}
	err := d.Err
	var file api.File
	if err == nil {
		file, err = api.ParseReport(m.reportRequest(), d.Response, m.FileID(), d.Body)
	}
	switch {
	case err == nil:
		m.taken(&file)
	case m.report.last:
		m.close(Aborted, nil)
	case err.Kind == api.KindConnection && m.offline:
		// It is sent again when there is a network.
	default:
		m.report.err, m.report.due = err, 0
	}
}

// looked goes by the record of a file whose report got no good answer.
func (m *Machine) looked(d *retry.Done) {
	if m.step != reporting {
		return
	}
	r := &m.report
	err := r.err
	r.err = nil
	if d.Err == nil {
		if file, ok := api.ParseFile(m.FileID(), d.Body); ok && file.Settled() {
			m.taken(&file)
			return
		}
	}
	if r.last {
		m.close(Aborted, nil)
		return
	}
	if !err.Retryable {
		m.unconfirmed(err, err.Code)
		return
	}
	wait := int64(reportMost)
	if r.tries < 5 {
		wait = reportFirst << r.tries
	}
	if err.HasRetry {
		wait = max(wait, err.RetryAfter)
	}
	r.tries++
	if limit := m.config.ReportTimeout; limit > 0 && m.now+wait > r.since+limit {
		m.unconfirmed(err, "report_unconfirmed")
		return
	}
	r.due = m.now + wait
	m.log("warn", "reporting again", err, retry.Field{Name: "waitMs", Value: wait})
}

// unconfirmed ends an upload whose bytes are stored and whose report the service did not confirm.
func (m *Machine) unconfirmed(err *api.Error, code string) {
	how := "option resumeKey would let the same upload() report again without sending the bytes; else send PATCH " + m.reportRequest().Path + ` with {"status":"uploaded"}`
	if m.config.Resumable {
		how = "the same upload() under its resumeKey reports again, without sending the bytes"
	}
	out := *err
	out.Kind, out.Code = api.KindUpload, code
	out.Message = "the bytes are stored, but the service did not confirm the report"
	if code != err.Code {
		out.Message += " within " + strconv.FormatInt(m.config.ReportTimeout, 10) + " ms (option reportTimeout)"
	}
	out.Message += ": " + err.Message + "; " + how
	m.fail(&out)
}

// taken goes on after the service has taken the report.
func (m *Machine) taken(file *api.File) {
	if file.Size < 0 {
		file.Size = m.config.Size
	}
	if file.Name == "" {
		file.Name = m.config.Name
	}
	if m.sum.value != "" {
		file.Checksum = m.sum.value
	}
	m.reported, m.save = true, true
	switch {
	case file.Failed():
		m.fail(api.FileFailed(file))
	case m.config.Wait == nil || file.Status == api.FileReady:
		m.outcome = Outcome{Stage: Done, File: *file}
		m.finish()
	case m.report.last:
		m.step = processing
		m.close(Aborted, nil)
	default:
		m.step = processing
		m.beginWait()
	}
}
