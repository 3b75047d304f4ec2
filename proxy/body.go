package proxy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"slices"
	"time"
	"unicode/utf8"
)

// read takes the body of a request to its end, within its limits of size and time.
func (p *Proxy) read(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	control := http.NewResponseController(w)
	// A server that can't be told has limits of its own, and one of tests has none.
	if err := control.SetReadDeadline(time.Now().Add(p.cfg.BodyTimeout)); err == nil {
		defer func() { _ = control.SetReadDeadline(time.Time{}) }()
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, p.cfg.MaxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, refuse(http.StatusRequestEntityTooLarge, "body_too_large", fmt.Sprintf("the body must not be larger than %d bytes", p.cfg.MaxBody))
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, refuse(http.StatusRequestTimeout, "body_too_slow", "the body did not come to its end in time")
	case err != nil:
		return nil, refuse(http.StatusBadRequest, "body_incomplete", "the body could not be read to its end")
	}
	return body, nil
}

// rewrite checks what a request says, and says it anew to the service. What two readers may understand in two ways, such
// as a member that is there twice, is gone then: the service reads what was checked.
func (p *Proxy) rewrite(w http.ResponseWriter, r *http.Request, x *exchange) ([]byte, error) {
	body, err := p.read(w, r)
	if err != nil {
		return nil, err
	}
	x.read = true
	if x.route.members == nil {
		if len(body) > 0 {
			return nil, refuse(http.StatusBadRequest, "body_not_allowed", "this endpoint takes no body")
		}
		return nil, nil
	}
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		return nil, refuse(http.StatusUnsupportedMediaType, "unsupported_media_type", "Content-Type must be application/json")
	}
	fields, ok := object(body)
	if !ok {
		return nil, refuse(http.StatusBadRequest, "invalid_json", "the body must be one JSON object in UTF-8")
	}
	for name := range fields {
		if !slices.Contains(x.route.members, name) {
			return nil, invalid(name, "there is no such member in the body of this endpoint")
		}
	}
	if err := p.checkFields(x, fields); err != nil {
		return nil, err
	}
	if err := p.takeFiles(r.Context(), x, fields, "file_id"); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(fields); err != nil {
		return nil, refuse(http.StatusBadRequest, "invalid_json", "the body must be one JSON object in UTF-8")
	}
	return out.Bytes(), nil
}

func object(body []byte) (fields map[string]any, ok bool) {
	if !utf8.Valid(body) {
		return nil, false
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	if decoder.Decode(&fields) != nil || fields == nil {
		return nil, false
	}
	_, err := decoder.Token()
	return fields, errors.Is(err, io.EOF)
}

// checkFields refuses what is not configured.
func (p *Proxy) checkFields(x *exchange, fields map[string]any) *refusal {
	switch x.route.name {
	case "chats":
		if agent, ok := fields["agent_id"].(string); !ok {
			return invalid("agent_id", "agent_id must be a string")
		} else if !slices.Contains(p.cfg.Workspaces[x.id], agent) {
			return refuse(http.StatusNotFound, "agent_not_found", "there is no such agent in this workspace")
		}
	case "messages":
		if model, ok := fields["model"]; ok && p.cfg.Models != nil {
			if name, _ := model.(string); !slices.Contains(p.cfg.Models, name) {
				return invalid("model", "model must be one of those that this service offers here")
			}
		}
		parts, ok := fields["parts"].([]any)
		if !ok {
			return invalid("parts", "parts must be an array of objects")
		}
		for i, part := range parts {
			where := fmt.Sprintf("parts[%d]", i)
			members, ok := part.(map[string]any)
			if !ok {
				return invalid(where, where+" must be an object")
			}
			if kind, _ := members["type"].(string); kind != "text" && kind != "file" && !slices.Contains(p.cfg.PartTypes, kind) {
				return invalid(where+".type", where+".type must be one of those that this service takes here")
			}
		}
	case "upload-url":
		if size, ok := fields["size"].(json.Number); ok && p.cfg.MaxFile > 0 {
			if n, err := size.Int64(); err != nil || n > p.cfg.MaxFile {
				return &refusal{status: http.StatusRequestEntityTooLarge, code: "file_too_large", param: "size",
					message: fmt.Sprintf("a file must not be larger than %d bytes", p.cfg.MaxFile)}
			}
		} else if p.cfg.MaxFile > 0 {
			return invalid("size", "size must be a number of bytes")
		}
	}
	return nil
}

// takeFiles puts the service's identifiers in place of the caller's, wherever a member of this name stands: a message can
// bring files, and an upload goes on with one.
func (p *Proxy) takeFiles(ctx context.Context, x *exchange, value any, member string) error {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			if err := p.takeFiles(ctx, x, item, member); err != nil {
				return err
			}
		}
	case map[string]any:
		for name, item := range value {
			if name != member {
				if err := p.takeFiles(ctx, x, item, member); err != nil {
					return err
				}
				continue
			}
			shown, ok := item.(string)
			if !ok {
				return invalid(member, member+" must be a string")
			}
			id, err := p.grants.take(ctx, files, x.caller, shown)
			if err != nil {
				return err
			}
			value[name] = id
			x.know(id, shown)
		}
	}
	return nil
}
