package upload

import (
	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/seed-76f09577/turnwire/wasm/retry"
)

// notContinued is why a file failed whose place another has taken.
const notContinued = "the upload was not continued"

// purpose is what the service is being asked for.
type purpose int

const (
	nobody purpose = iota
	forTicket
	forRenewal
	forReport
	forRecord
	forFailure
	forPoll
)

func (m *Machine) ask(why purpose, request *api.Request, safety retry.Safety) {
	m.asking = why
	m.Emit(Ask{Request: request, Policy: m.config.Policy.With(safety)})
}

func (m *Machine) params() api.FileParams {
	p := api.FileParams{Name: m.config.Name, Size: m.config.Size, ContentType: m.config.ContentType, Purpose: m.config.Purpose}
	if m.config.Checksum != ChecksumDuring {
		p.Checksum = m.sum.value
	}
	return p
}

// register is step 1. The failures that an earlier upload left to be reported are reported first. A registration carries no
// idempotency key, so that it is not repeated where the service may have acted.
func (m *Machine) register() {
	switch {
	case m.asking != nobody:
	case len(m.failures) > 0:
		m.reportFailure()
	default:
		m.ask(forTicket, api.UploadURL(m.config.WorkspaceID, m.params()), retry.Unkeyed)
	}
}

// renew asks for a new address of the same file.
func (m *Machine) renew() {
	if m.asking != nobody {
		return
	}
	m.renewing = true
	p := m.params()
	p.FileID = m.FileID()
	m.ask(forRenewal, api.UploadURL(m.config.WorkspaceID, p), retry.Unkeyed)
}

func (m *Machine) reportFailure() {
	m.ask(forFailure, api.ReportFailed(m.failures[0].FileID, m.failures[0].Why), retry.Repeatable)
}

// WantsTicket reports whether what is being asked for is an address: the answer that MapTicket reads.
func (m *Machine) WantsTicket() bool { return m.asking == forTicket || m.asking == forRenewal }

// Answered tells how the call that Ask began has ended.
func (m *Machine) Answered(now int64, d retry.Done) {
	m.now = now
	why := m.asking
	if why == nobody {
		return
	}
	m.asking = nobody
	switch why {
	case forFailure:
		// A Notice will try again: see Outcome.
		if d.Err != nil && d.Err.Retryable {
			m.untold = append(m.untold, m.failures[0])
		}
		m.failures, m.save = m.failures[1:], m.step == closing
	case forTicket:
		m.registered(&d)
	case forRenewal:
		m.renewed(&d)
	case forReport:
		m.confirmed(&d)
	case forRecord:
		m.looked(&d)
	case forPoll:
		m.wait.Answered(now, d)
		m.waited()
	}
	m.proceed()
}

// ticket reads the answer of step 1, as the caller's mapUploadTicket makes it where there is one.
func (m *Machine) ticket(d *retry.Done) (*api.Ticket, *api.Error) {
	if d.Err != nil {
		return &api.Ticket{}, d.Err
	}
	body := d.Body
	if m.config.MapTicket != nil {
		mapped, err := m.config.MapTicket(body)
		if err != nil {
			// The file may be registered all the same.
			unmapped, _ := api.ParseTicket(&api.Request{}, &api.Response{}, body)
			return &api.Ticket{FileID: unmapped.FileID}, err
		}
		body = mapped
	}
	return api.ParseTicket(api.UploadURL(m.config.WorkspaceID, m.params()), d.Response, body)
}

func (m *Machine) registered(d *retry.Done) {
	ticket, err := m.ticket(d)
	if m.step >= closing {
		if ticket.FileID != "" {
			m.transfer.ticket = &api.Ticket{FileID: ticket.FileID}
			m.abandon(ticket.FileID, "the upload was aborted")
			m.save = true
		}
		return
	}
	m.transfer.ticket = ticket
	p, unknown := recognise(ticket)
	if err == nil {
		err = unknown
	}
	if err != nil {
		m.fail(err)
		return
	}
	m.protocol = *p
	m.expire()
	m.save = true
	m.step = surveying
}

