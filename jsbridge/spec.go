//go:build js && wasm

package jsbridge

import (
	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/seed-76f09577/turnwire/wasm/json"
	"github.com/seed-76f09577/turnwire/wasm/upload"
)

// Records cross to the loader as JSON: one call instead of one for each field.

// errorJSON is an error for the loader, which makes it one of the API's classes.
func errorJSON(e *api.Error) string {
	var w json.Writer
	writeError(&w, "", e)
	return string(w.Text())
}

// fileJSON is a file's record.
func fileJSON(f *api.File) string {
	var w json.Writer
	writeFile(&w, "", f)
	return string(w.Text())
}

// outcomeJSON is how an upload ended.
func outcomeJSON(o upload.Outcome) string {
	var w json.Writer
	w.Open("", '{')
	w.String("stage", string(o.Stage))
	switch {
	case o.Err != nil:
		writeError(&w, "error", o.Err)
	case o.Stage == upload.Done:
		writeFile(&w, "file", &o.File)
	}
	w.Close('}')
	return string(w.Text())
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
	if e.Stored {
		w.Bool("stored", true)
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
