package proxy

import (
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"
)

// ErrForbidden is for Config.Authorize to return, also wrapped: the caller is known, and may not use the service. He is
// answered 403; any other error says that nobody knows who he is, and is answered 401.
var ErrForbidden = errors.New("the caller may not use the service")

// A refusal is an answer of the proxy's own, in the form of the service's errors.
type refusal struct {
	status        int
	code, message string
	// param names the member of the request's body that is wrong, where there is one.
	param string
	// after is how long the caller should wait, for Retry-After.
	after time.Duration
	// allow is the header Allow of a 405.
	allow string
	// cause goes to the log, never to the caller.
	cause error
}

func (r *refusal) Error() string { return r.code + ": " + r.message }

func refuse(status int, code, message string) *refusal {
	return &refusal{status: status, code: code, message: message}
}

func invalid(param, message string) *refusal {
	return &refusal{status: http.StatusUnprocessableEntity, code: "invalid_field", message: message, param: param}
}

var kinds = map[int]string{
	http.StatusUnauthorized:       "authentication_error",
	http.StatusForbidden:          "permission_error",
	http.StatusNotFound:           "not_found_error",
	http.StatusTooManyRequests:    "rate_limit_error",
	http.StatusServiceUnavailable: "unavailable_error",
	http.StatusBadGateway:         "upstream_error",
	http.StatusGatewayTimeout:     "upstream_error",
}

// write answers with the refusal.
func (r *refusal) write(w http.ResponseWriter) {
	kind, ok := kinds[r.status]
	if !ok {
		kind = "invalid_request_error"
	}
	h := w.Header()
	switch {
	case r.status == http.StatusUnauthorized:
		h.Set("WWW-Authenticate", "Bearer")
	case r.allow != "":
		h.Set("Allow", r.allow)
	case r.after > 0:
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(r.after.Seconds()))))
	}
	body, err := json.Marshal(map[string]any{"error": struct {
		Type      string `json:"type"`
		Code      string `json:"code"`
		Message   string `json:"message"`
		Param     string `json:"param,omitempty"`
		RequestID string `json:"request_id"`
	}{kind, r.code, r.message, r.param, h.Get(requestID)}})
	if err != nil {
		panic(err) // strings always have a JSON form
	}
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)+1))
	w.WriteHeader(r.status)
	// The caller's having left is no concern of the answer.
	_, _ = w.Write(append(body, '\n'))
}
