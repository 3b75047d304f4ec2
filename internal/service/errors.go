package service

import (
	"encoding/json"
	"net/http"
)

// apiError is an answer that is not 2xx. The spec shows no error body; the profile reads this one.
type apiError struct {
	Status  int    `json:"-"`
	Type    string `json:"type"`
	Code    string `json:"code"`
	Message string `json:"message"`
	// Param names the field of the request that is wrong, where there is one.
	Param     string `json:"param,omitempty"`
	RequestID string `json:"request_id"`
	// retryAfter is the Retry-After header's value.
	retryAfter string
}

func (e *apiError) Error() string { return e.Code + ": " + e.Message }

var errorTypes = map[int]string{
	http.StatusUnauthorized:        "authentication_error",
	http.StatusNotFound:            "not_found_error",
	http.StatusConflict:            "conflict_error",
	http.StatusTooManyRequests:     "rate_limit_error",
	http.StatusServiceUnavailable:  "unavailable_error",
	http.StatusInternalServerError: "internal_error",
}

func failure(status int, code, message string) *apiError {
	kind, ok := errorTypes[status]
	switch {
	case ok:
	case status >= 500:
		kind = "internal_error"
	default:
		kind = "invalid_request_error"
	}
	return &apiError{Status: status, Type: kind, Code: code, Message: message}
}

func invalid(param, message string) *apiError {
	e := failure(http.StatusUnprocessableEntity, "invalid_field", message)
	e.Param = param
	return e
}

func unavailable(code, message string) *apiError {
	e := failure(http.StatusServiceUnavailable, code, message)
	e.retryAfter = "1"
	return e
}

func writeError(w http.ResponseWriter, e *apiError) {
	shown := *e
	shown.RequestID = w.Header().Get("X-Request-Id")
	if e.retryAfter != "" {
		w.Header().Set("Retry-After", e.retryAfter)
	}
	if e.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	writeJSON(w, e.Status, map[string]any{"error": shown})
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	encoded, err := json.Marshal(body)
	if err != nil {
		http.Error(w, "encode answer", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// The client having left is no concern of the answer.
	_, _ = w.Write(append(encoded, '\n'))
}
