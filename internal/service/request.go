package service

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"unicode/utf8"

	"github.com/google/uuid"
)

// newID makes an identifier that can't be guessed: kind_ and a UUID v4.
func newID(kind string) string {
	return kind + "_" + uuid.NewString()
}

func readBody(w http.ResponseWriter, r *http.Request) ([]byte, *apiError) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, failure(http.StatusRequestEntityTooLarge, "body_too_large", fmt.Sprintf("the body must not be larger than %d bytes", maxBody))
	case err != nil:
		return nil, failure(http.StatusBadRequest, "body_incomplete", "the body could not be read to its end")
	}
	return body, nil
}

// readObject reads a body that must be one JSON object. digest is the same for two bodies that say the
// same in other bytes (order of members, white space), so that a client may encode a retry anew.
func readObject(w http.ResponseWriter, r *http.Request) (fields map[string]json.RawMessage, digest string, problem *apiError) {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != "application/json" {
		return nil, "", failure(http.StatusUnsupportedMediaType, "unsupported_media_type", "Content-Type must be application/json")
	}
	body, problem := readBody(w, r)
	if problem != nil {
		return nil, "", problem
	}
	if !utf8.Valid(body) {
		return nil, "", failure(http.StatusBadRequest, "invalid_json", "the body must be UTF-8")
	}
	if err := json.Unmarshal(body, &fields); err != nil || fields == nil {
		return nil, "", failure(http.StatusBadRequest, "invalid_json", "the body must be one JSON object")
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var whole any
	if err := decoder.Decode(&whole); err != nil {
		return nil, "", failure(http.StatusBadRequest, "invalid_json", "the body must be one JSON object")
	}
	canonical, err := json.Marshal(whole)
	if err != nil {
		return nil, "", failure(http.StatusBadRequest, "invalid_json", "the body must be one JSON object")
	}
	sum := sha256.Sum256(canonical)
	return fields, hex.EncodeToString(sum[:]), nil
}

func stringField(fields map[string]json.RawMessage, name string, required bool, to *string) *apiError {
	raw, ok := fields[name]
	if !ok {
		if required {
			return invalid(name, name+" is missing")
		}
		return nil
	}
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, to) != nil || *to == "" {
		return invalid(name, name+" must be a string that is not empty")
	}
	return nil
}
