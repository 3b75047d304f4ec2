package service_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed-76f09577/turnwire/internal/service"
)

const counted = "count to 5"

// plain is what "count to 5" as the first message of a chat looks like: 3 of reasoning, 5 of text, the end.
const plain = 9

func TestFaultsInsteadOfAnAnswer(t *testing.T) {
	cases := map[string]struct {
		fault       string
		status      int
		contentType string
		header      [2]string
		body        string
	}{
		"status":               {"status=503", 503, "application/json", [2]string{}, `"code":"fault"`},
		"retry after seconds":  {"status=429&retry_after=1", 429, "application/json", [2]string{"Retry-After", "1"}, `"type":"rate_limit_error"`},
		"retry after a date":   {"status=503&retry_after=Wed,%2021%20Oct%202026%2007:28:00%20GMT", 503, "application/json", [2]string{"Retry-After", "Wed, 21 Oct 2026 07:28:00 GMT"}, "fault"},
		"html error":           {"status=502&error_body=html&retry_after=2", 502, "text/html; charset=utf-8", [2]string{"Retry-After", "2"}, "<h1>"},
		"empty error":          {"status=500&error_body=empty&retry_after=3", 500, "", [2]string{"Retry-After", "3"}, ""},
		"html with 200":        {"content_type=text/html", 200, "text/html", [2]string{}, "<h1>"},
		"redirect":             {"redirect=https://other.example/x", 307, "", [2]string{"Location", "https://other.example/x"}, ""},
		"delay, then a status": {"delay_ms=1&status=503", 503, "application/json", [2]string{}, "fault"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := serve(t)
			chat := s.chat()
			for _, path := range []string{"/v1/chats/" + chat + "/messages", "/v1/workspaces/demo/chats", "/v1/chats/" + chat + "/abort"} {
				resp, body := s.call("POST", path, message(counted), "Idempotency-Key", "k", "X-Fault", c.fault)
				require.Equal(t, c.status, resp.StatusCode)
				require.Equal(t, c.contentType, resp.Header.Get("Content-Type"))
				if c.header[0] != "" {
					require.Equal(t, c.header[1], resp.Header.Get(c.header[0]))
				}
				require.NotEmpty(t, resp.Header.Get("X-Request-Id"))
				require.Contains(t, body, c.body)
			}
			require.Empty(t, s.turns())
		})
	}
}

func TestFaultRefuse(t *testing.T) {
	s := serve(t)
	chat := s.chat()
	_, err := s.do(t.Context(), "POST", "/v1/chats/"+chat+"/messages", message(counted), "Idempotency-Key", "k", "X-Fault", "refuse=1&times=1")
	require.Error(t, err)
	require.Len(t, s.send(chat, "k", counted, "X-Fault", "refuse=1&times=1").whole(), plain)
	require.Equal(t, 2, s.turns()[0].Requests)
}

func TestFaultTimes(t *testing.T) {
	s := serve(t)
	chat := s.chat()
	const fault = "status=503&times=2"
	at := map[string]string{
		"messages": "/v1/chats/" + chat + "/messages",
		"chats":    "/v1/workspaces/demo/chats",
		"abort":    "/v1/chats/" + chat + "/abort",
	}
	body := `{"agent_id":"assistant","parts":[{"type":"text","text":"count to 1"}]}`
	for name, path := range at {
		t.Run(name, func(t *testing.T) {
			for _, want := range []int{503, 503, 2} {
				resp, _ := s.call("POST", path, body, "Idempotency-Key", "k", "X-Fault", fault)
				if want == 2 {
					require.Equal(t, 2, resp.StatusCode/100)
				} else {
					require.Equal(t, want, resp.StatusCode)
				}
			}
		})
	}
	resp, _ := s.call("POST", at["messages"], body, "Idempotency-Key", "k2", "X-Fault", fault)
	require.Equal(t, 503, resp.StatusCode, "each key counts for itself")
	resp, _ = s.call("POST", at["abort"], "", "X-Fault", fault+"&delay_ms=0")
	require.Equal(t, 503, resp.StatusCode, "each fault counts for itself")
}

func TestFaultOnAnEndpoint(t *testing.T) {
	s := serve(t)
	resp, _ := s.call("POST", "/v1/workspaces/demo/chats", `{"agent_id":"assistant"}`, "X-Fault", "status=503&on=messages")
	require.Equal(t, 201, resp.StatusCode)
	resp, _ = s.call("POST", "/v1/workspaces/demo/chats", `{"agent_id":"assistant"}`, "X-Fault", "status=503&on=chats")
	require.Equal(t, 503, resp.StatusCode)
}

