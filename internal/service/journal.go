package service

import "context"

// journal keeps what survives a restart. Temporary chats are never given to it: they are no part of
// the history that is kept.
type journal interface {
	saveChat(ctx context.Context, c *chat) error
	// startTurn records a turn before it runs, and the chat's messages with it.
	startTurn(ctx context.Context, c *chat, t *turn) error
	// saveTurn records how far a turn is: its status, its tools, and more of its events, the first of
	// which has the index first.
	saveTurn(ctx context.Context, t *turn, now status, first int, events []Event) error
	deleteTurn(ctx context.Context, turnID string) error
	// saveFile records a file as it is; its mutex is held.
	saveFile(ctx context.Context, f *file) error
	loadFiles(ctx context.Context) ([]*file, error)
	// load returns all chats and turns, turns in the order of their start.
	load(ctx context.Context) ([]*chat, []*turn, error)
	close() error
}

// noJournal is the journal of a service that lives in memory only.
type noJournal struct{}

func (noJournal) saveChat(context.Context, *chat) error                        { return nil }
func (noJournal) startTurn(context.Context, *chat, *turn) error                { return nil }
func (noJournal) saveTurn(context.Context, *turn, status, int, []Event) error  { return nil }
func (noJournal) deleteTurn(context.Context, string) error                     { return nil }
func (noJournal) saveFile(context.Context, *file) error                        { return nil }
func (noJournal) loadFiles(context.Context) ([]*file, error)                   { return nil, nil }
func (noJournal) load(context.Context) (chats []*chat, turns []*turn, e error) { return nil, nil, nil }
func (noJournal) close() error                                                 { return nil }
