package jsbridge

import (
	"github.com/seed-76f09577/turnwire/jsbridge/contract"
	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/seed-76f09577/turnwire/wasm/json"
)

// errorOf is an error as it crosses; nil for none.
func errorOf(e *api.Error) *contract.Error {
	if e == nil {
		return nil
	}
	out := &contract.Error{
		Kind: e.Class(), Code: e.Code, Message: e.Message, Retryable: e.Retryable, Status: e.Status, RequestID: e.RequestID,
		Data: e.EventPayload, Stage: contract.Stage(e.Stage), FileID: e.FileID, Stored: e.Stored,
	}
	if e.HasRetry {
		out.RetryAfter = &e.RetryAfter
	}
	if e.HasBlock {
		out.Block = &e.Block
	}
	switch {
	case e.Kind != api.KindAPI:
	case e.BodyIsJSON:
		out.Body = e.Body
	default:
		out.Body = json.Quote(nil, string(e.Body))
	}
	if e.File != nil {
		out.File = fileOf(e.File)
	}
	return out
}

// fileOf is a file's record as it crosses.
func fileOf(f *api.File) *contract.File {
	out := &contract.File{ID: f.ID, Status: f.Status, Name: f.Name, Checksum: f.Checksum, Raw: f.Raw}
	if f.Size >= 0 {
		out.Size = &f.Size
	}
	if out.Raw == nil {
		out.Raw = contract.JSON("{}")
	}
	return out
}