func TestFaultInTheQuery(t *testing.T) {
	s := serve(t)
	resp, _ := s.call("POST", "/v1/workspaces/demo/chats?fault=status%3D503%26retry_after%3D1", `{"agent_id":"assistant"}`)
	require.Equal(t, 503, resp.StatusCode)
	require.Equal(t, "1", resp.Header.Get("Retry-After"))
}

func TestFaultsAreChecked(t *testing.T) {
	s := serve(t)
	cases := map[string]struct{ fault, says string }{
		"unknown":      {"status=503&exploode=1", `unknown fault "exploode"`},
		"not a number": {"cut_bytes=many", "fault cut_bytes must be a whole number from 0 to 1073741824"},
		"negative":     {"delay_ms=-1", "fault delay_ms must be a whole number from 0 to 600000"},
		"bad status":   {"status=99", "fault status must be a whole number from 200 to 599"},
		"bad flag":     {"refuse=yes", "fault refuse must be 1 or 0"},
		"bad word":     {"error_body=xml", "fault error_body must be one of json, html, empty"},
		"no address":   {"redirect=", "fault redirect must not be empty"},
		"bad syntax":   {"a=%zz", "a fault's value must be in query-string syntax"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			resp, body := s.call("POST", "/v1/workspaces/demo/chats", `{"agent_id":"assistant"}`, "X-Fault", c.fault)
			require.Equal(t, 400, resp.StatusCode)
			require.Equal(t, "unknown_fault", errorCode(t, resp, body))
			encoded, err := json.Marshal(c.says)
			require.NoError(t, err)
			require.Contains(t, body, string(encoded))
		})
	}
	resp, _ := s.call("POST", "/v1/workspaces/demo/chats", `{"agent_id":"assistant"}`, "X-Fault", "refuse=0&byte_by_byte=0")
	require.Equal(t, 201, resp.StatusCode)
}

func TestFaultsOfACreatedChat(t *testing.T) {
	s := serve(t)
	for shape, pattern := range map[string]string{
		"id":     `^\{"id":"chat_[0-9a-f-]{36}"\}\n$`,
		"nested": `^\{"chat":\{"chat_id":"chat_[0-9a-f-]{36}"\}\}\n$`,
		"none":   `^\{"agent_id":"assistant","created_at":"[^"]+","is_temporary":false,"workspace_id":"demo"\}\n$`,
		"html":   `^<!doctype html>`,
	} {
		t.Run(shape, func(t *testing.T) {
			resp, body := s.call("POST", "/v1/workspaces/demo/chats", `{"agent_id":"assistant"}`, "X-Fault", "chat_body="+shape)
			require.Equal(t, 201, resp.StatusCode)
			require.Regexp(t, pattern, body)
		})
	}
}

func TestFaultsOfTheEnd(t *testing.T) {
	cases := map[string]struct {
		fault  string
		events int
		broken bool
		last   string
	}{
		"no event, reset":              {"cut_events=0", 0, true, ""},
		"some events, reset":           {"cut_events=4", 4, true, "text_delta"},
		"all events, reset":            {"cut_events=9", plain, true, "turn_complete"},
		"more events than there are":   {"cut_events=10", plain, false, "turn_complete"},
		"no event, clean end":          {"close_events=0", 0, false, ""},
		"some events, clean end":       {"close_events=4", 4, false, "text_delta"},
		"error at once":                {"error_events=0", 1, false, "error"},
		"error after some":             {"error_events=4", 5, false, "error"},
		"cut of what one_chunk held":   {"one_chunk=1&cut_bytes=200", 2, true, ""},
		"clean end of one_chunk":       {"one_chunk=1&close_events=4", 4, false, "text_delta"},
		"reset before one_chunk wrote": {"one_chunk=1&cut_events=4", 0, true, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := serve(t)
			frames, err := s.send(s.chat(), "k", counted, "X-Fault", c.fault).rest()
			require.Equal(t, c.broken, err != nil, "%v", err)
			require.Len(t, frames, c.events)
			if c.last != "" {
				require.Equal(t, c.last, kinds(t, frames)[len(frames)-1])
			}
		})
	}
}

