//go:build js && wasm

package jsbridge

import (
	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/seed-76f09577/turnwire/wasm/json"
	"github.com/seed-76f09577/turnwire/wasm/upload"
)

// Records cross to the loader as JSON: one call instead of one for each field.

// appendError writes an error for the loader, which makes it one of the API's classes.
func appendError(dst []byte, e *api.Error) []byte {
	w := json.WriterTo(dst)
	writeError(w, "", e)
	return w.Text()
}

// appendFile writes a file's record for the loader.
func appendFile(dst []byte, f api.File) []byte {
	w := json.WriterTo(dst)
	writeFile(w, "", &f)
	return w.Text()
}

// appendOutcome writes how an upload ended.
func appendOutcome(dst []byte, o upload.Outcome) []byte {
	w := json.WriterTo(dst)
	w.Open("", '{')
	w.String("stage", string(o.Stage))
	switch {
	case o.Err != nil:
		writeError(w, "error", o.Err)
	case o.Stage == upload.Done:
		writeFile(w, "file", &o.File)
	}
	w.Close('}')
	return w.Text()
}

func writeError(w *json.Writer, name string, e *api.Error) {
	w.Open(name, '{')
	w.String("kind", string(e.Kind))
	w.String("code", e.Code)
	w.String("message", e.Message)
	w.Bool("retryable", e.Retryable)
	if e.Status != 0 {
		w.Int("status", int64(e.Status))
	}
	w.Given("requestId", e.RequestID)
	if e.HasRetry {
		w.Int("retryAfter", e.RetryAfter)
	}
	switch {
	case e.Kind != api.KindAPI:
	case e.BodyIsJSON:
		w.Raw("body", e.Body)
	default:
		w.String("body", string(e.Body))
	}
	if e.EventPayload != nil {
		w.Raw("data", e.EventPayload)
	}
	w.Given("stage", e.Stage)
	w.Given("fileId", e.FileID)
	if e.HasBlock {
		w.Int("block", int64(e.Block))
	}
	if e.File != nil {
		writeFile(w, "file", e.File)
	}
	w.Close('}')
}

func writeFile(w *json.Writer, name string, f *api.File) {
	w.Open(name, '{')
	w.String("id", f.ID)
	w.String("status", f.Status)
	w.Given("name", f.Name)
	if f.Size >= 0 {
		w.Int("size", f.Size)
	}
	w.Given("checksum", f.Checksum)
	raw := f.Raw
	if raw == nil {
		raw = []byte("{}")
	}
	w.Raw("raw", raw)
	w.Close('}')
}
