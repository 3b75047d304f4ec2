package service

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The faults that a request may ask for, by the header X-Fault or the query parameter fault, whose
// value is a query string of its own: "status=503&retry_after=1&times=2". Several, split by ";", each
// have their own on, times and after: "status=503&on=report&times=1;cut_bytes=9&on=block".
const (
	faultTimes = "times" // only the first K requests with this Idempotency-Key, or with this X-Fault to this path where there is no key
	faultAfter = "after" // only once K such requests have gone by
	faultOn    = "on"    // only this endpoint, or this operation of the own storage for the file of the upload-url request
	faultTag   = "tag"   // nothing but another X-Fault, which is counted for itself

	faultDelay      = "delay_ms"     // before anything else
	faultRefuse     = "refuse"       // connection reset without an answer
	faultLost       = "lost_answer"  // connection reset instead of the answer, once all is done
	faultRedirect   = "redirect"     // 307 to this address
	faultStatus     = "status"       // this status instead of an answer
	faultRetryAfter = "retry_after"  // with status: the header Retry-After, seconds or a date
	faultErrorBody  = "error_body"   // with status: json (default), html or empty
	faultType       = "content_type" // 200 with an HTML page under this Content-Type
	faultChatBody   = "chat_body"    // created chat as id, nested, none or html

	faultCutBytes    = "cut_bytes"    // connection broken after N bytes of the body
	faultCutEvents   = "cut_events"   // connection broken after N events
	faultCloseEvents = "close_events" // clean end after N events
	faultStallEvents = "stall_events" // N events, then nothing, not even heartbeats, until the client leaves
	faultErrorEvents = "error_events" // N events, then an error event; fails the turn that the request starts
	faultBrokenJSON  = "broken_json"  // event N is not JSON
	faultPace        = "pace_ms"      // the pace of the turn that the request starts
	faultHeartbeat   = "heartbeat_ms"
	faultSlowChunks  = "slow_chunks_ms" // small writes at arbitrary bytes, N ms apart
	faultByteByByte  = "byte_by_byte"
	faultOneChunk    = "one_chunk"     // the whole body in one write at the end
	faultEncoding    = "encoding"      // event: the type in the SSE event field
	faultNoIDs       = "no_ids"        // no id fields
	faultResplit     = "resplit"       // a replay cuts the text in other places
	faultDiffer      = "differ"        // a replay says something else
	faultReplayAll   = "replay_all"    // Last-Event-ID is not understood
	faultNoLastBlank = "no_last_blank" // the last blank line is missing
	faultDoneMarker  = "done_marker"   // "data: [DONE]" after turn_complete

	faultExpires         = "expires_ms"       // the signed address is good for N ms
	faultTicket          = "ticket"           // the shape of upload-url's answer
	faultOtherFile       = "other_file"       // a renewal gives another file
	faultFileStatus      = "file_status"      // the record shows this status
	faultProcessing      = "processing_ms"    // processing takes N ms more; on the report
	faultProcessingError = "processing_error" // processing fails with this text; on the report

	// Of the storage's operations, beside status, retry_after, refuse, delay_ms, lost_answer and cut_bytes,
	// which counts the bytes of the request there.
	faultStallBytes = "stall_bytes" // nothing is read after N bytes
	faultRate       = "bytes_per_s" // the body is read at this rate
	faultCorrupt    = "corrupt"     // one bit of what arrives is stored otherwise
)

var faultFlags = []string{faultRefuse, faultByteByByte, faultOneChunk, faultNoIDs, faultResplit, faultDiffer, faultReplayAll, faultNoLastBlank, faultDoneMarker,
	faultLost, faultOtherFile, faultCorrupt}