func TestFaultError(t *testing.T) {
	s := serve(t)
	chat := s.chat()
	frames := s.send(chat, "k", counted, "X-Fault", "error_events=4").whole()
	_, data := frames[4].typed(t)
	require.Equal(t, "model_overloaded", data["code"])
	require.Equal(t, "failed", s.turns()[0].Status)
	require.Equal(t, frames, s.send(chat, "k", counted).whole(), "the turn itself failed")

	whole := s.send(chat, "k2", counted).whole()
	replay := s.send(chat, "k2", counted, "X-Fault", "error_events=2").whole()
	require.Equal(t, whole[:2], replay[:2])
	require.Equal(t, []string{"error"}, kinds(t, replay[2:]))
	require.Equal(t, "completed", s.turns()[1].Status)
}

func TestFaultCutBytes(t *testing.T) {
	s := serve(t)
	chat := s.chat()
	whole, err := io.ReadAll(s.send(chat, "k", counted).resp.Body)
	require.NoError(t, err)
	for _, n := range []int{0, 1, 57, 100, len(whole) - 1, len(whole)} {
		for _, shape := range []string{"", "&byte_by_byte=1", "&slow_chunks_ms=0", "&one_chunk=1"} {
			resp := s.send(chat, "k", counted, "X-Fault", "cut_bytes="+strconv.Itoa(n)+shape).resp
			read, err := io.ReadAll(resp.Body)
			require.Error(t, err)
			require.Equal(t, string(whole[:n]), string(read))
		}
	}
	read, err := io.ReadAll(s.send(chat, "k", counted, "X-Fault", "cut_bytes="+strconv.Itoa(len(whole)+1)).resp.Body)
	require.NoError(t, err)
	require.Equal(t, whole, read)
}

func TestFaultStall(t *testing.T) {
	s := serve(t)
	chat := s.chat()
	stream := s.send(chat, "k", counted, "X-Fault", "stall_events=2&heartbeat_ms=1")
	stream.next()
	stream.next()
	// The turn goes on without its stream, and is over for all others.
	require.Len(t, s.send(chat, "k", counted).whole(), plain)
	require.NotContains(t, s.logs.String(), stream.resp.Header.Get("X-Request-Id"))
	stream.leave()
	s.ended(stream)
}

func TestFaultStallEndsWithTheService(t *testing.T) {
	s := serve(t)
	stream := s.send(s.chat(), "k", counted, "X-Fault", "stall_events=0")
	s.stop()
	require.Empty(t, stream.whole())
}

func TestFaultDelayEndsWithTheClient(t *testing.T) {
	s := serve(t)
	path := "/v1/chats/" + s.chat() + "/messages"
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error)
	go func() {
		_, err := s.do(ctx, "POST", path, message(counted), "Idempotency-Key", "k", "X-Fault", "delay_ms=600000")
		failed <- err
	}()
	for counts := ""; !strings.Contains(counts, "messages"); {
		_, counts = s.call("GET", "/debug/requests", "")
	}
	cancel()
	require.ErrorIs(t, <-failed, context.Canceled)
	s.logs.wait(t, "request", map[string]any{"path": path})
	require.Empty(t, s.turns())
}

// TestFaultsOfTheShape has those that change the bytes, not what they say.
func TestFaultsOfTheShape(t *testing.T) {
	s := serve(t)
	chat := s.chat()
	read := func(fault string) string {
		t.Helper()
		body, err := io.ReadAll(s.send(chat, "k", counted, "X-Fault", fault).resp.Body)
		require.NoError(t, err)
		return string(body)
	}
	whole := read("")
	require.Equal(t, plain, strings.Count(whole, "id: "))
	cases := map[string]struct {
		fault string
		want  string
	}{
		"bytes":            {"byte_by_byte=1", whole},
		"slow chunks":      {"slow_chunks_ms=0", whole},
		"slower chunks":    {"slow_chunks_ms=1", whole},
		"one chunk":        {"one_chunk=1", whole},
		"no last blank":    {"no_last_blank=1", strings.TrimSuffix(whole, "\n")},
		"done marker":      {"done_marker=1", whole + "data: [DONE]\n\n"},
		"done, no blank":   {"done_marker=1&no_last_blank=1", whole + "data: [DONE]\n"},
		"flags that are 0": {"one_chunk=0&no_ids=0", whole},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, read(c.fault)) })
	}
	t.Run("no ids", func(t *testing.T) {
		bare := read("no_ids=1")
		require.NotContains(t, bare, "id: ")
		require.Equal(t, plain, strings.Count(bare, "data: "))
	})
	t.Run("broken JSON", func(t *testing.T) {
		for i, line := range dataLines(read("broken_json=4")) {
			require.Equal(t, i != 3, json.Valid([]byte(line)), line)
		}
		for i, line := range dataLines(read("broken_json=9&encoding=event")) {
			require.Equal(t, i != 8, json.Valid([]byte(line)), line)
		}
	})
	t.Run("the other encoding", func(t *testing.T) {
		plainFrames := s.send(chat, "k", counted).whole()
		other := s.send(chat, "k", counted, "X-Fault", "encoding=event").whole()
		for i := range other {
			kind, data := other[i].typed(t)
			wantKind, wantData := plainFrames[i].typed(t)
			require.Equal(t, wantKind, other[i].event)
			require.Equal(t, wantKind, kind)
			require.Equal(t, wantData, data)
		}
	})
}