// expire works out when the address should be renewed: a little before its end. One that has ended by this clock
// already, or will in a moment, shows that the clocks differ: then only the store's own word counts.
func (m *Machine) expire() {
	m.expiresAt = 0
	if at := expiry(m.transfer.ticket); at > m.now+10_000 {
		m.expiresAt = at - min(30_000, (at-m.now)/4)
	}
}

func (m *Machine) renewed(d *retry.Done) {
	ticket, err := m.ticket(d)
	old := m.transfer.ticket
	another := ticket.FileID != "" && ticket.FileID != old.FileID
	if another {
		m.abandon(ticket.FileID, notContinued)
		m.save = true
	}
	p, unknown := recognise(ticket)
	if err == nil {
		err = unknown
	}
	switch {
	case m.step >= closing:
	case another:
		m.stale(0, "the service registered another file instead")
	case err != nil && err.Kind == api.KindConnection && m.offline:
	case err != nil:
		m.stale(err.Status, err.Message)
	case p.name != m.protocol.name:
		m.stale(0, "the service changed the protocol to "+p.name)
	default:
		m.transfer.ticket = ticket
		if !m.transfer.addressed(p) {
			m.stale(0, "the service gave addresses for fewer parts")
			return
		}
		m.renewing, m.refused = false, nil
		m.renewals++
		m.generation++
		m.expire()
		m.save = true
		m.log("info", "address renewed", nil)
		if home(old) == home(ticket) {
			return
		}
		// The data goes to another place now, and has to go there whole.
		m.restarts++
		if m.restarts > mostRestarts || m.config.Once {
			m.stale(0, "the service named another place for the data")
			return
		}
		m.restartAll()
	}
}

// stale fails an upload whose address could not be renewed.
func (m *Machine) stale(status int, why string) {
	if m.refused != nil && m.refused.Code == unreachable {
		m.fail(m.refused) // that its address has ended was only a guess
		return
	}
	err := passing("address_expired", "the signed address expired during the upload, and the service gave no new one for the same file: "+why+
		". Let addresses live longer, or answer upload-url with the same file for a known file_id")
	err.Status = status
	if m.refused != nil {
		err.Status = m.refused.Status
		err.Message += " (" + m.refused.Message + ")"
	}
	m.fail(err)
}

// log records what becomes of the file; err is why, where there is a reason.
func (m *Machine) log(level, message string, err *api.Error, more ...retry.Field) {
	fields := []retry.Field{{Name: "fileId", Value: m.FileID()}}
	if err != nil {
		fields = append(fields, retry.Field{Name: "code", Value: err.Code}, retry.Field{Name: "status", Value: int64(err.Status)})
	}
	m.Emit(retry.Log{Level: level, Message: message, Fields: append(fields, more...)})
}

func (m *Machine) beginWait() {
	m.wait = NewWait(m.FileID(), *m.config.Wait)
	if m.offline {
		m.wait.Offline(m.now)
	}
	m.wait.Start(m.now)
	m.waited()
}

// waited makes the wait's effects the upload's own.
func (m *Machine) waited() {
	if m.wait == nil {
		return
	}
	for _, effect := range m.wait.Take() {
		switch e := effect.(type) {
		case Ask:
			m.asking = forPoll
			e.Poll = true
			m.Emit(e)
		case DropAsk:
			m.asking = nobody
			m.Emit(e)
		case retry.SetTimer:
			m.waitDue = m.now + e.After
		case retry.StopTimer:
			m.waitDue = 0
		case Finish:
			if e.Outcome.Err != nil {
				m.fail(e.Outcome.Err)
				return
			}
			if m.sum.value != "" {
				e.Outcome.File.Checksum = m.sum.value
			}
			m.outcome = e.Outcome
			m.finish()
			return
		default:
			m.Emit(e)
		}
	}
}
