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
		{method: "POST", pattern: "/v1/workspaces/{workspace_id}/files/upload-url", name: "upload-url", handle: s.createUpload},
		{method: "GET", pattern: "/v1/files/{file_id}", name: "file", handle: s.readFile},
		{method: "PATCH", pattern: "/v1/files/{file_id}", name: "report", handle: s.reportFile},
	}
	if s.cfg.Faults {
		routes = append(routes,
			route{method: "GET", pattern: "/debug/turns", keyless: true, handle: s.debugTurns},
			route{method: "GET", pattern: "/debug/requests", keyless: true, handle: s.debugRequests},
			route{method: "GET", pattern: "/debug/storage", keyless: true, handle: s.debugStorage},
		)
	}
	return routes
}

func (s *Service) routes() http.Handler {
	mux := http.NewServeMux()
	byPattern := map[string][]route{}
	for _, rt := range s.table() {
		byPattern[rt.pattern] = append(byPattern[rt.pattern], rt)
	}
	for pattern, routes := range byPattern {
		mux.Handle(pattern, s.endpoint(routes))
	}
	if own, ok := s.cfg.Storage.(StorageServer); ok {
		mux.Handle("/storage/", s.serveStorage(own))
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		writeError(w, failure(http.StatusNotFound, "unknown_path", "there is no endpoint "+r.URL.Path))
	})
	return s.observe(mux)
}

// observe gives every request its id and its log record, and the answer what a page needs to read it.
func (s *Service) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		started := time.Now()
		id := newID("req")
		h := w.Header()
		h.Set("X-Request-Id", id)
		h.Set("Cache-Control", "no-store")
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
		if s.admit(rec, r) {
			next.ServeHTTP(rec, r)
		}
	})
}

// endpoint serves the routes of one path.
func (s *Service) endpoint(routes []route) http.Handler {
	allowed := "Authorization, Content-Type, Idempotency-Key, Last-Event-ID"
	if s.cfg.Faults {
		allowed += ", X-Fault"
	}
	var list []string
	for _, rt := range routes {
		list = append(list, rt.method)
	}
	methods := strings.Join(list, ", ")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.cfg.Faults && !routes[0].keyless {
			s.debug.request(r.Method + " " + routes[0].pattern)
		}
		for _, rt := range routes {
			if r.Method == rt.method {
				s.serve(w, r, rt)
				return
			}
		}
		if r.Method == http.MethodOptions {
			h := w.Header()
			h.Set("Access-Control-Allow-Methods", methods)
			h.Set("Access-Control-Allow-Headers", allowed)
			h.Set("Access-Control-Max-Age", "600")
			w.WriteHeader(http.StatusNoContent)
			return
		}
		w.Header().Set("Allow", methods+", OPTIONS")
		writeError(w, failure(http.StatusMethodNotAllowed, "method_not_allowed", "this endpoint takes "+methods))
	})
}

func (s *Service) serve(w http.ResponseWriter, r *http.Request, rt route) {
	f := &faults{}
	if s.cfg.Faults && !rt.keyless {
		name := rt.name
		var problem *apiError
		switch name {
		case "messages":
			s.debug.keyed(r.PathValue("chat_id"), r.Header.Get("Idempotency-Key"))
		case "upload-url":
			var again bool
			if again, problem = renews(w, r); again {
				name = "renewal"
			}
		}
		if problem == nil {
			f, problem = s.faultsFor(r, name)
		}
		if problem != nil {
			writeError(w, problem)
			return
		}
		if f.answer(w, r, s.closing) {
			return
		}
	}
	if f.has(faultLost) {
		defer refuse(w)
		w = &heldAnswer{header: w.Header().Clone()}
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