func dataLines(body string) []string {
	var lines []string
	for line := range strings.Lines(body) {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			lines = append(lines, strings.TrimSpace(data))
		}
	}
	return lines
}

func TestFaultsOfAReplay(t *testing.T) {
	s := serve(t)
	chat := s.chat()
	const prose = "write 120 words"
	first, err := s.send(chat, "k", prose, "X-Fault", "cut_events=20&times=1&resplit=1&no_ids=1").rest()
	require.Error(t, err)
	require.Len(t, first, 20)
	require.Empty(t, first[0].id)
	whole := s.send(chat, "k", prose).whole()
	require.Equal(t, text(t, whole[:20], service.TextDelta), text(t, first, service.TextDelta), "a first stream is not cut otherwise")

	t.Run("resplit", func(t *testing.T) {
		again := s.send(chat, "k", prose, "X-Fault", "cut_events=20&times=1&resplit=1&no_ids=1").whole()
		require.Empty(t, again[0].id, "times does not limit how the service speaks")
		for _, kind := range []service.Kind{service.TextDelta, service.ReasoningDelta} {
			require.Equal(t, text(t, whole, kind), text(t, again, kind))
		}
		require.NotEqual(t, kinds(t, whole), kinds(t, again))
		require.Equal(t, "turn_complete", kinds(t, again)[len(again)-1])
	})
	t.Run("differ", func(t *testing.T) {
		again := s.send(chat, "k", prose, "X-Fault", "differ=1", "Last-Event-ID", "5").whole()
		require.Equal(t, "1", again[0].id)
		require.Len(t, again, len(whole))
		require.Equal(t, "Otherwise: "+text(t, whole, service.TextDelta), text(t, again, service.TextDelta))
	})
	t.Run("resplit and differ", func(t *testing.T) {
		again := s.send(chat, "k", prose, "X-Fault", "differ=1&resplit=1").whole()
		require.Equal(t, "Otherwise: "+text(t, whole, service.TextDelta), text(t, again, service.TextDelta))
	})
	t.Run("replay all", func(t *testing.T) {
		require.Equal(t, whole, s.send(chat, "k", prose, "X-Fault", "replay_all=1", "Last-Event-ID", "5").whole())
	})
	t.Run("cut after an id", func(t *testing.T) {
		frames, err := s.send(chat, "k", prose, "X-Fault", "cut_events=3", "Last-Event-ID", "5").rest()
		require.Error(t, err)
		require.Equal(t, whole[5:8], frames)
	})
}

func TestFaultPace(t *testing.T) {
	s := serve(t, func(cfg *service.Config) { cfg.Pace = 24 * 60 * 60 * 1e9 })
	frames := s.send(s.chat(), "k", counted, "X-Fault", "pace_ms=0").whole()
	require.Len(t, frames, plain)
}

func TestKeptAliveConnectionsAreForServicesWithoutFaults(t *testing.T) {
	for name, faults := range map[string]bool{"with faults": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(cfg *service.Config) { cfg.Faults = faults })
			s.client.Transport.(*http.Transport).DisableKeepAlives = false
			resp, _ := s.call("POST", "/v1/workspaces/demo/chats", `{"agent_id":"assistant"}`)
			require.Equal(t, faults, resp.Close)
		})
	}
}