// faultNumbers holds the numeric faults and their highest values.
var faultNumbers = map[string]int{
	faultTimes: 1 << 30, faultAfter: 1 << 30, faultDelay: 600_000, faultStatus: 599,
	faultCutBytes: 1 << 30, faultCutEvents: 1 << 30, faultCloseEvents: 1 << 30, faultStallEvents: 1 << 30,
	faultErrorEvents: 1 << 30, faultBrokenJSON: 1 << 30,
	faultPace: 86_400_000, faultHeartbeat: 86_400_000, faultSlowChunks: 600_000,
	faultExpires: 86_400_000, faultProcessing: 86_400_000, faultStallBytes: 1 << 30, faultRate: 1 << 30,
}

// faultLeast holds the lowest values that are not 0.
var faultLeast = map[string]int{faultStatus: 200, faultRate: 1}

// faultWords holds the faults that take one of some words.
var faultWords = map[string][]string{
	faultOn:        append([]string{"chats", "messages", "abort", "upload-url", "renewal", "report", "file"}, storageOperations...),
	faultErrorBody: {"json", "html", "empty"},
	faultChatBody:  {"id", "nested", "none", "html"},
	faultEncoding:  {"event"},
	faultTicket:    ticketShapes,
}

var faultTexts = []string{faultRedirect, faultRetryAfter, faultType, faultTag, faultFileStatus, faultProcessingError}

// faults are those of one request; the zero value has none.
type faults struct {
	values map[string]string
	// storage are those for the storage's operations on the file of the request.
	storage []map[string]string
}

func (f *faults) has(name string) bool { _, ok := f.values[name]; return ok }

// number returns a numeric fault, -1 where it was not asked for.
func (f *faults) number(name string) int {
	n, err := strconv.Atoi(f.values[name])
	if err != nil {
		return -1
	}
	return n
}

func (f *faults) durationOr(name string, other time.Duration) time.Duration {
	if n := f.number(name); n >= 0 {
		return time.Duration(n) * time.Millisecond
	}
	return other
}

// parseFaults reads the value of X-Fault and of the query parameter fault.
func parseFaults(sources ...string) ([]map[string]string, error) {
	var groups []map[string]string
	for source := range strings.SplitSeq(strings.Join(sources, ";"), ";") {
		query, err := url.ParseQuery(strings.TrimSpace(source))
		if err != nil {
			return nil, errors.New("a fault's value must be in query-string syntax")
		}
		group := map[string]string{}
		for _, name := range slices.Sorted(maps.Keys(query)) {
			value := query.Get(name)
			if err := checkFault(name, value); err != nil {
				return nil, err
			}
			// flag=0 is a flag that is not set.
			if slices.Contains(faultFlags, name) && value == "0" {
				continue
			}
			group[name] = value
		}
		groups = append(groups, group)
	}
	return groups, nil
}

func checkFault(name, value string) error {
	if slices.Contains(faultFlags, name) {
		if value != "0" && value != "1" {
			return fmt.Errorf("fault %s must be 1 or 0", name)
		}
		return nil
	}
	if most, ok := faultNumbers[name]; ok {
		least := faultLeast[name]
		if n, err := strconv.Atoi(value); err != nil || n < least || n > most {
			return fmt.Errorf("fault %s must be a whole number from %d to %d", name, least, most)
		}
		return nil
	}
	if words, ok := faultWords[name]; ok {
		if !slices.Contains(words, value) {
			return fmt.Errorf("fault %s must be one of %s", name, strings.Join(words, ", "))
		}
		return nil
	}
	if slices.Contains(faultTexts, name) {
		if value == "" {
			return fmt.Errorf("fault %s must not be empty", name)
		}
		return nil
	}
	return fmt.Errorf("unknown fault %q", name)
}

// lastingFaults say how the service speaks; times does not limit them, so that they can be mixed with
// a cut of the first stream only. Those about replays would have no use otherwise.
var lastingFaults = []string{faultEncoding, faultNoIDs, faultResplit, faultDiffer, faultReplayAll}

