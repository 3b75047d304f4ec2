package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/openai/openai-go/v3/packages/ssestream"

	"github.com/seed-76f09577/turnwire/internal/service"
)

var (
	errIdle     = errors.New("the server said nothing for too long")
	errTime     = errors.New("the turn took too long")
	errRounds   = errors.New("the model called tools in every round")
	errLength   = errors.New("the answer ended at the limit of tokens")
	errFilter   = errors.New("the answer was filtered")
	errNoStream = errors.New("the answer is no event stream")
)

// refused is a request that got no stream. The answer is nil where there was none.
type refused struct {
	error
	answer *http.Response
}

// broken is a stream that did not come to its end.
type broken struct{ error }

func (b *broken) Unwrap() error { return b.error }

// explain says what a person can do about an error, or nil where the error is none of the model's or its server's.
func (a *Agent) explain(model string, err error) *service.Failure {
	failure := func(code, format string, values ...any) *service.Failure {
		return &service.Failure{Code: code, Message: fmt.Sprintf(format, values...)}
	}
	var no *refused
	var cut *broken
	switch {
	case err == errIdle:
		return failure("model_silent", "the model's server said nothing for %s: send the message again, or give it longer with -model-idle", a.cfg.Idle)
	case err == errTime:
		return failure("turn_too_long", "the answer took longer than %s: ask for less at once, or give it longer with -model-time", a.cfg.Time)
	case err == errRounds:
		return failure("too_many_rounds", "the model called tools in %d rounds and gave no answer: ask for less at once, or allow more with -model-rounds", a.cfg.Rounds)
	case err == errLength:
		return failure("answer_cut_off", "the answer is longer than the model may write at once, and ends here: ask it to go on")
	case err == errFilter:
		return failure("answer_filtered", "the model's provider stopped the answer by its content filter: ask in other words")
	case errors.As(err, &no):
		return a.explainRefusal(model, no)
	case errors.As(err, &cut):
		var told *ssestream.StreamError
		if errors.As(err, &told) {
			return a.explainTold(model, 0, told.Event.Data, nil)
		}
		return failure("model_broke_off", "the model's server broke off in the middle of the answer: send the message again")
	}
	return nil
}

func (a *Agent) explainRefusal(model string, no *refused) *service.Failure {
	switch {
	case no.answer == nil:
		return &service.Failure{Code: "model_unreachable", Message: "the model's server can't be reached: is it running, and is -model-url its address?"}
	case no.error == errNoStream:
		return &service.Failure{Code: "model_no_stream", Message: fmt.Sprintf(
			"what answers at -model-url sends no event stream but %q: is that the address of a chat completions interface? Most often it ends in /v1", no.answer.Header.Get("Content-Type"))}
	}
	body, err := io.ReadAll(io.LimitReader(no.answer.Body, 64<<10))
	if err != nil {
		body = nil
	}
	return a.explainTold(model, no.answer.StatusCode, body, no.answer.Header)
}

// tooLong is how servers say that a chat outgrew the model's context.
var tooLong = regexp.MustCompile(`(?i)context.?(?:length|size|window)|prompt is too long|too many tokens`)

// explainTold reads what the server said of an error, in an answer or in a stream. A status is 0 where it says none.
func (a *Agent) explainTold(model string, status int, body []byte, header http.Header) *service.Failure {
	code, message := read(body)
	if n, err := strconv.Atoi(code); err == nil && status == 0 {
		status = n
	}
	said := ""
	if message != "" {
		said = ". It says: " + a.redact(cut(message, 300))
	}
	told := &service.Failure{Code: "model_failed", Message: "the model's server failed: send the message again" + said}
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		// Not what the server says: some quote a part of the key.
		told.Code = "model_key_refused"
		told.Message = "the model's server refuses the key: whoever runs this service should look at the environment variable " + a.cfg.KeyEnv
		if a.cfg.Key == "" {
			told.Message = "the model's server wants a key: whoever runs this service should name the environment variable that holds it, with -model-key-env"
		}
	case code == "context_length_exceeded" || code == "exceed_context_size_error" || status/100 == 4 && tooLong.MatchString(message):
		told.Code = "context_too_long"
		told.Message = "the chat is longer than the model can take: start a new chat, or ask for less at once" + said
	case code == "insufficient_quota" || status == http.StatusPaymentRequired:
		told.Code = "model_quota_used_up"
		told.Message = "the quota at the model's provider is used up: whoever runs this service should look at its account" + said
	case status == http.StatusNotFound:
		told.Code = "model_not_found"
		told.Message = fmt.Sprintf("the model's server has no model %q, or no chat completions at this address: look at -model and -model-url%s", model, said)
	case status == http.StatusTooManyRequests:
		told.Code = "model_rate_limited"
		told.RetryAfter = retryAfter(header)
		told.Message = "the model is asked too often: send the message again later" + said
		if told.RetryAfter > 0 {
			told.Message = fmt.Sprintf("the model is asked too often: send the message again in %s%s", told.RetryAfter.Round(time.Second), said)
		}
	case status/100 == 4 && status != http.StatusRequestTimeout && status != http.StatusConflict:
		told.Code = "model_refused"
		told.Message = "the model's server refuses the request" + said
	case status >= 500 || status == http.StatusRequestTimeout || status == http.StatusConflict:
		told.Code = "model_unavailable"
		told.RetryAfter = retryAfter(header)
		told.Message = fmt.Sprintf("the model's server failed (%d) again and again: send the message again later%s", status, said)
	}
	return told
}

// read finds code and message in the errors of today's servers: OpenAI's form, with a number as code (vLLM, llama.cpp,
// OpenRouter), with a type alone, or FastAPI's detail.
func read(body []byte) (code, message string) {
	var whole struct {
		Error   json.RawMessage
		Message string
		Detail  json.RawMessage
	}
	if json.Unmarshal(body, &whole) != nil {
		return "", ""
	}
	var inner struct {
		Code    any
		Type    string
		Message string
	}
	switch {
	case json.Unmarshal(whole.Error, &message) == nil || json.Unmarshal(whole.Detail, &message) == nil:
	case json.Unmarshal(whole.Error, &inner) == nil:
		message = inner.Message
	}
	if message == "" {
		message = whole.Message
	}
	switch c := inner.Code.(type) {
	case string:
		code = c
	case float64:
		code = strconv.Itoa(int(c))
	}
	if inner.Type == "exceed_context_size_error" || inner.Type == "insufficient_quota" || code == "" {
		code = inner.Type
	}
	return code, message
}

func retryAfter(header http.Header) time.Duration {
	value := header.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(value, 64); err == nil && seconds > 0 && seconds < 1e6 {
		return time.Duration(seconds * float64(time.Second))
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}

// redact takes the key out of what servers and libraries say.
func (a *Agent) redact(text string) string {
	if a.cfg.Key == "" {
		return text
	}
	return strings.ReplaceAll(text, a.cfg.Key, "[key]")
}
