package service

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
	"time"
)

// route is one endpoint. handle writes the answer or returns the error to answer with.
type route struct {
	method, pattern string
	name            string
	keyless         bool
	handle          func(w http.ResponseWriter, r *http.Request, f *faults) *apiError
}

func (s *Service) table() []route {
	routes := []route{
		{method: "POST", pattern: "/v1/workspaces/{workspace_id}/chats", name: "chats", handle: s.createChat},
		{method: "POST", pattern: "/v1/chats/{chat_id}/messages", name: "messages", handle: s.sendMessage},
		{method: "POST", pattern: "/v1/chats/{chat_id}/abort", name: "abort", handle: s.abort},
	}
	if s.cfg.Faults {
		routes = append(routes,
			route{method: "GET", pattern: "/debug/turns", keyless: true, handle: s.debugTurns},
			route{method: "GET", pattern: "/debug/requests", keyless: true, handle: s.debugRequests},
		)
	}
	return routes
}

func (s *Service) routes() http.Handler {
	mux := http.NewServeMux()
	for _, rt := range s.table() {
		mux.Handle(rt.pattern, s.endpoint(rt))
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		writeError(w, failure(http.StatusNotFound, "unknown_path", "there is no endpoint "+r.URL.Path))
	})
	return s.observe(mux)
}

// observe gives every request its id and its log record, and the answer what a page of any origin
// needs to read it: the key travels in a header that only scripts set, so any origin is safe.
func (s *Service) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		started := time.Now()
		id := newID("req")
		h := w.Header()
		h.Set("X-Request-Id", id)
		h.Set("Cache-Control", "no-store")
		h.Set("Access-Control-Allow-Origin", "*")
		h.Set("Access-Control-Expose-Headers", "x-request-id, retry-after")
		if s.cfg.Faults {
			// Browsers and Go resend by themselves what dies on a kept-alive connection, so that a
			// refused request would never be seen as refused.
			h.Set("Connection", "close")
		}
		rec := &recorder{ResponseWriter: w}
		defer func() {
			s.log.LogAttrs(context.WithoutCancel(r.Context()), logLevel(rec.status), "request",
				attrs("method", r.Method, "path", r.URL.Path, "status", rec.status,
					"ms", time.Since(started).Milliseconds(), "request_id", id)...)
		}()
		next.ServeHTTP(rec, r)
	})
}

func (s *Service) endpoint(rt route) http.Handler {
	allowed := "Authorization, Content-Type, Idempotency-Key, Last-Event-ID"
	if s.cfg.Faults {
		allowed += ", X-Fault"
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.cfg.Faults && !rt.keyless {
			s.debug.request(r.Method + " " + rt.pattern)
			if r.Method == rt.method && rt.name == "messages" {
				s.debug.keyed(r.PathValue("chat_id"), r.Header.Get("Idempotency-Key"))
			}
		}
		switch r.Method {
		case rt.method:
		case http.MethodOptions:
			h := w.Header()
			h.Set("Access-Control-Allow-Methods", rt.method)
			h.Set("Access-Control-Allow-Headers", allowed)
			h.Set("Access-Control-Max-Age", "600")
			w.WriteHeader(http.StatusNoContent)
			return
		default:
			w.Header().Set("Allow", rt.method+", OPTIONS")
			writeError(w, failure(http.StatusMethodNotAllowed, "method_not_allowed", "this endpoint takes "+rt.method))
			return
		}
		f := &faults{}
		if s.cfg.Faults && !rt.keyless {
			var problem *apiError
			if f, problem = s.faultsFor(r, rt.name); problem != nil {
				writeError(w, problem)
				return
			}
			if f.answer(w, r, s.closing) {
				return
			}
		}
		problem := s.authorize(r)
		if rt.keyless {
			problem = nil
		}
		if problem == nil {
			problem = rt.handle(w, r, f)
		}
		if problem != nil {
			writeError(w, problem)
		}
	})
}

// authorize checks the bearer key. Keys are compared by hash, so that time tells nothing about them.
func (s *Service) authorize(r *http.Request) *apiError {
	scheme, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") || key == "" {
		return failure(http.StatusUnauthorized, "missing_api_key", "the header Authorization must be: Bearer <API_KEY>")
	}
	sum := sha256.Sum256([]byte(strings.TrimSpace(key)))
	known := 0
	for i := range s.keys {
		known |= subtle.ConstantTimeCompare(sum[:], s.keys[i][:])
	}
	if known == 0 {
		return failure(http.StatusUnauthorized, "invalid_api_key", "the API key is not known")
	}
	return nil
}
