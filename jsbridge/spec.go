//go:build js && wasm

package jsbridge

import (
	"strconv"

	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/seed-76f09577/turnwire/wasm/json"
	"github.com/seed-76f09577/turnwire/wasm/upload"
)

// Records cross to the loader as JSON: one call instead of one for each field.

// appendError writes an error for the loader, which makes it one of the API's classes.
func appendError(dst []byte, e *api.Error) []byte {
	dst = json.Quote(append(dst, `{"kind":`...), string(e.Kind))
	dst = json.Quote(append(dst, `,"code":`...), e.Code)
	dst = json.Quote(append(dst, `,"message":`...), e.Message)
	dst = append(dst, `,"retryable":`...)
	dst = strconv.AppendBool(dst, e.Retryable)
	if e.Status != 0 {
		dst = strconv.AppendInt(append(dst, `,"status":`...), int64(e.Status), 10)
	}
	if e.RequestID != "" {
		dst = json.Quote(append(dst, `,"requestId":`...), e.RequestID)
	}
	if e.HasRetry {
		dst = strconv.AppendInt(append(dst, `,"retryAfter":`...), e.RetryAfter, 10)
	}
	switch {
	case e.Kind != api.KindAPI:
	case e.BodyIsJSON:
		dst = append(append(dst, `,"body":`...), e.Body...)
	default:
		dst = json.Quote(append(dst, `,"body":`...), string(e.Body))
	}
	if e.EventPayload != nil {
		dst = append(append(dst, `,"data":`...), e.EventPayload...)
	}
	if e.Stage != "" {
		dst = json.Quote(append(dst, `,"stage":`...), e.Stage)
	}
	if e.FileID != "" {
		dst = json.Quote(append(dst, `,"fileId":`...), e.FileID)
	}
	if e.HasBlock {
		dst = strconv.AppendInt(append(dst, `,"block":`...), int64(e.Block), 10)
	}
	if e.File != nil {
		dst = appendFile(append(dst, `,"file":`...), *e.File)
	}
	return append(dst, '}')
}

// appendFile writes a file's record for the loader.
func appendFile(dst []byte, f api.File) []byte {
	dst = json.Quote(append(dst, `{"id":`...), f.ID)
	dst = json.Quote(append(dst, `,"status":`...), f.Status)
	if f.Name != "" {
		dst = json.Quote(append(dst, `,"name":`...), f.Name)
	}
	if f.Size >= 0 {
		dst = strconv.AppendInt(append(dst, `,"size":`...), f.Size, 10)
	}
	if f.Checksum != "" {
		dst = json.Quote(append(dst, `,"checksum":`...), f.Checksum)
	}
	dst = append(dst, `,"raw":`...)
	if f.Raw == nil {
		return append(dst, "{}}"...)
	}
	return append(append(dst, f.Raw...), '}')
}

// appendOutcome writes how an upload ended.
func appendOutcome(dst []byte, o upload.Outcome) []byte {
	dst = json.Quote(append(dst, `{"stage":`...), string(o.Stage))
	switch {
	case o.Err != nil:
		dst = appendError(append(dst, `,"error":`...), o.Err)
	case o.Stage == upload.Done:
		dst = appendFile(append(dst, `,"file":`...), o.File)
	}
	return append(dst, '}')
}
