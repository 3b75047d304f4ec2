package contract

// Page is what the page does for the module. None of these waits, calls the module back or runs code of the page's author
// before it has returned: what comes of one is told by Control, from a task of its own. But for Fetch with the browser's own
// fetch, which is called at once, so that what leaves on pagehide goes out.
type Page interface {
	// Now is performance.now(), TimeOrigin performance.timeOrigin, UnixTime Date.now(), Random Math.random(), Online
	// navigator.onLine.
	Now() float64
	TimeOrigin() float64
	UnixTime() float64
	Random() float64
	Online() bool
	// SetTimer calls TimerFired in ms milliseconds.
	SetTimer(timer uint32, ms int64)
	ClearTimer(timer uint32)
	// Crashed says that the module has panicked: nothing that it says can be trusted any more.
	Crashed(message string)

	// ClientEnded says that nothing more comes of a client that was closed.
	ClientEnded(client uint32)
	// AskKey calls the function that the client was given for its key.
	AskKey(ask, client uint32)
	// Record hands a record to the client's log.
	Record(client uint32, record *LogRecord)
	// TellPages tells the other pages of the origin something about this one's connections to a host, for their PageSaid;
	// see package retry. host is its address with the path "/".
	TellPages(word int, host string)

	Fetch(request, client uint32, params *FetchParams)
	// ReadBody reads at most limit bytes of an answer's body as text.
	ReadBody(request uint32, limit int)
	// Cancel lets go of a request or its answer.
	Cancel(request uint32)

	CallEnded(call uint32, end *CallEnd)
	FileStatus(call uint32, file *File)

	// TurnOpened hands the body of a request's answer to the turn: its bytes are fed from a later task on.
	TurnOpened(turn, request uint32)
	TurnEnded(turn uint32, end *TurnEnd)

	// SendBlock sends a request to the store.
	SendBlock(upload, request uint32, block *StoreRequest)
	CancelBlock(upload, request uint32)
	Hash(upload uint32, part *HashRange)
	// ReleaseData says that no byte before it is asked for again.
	ReleaseData(upload uint32, before int64)
	ShowProgress(upload uint32, progress *Progress)
	// SaveRecord keeps the record of an upload; "" where UploadRecord gives it, and the newest counts.
	SaveRecord(upload uint32, record string)
	ForgetRecord(upload uint32)
	// MapTicket hands the service's answer to the function that the upload was given for it.
	MapTicket(upload uint32, body string)
	UploadStatus(upload uint32, file *File)
	UploadEnded(upload uint32, end *UploadEnd)
}