// faultsFor returns what applies to a request.
func (s *Service) faultsFor(r *http.Request, endpoint string) (*faults, *apiError) {
	header, query := r.Header.Get("X-Fault"), r.URL.Query().Get("fault")
	f := &faults{values: map[string]string{}}
	if header == "" && query == "" {
		return f, nil
	}
	groups, err := parseFaults(header, query)
	if err != nil {
		return nil, failure(http.StatusBadRequest, "unknown_fault", err.Error())
	}
	source := endpoint + "\n" + r.Header.Get("Idempotency-Key")
	if endpoint != "messages" {
		source = endpoint + "\n" + r.URL.Path + "\n" + header + "\n" + query
	}
	for i, group := range groups {
		switch on := group[faultOn]; {
		case slices.Contains(storageOperations, on):
			f.storage = append(f.storage, group)
		case on == "" || on == endpoint:
			maps.Copy(f.values, s.due(group, source+"\n"+strconv.Itoa(i)))
		}
	}
	return f, nil
}

// due counts a request that a group of faults is for, and returns what is left of the group: with times
// and after, lastingFaults at least.
func (s *Service) due(group map[string]string, source string) map[string]string {
	f := &faults{values: maps.Clone(group)}
	if f.has(faultTimes) || f.has(faultAfter) {
		n := s.debug.faulted(source) - max(0, f.number(faultAfter))
		if n < 1 || f.has(faultTimes) && n > f.number(faultTimes) {
			maps.DeleteFunc(f.values, func(name, _ string) bool { return !slices.Contains(lastingFaults, name) })
		}
	}
	return f.values
}

// answer performs the faults that come instead of the service's own answer, and tells whether one did.
func (f *faults) answer(w http.ResponseWriter, r *http.Request, closing <-chan struct{}) bool {
	if delay := f.durationOr(faultDelay, 0); delay > 0 {
		// The server notices that a client leaves only once the body has been read.
		body, problem := readBody(w, r)
		if problem != nil {
			writeError(w, problem)
			return true
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		timer := time.NewTimer(delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-closing:
		case <-r.Context().Done():
			return true
		}
	}
	switch {
	case f.has(faultRefuse):
		refuse(w)
	case f.has(faultRedirect):
		w.Header().Set("Location", f.values[faultRedirect])
		w.WriteHeader(http.StatusTemporaryRedirect)
	case f.has(faultStatus):
		f.writeStatus(w, f.number(faultStatus))
	case f.has(faultType):
		w.Header().Set("Content-Type", f.values[faultType])
		w.WriteHeader(http.StatusOK)
		_, _ = w.Write([]byte(faultPage))
	default:
		return false
	}
	return true
}

const faultPage = "<!doctype html>\n<title>Not the service</title>\n<h1>A page from something in between</h1>\n"

func (f *faults) writeStatus(w http.ResponseWriter, status int) {
	after := f.values[faultRetryAfter]
	switch f.values[faultErrorBody] {
	case "html":
		if after != "" {
			w.Header().Set("Retry-After", after)
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(faultPage))
	case "empty":
		if after != "" {
			w.Header().Set("Retry-After", after)
		}
		w.WriteHeader(status)
	default:
		e := failure(status, "fault", fmt.Sprintf("status %d, as the request asked for", status))
		e.retryAfter = after
		writeError(w, e)
	}
}

// writeChat answers a created chat, in the shape that chat_body asks for.
func (f *faults) writeChat(w http.ResponseWriter, id string, record map[string]any) {
	switch f.values[faultChatBody] {
	case "id":
		writeJSON(w, http.StatusCreated, map[string]any{"id": id})
	case "nested":
		writeJSON(w, http.StatusCreated, map[string]any{"chat": map[string]any{"chat_id": id}})
	case "none":
		delete(record, "chat_id")
		writeJSON(w, http.StatusCreated, record)
	case "html":
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write([]byte(faultPage))
	default:
		writeJSON(w, http.StatusCreated, record)
	}
}
