package contract

// Control is what the module does for the page. Clients, calls, turns and uploads are numbers of the page's choice, small
// ones for they are places in a table, that it gives out again when it has been told the end. Requests and timers are
// numbers of the module's; see Page. No function waits; what comes of one is told by Page.
type Control interface {
	OpenClient(client uint32, config *ClientConfig)
	// CloseClient disconnects the client's turns and ends its calls, but for those that tell the service of an end; then
	// ClientEnded.
	CloseClient(client uint32)
	// KeyGiven and KeyRefused answer AskKey.
	KeyGiven(ask uint32, key string)
	KeyRefused(ask uint32, why string)

	// Of each call CallEnded tells the end, once.
	CreateChat(call, client uint32, params *ChatParams)
	AbortChat(call, client uint32, params *AbortParams)
	GetFile(call, client uint32, params *FileParams)
	// ReportFailed tells the service of a file whose upload its instance could not end.
	ReportFailed(call, client uint32, params *ReportParams)
	// WaitFile polls a file until the service is done with it; FileStatus tells each record that came.
	WaitFile(call, client uint32, params *WaitParams)
	// CancelCall ends a call whose caller gave it up: nothing more is told of it.
	CancelCall(call uint32)

	StartTurn(turn, client uint32, params *TurnParams)
	// AbortTurn stops a turn, at the service too where its message has left; CallEnded tells whether the service was told.
	// It comes once a turn, of one whose end was not told.
	AbortTurn(turn, call uint32)
	DisconnectTurn(turn uint32)
	// StreamEnded tells the end of the bytes; failure is "" where they ended cleanly. The events are drained by Feed.
	StreamEnded(turn uint32, failure string)

	// Answered, BodyRead and RequestFailed tell what came of Fetch and ReadBody; nothing is told after Cancel.
	Answered(request uint32, head *Head)
	BodyRead(request uint32, text string)
	RequestFailed(request uint32, why string)
	TimerFired(timer uint32)

	WentOnline()
	WentOffline()
	// PageSaid tells what another page of the origin said by TellPages, which goes by a number of its own.
	PageSaid(page uint32, word int, host string)

	StartUpload(upload, client uint32, params *UploadParams)
	PauseUpload(upload uint32)
	ResumeUpload(upload uint32)
	AbortUpload(upload uint32)
	// UploadRecord is what is to be kept under the resume key; "" of an upload that has ended.
	UploadRecord(upload uint32) (record string)
	// TicketMapped and TicketRefused answer MapTicket; a ticket is in the service's own form.
	TicketMapped(upload uint32, ticket string)
	TicketRefused(upload uint32, why string)
	// StoreBegun tells that a request's bytes are read and the browser has it, StoreAlive that bytes of its answer came.
	StoreBegun(upload, request uint32)
	StoreProgress(upload, request uint32, sent int64)
	StoreAlive(upload, request uint32)
	// StoreAnswered and StoreFailed are the end of a request to the store.
	StoreAnswered(upload, request uint32, answer *StoreAnswer)
	StoreFailed(upload, request uint32, why string)
	Hashed(upload uint32, state *HashState)
	// DataMoved tells that the data gave some bytes, DataFailed that those from at on can't be read.
	DataMoved(upload uint32)
	DataFailed(upload uint32, at int64, why string)
}
