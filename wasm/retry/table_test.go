package retry

import (
	"fmt"
	"slices"
	"testing"

	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestStatuses gives the same refusal to every try (profile, "Idempotency and retry").
func TestStatuses(t *testing.T) {
	keyed := []int{408, 425, 429, 500, 502, 503, 504}
	unkeyed := []int{429, 503}
	for _, code := range []int{
		300, 301, 302, 304, 307, 400, 401, 402, 403, 404, 405, 406, 408, 409, 410, 411, 412, 413, 414, 415, 421, 422, 423, 424,
		425, 426, 428, 429, 431, 451, 499, 500, 501, 502, 503, 504, 505, 507, 508, 511, 520, 599,
	} {
		for name, safety := range map[string]Safety{"keyed": Repeatable, "unkeyed": Unkeyed} {
			t.Run(fmt.Sprintf("%d %s", code, name), func(t *testing.T) {
				d := newDriver(t, &Policy{Safety: safety, MaxRetries: 2, Timeout: timeout})
				d.run(status(code, code, code, code)...)
				repeated := slices.Contains(keyed, code)
				if safety == Unkeyed {
					repeated = slices.Contains(unkeyed, code)
				}
				if repeated {
					assert.Len(t, d.sends, 3)
					assert.Equal(t, []int64{250, 500}, d.waits)
				} else {
					assert.Len(t, d.sends, 1)
					assert.Empty(t, d.waits)
				}
				err := d.x.Err()
				require.NotNil(t, err)
				assert.Equal(t, api.KindAPI, err.Kind)
				assert.Equal(t, code, err.Status)
				assert.Equal(t, slices.Contains(keyed, code), err.Retryable)
			})
		}
	}
}

func TestSuccess(t *testing.T) {
	for _, code := range []int{200, 201, 202, 204, 206, 299} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			d := newDriver(t, &Policy{MaxRetries: 2, Timeout: timeout})
			d.run(status(503, code)...)
			assert.True(t, d.x.Accepted())
			assert.Equal(t, code, d.x.Response().Status)
			assert.Nil(t, d.x.Err())
			assert.Len(t, d.sends, 2)
		})
	}
}

func TestRetries(t *testing.T) {
	date := "Sun, 06 Nov 1994 08:49:40 GMT"
	cases := []struct {
		name    string
		policy  Policy
		answers []answer
		sends   int
		waits   []int64
		code    string
		after   int64 // RetryAfter of the error
	}{
		{name: "no fault", answers: status(200), sends: 1, code: "accepted"},
		{name: "no retries", policy: Policy{MaxRetries: 0}, answers: status(503), sends: 1, code: "server_error"},
		{name: "no retries after a cut", policy: Policy{MaxRetries: 0}, answers: []answer{{lost: answerCut}}, sends: 1, code: "connection_failed"},
		{name: "one retry is enough", policy: Policy{MaxRetries: 1}, answers: status(429, 200), sends: 2, waits: []int64{250}, code: "accepted"},
		{name: "one retry is not", policy: Policy{MaxRetries: 1}, answers: status(429, 429), sends: 2, waits: []int64{250}, code: "rate_limited"},
		{name: "back-off doubles up to 8 s", policy: Policy{MaxRetries: 7}, answers: status(500, 500, 500, 500, 500, 500, 500, 200),
			sends: 8, waits: []int64{250, 500, 1000, 2000, 4000, 4000, 4000}, code: "accepted"},
		{name: "a fault of each kind", policy: Policy{MaxRetries: 3}, answers: []answer{{status: 502}, {lost: answerCut}, {status: 429, retryAfter: "2"}, {status: 200}},
			sends: 4, waits: []int64{250, 500, 2000}, code: "accepted"},
		{name: "refused for good in the end", policy: Policy{MaxRetries: 3}, answers: status(503, 403), sends: 2, waits: []int64{250}, code: "forbidden"},

		{name: "connection cut", policy: Policy{MaxRetries: 2}, answers: []answer{{lost: answerCut}, {lost: answerCut}, {lost: answerCut}},
			sends: 3, waits: []int64{250, 500}, code: "connection_failed"},
		{name: "connection cut without a key", policy: Policy{Safety: Unkeyed, MaxRetries: 2}, answers: []answer{{lost: answerCut}}, sends: 1, code: "connection_failed"},
		{name: "no head in time", policy: Policy{MaxRetries: 2}, answers: []answer{{lost: headLate}}, sends: 1, code: "response_timeout"},
		{name: "no head in time at the second try", policy: Policy{MaxRetries: 2}, answers: []answer{{status: 503}, {lost: headLate}}, sends: 2, waits: []int64{250}, code: "response_timeout"},
		{name: "403 whose body is cut", policy: Policy{MaxRetries: 2}, answers: []answer{{status: 403, lost: bodyCut}}, sends: 1, code: "forbidden"},
		{name: "403 whose body stalls", policy: Policy{MaxRetries: 2}, answers: []answer{{status: 403, lost: bodyLate}}, sends: 1, code: "forbidden"},
		{name: "503 whose body is cut", policy: Policy{MaxRetries: 2}, answers: []answer{{status: 503, lost: bodyCut}, {status: 200}}, sends: 2, waits: []int64{250}, code: "accepted"},
		{name: "503 whose body stalls", policy: Policy{MaxRetries: 2}, answers: []answer{{status: 503, lost: bodyLate}, {status: 200}}, sends: 2, waits: []int64{250}, code: "accepted"},
		{name: "503 whose body is cut, seconds", policy: Policy{MaxRetries: 2}, answers: []answer{{status: 503, retryAfter: "7", lost: bodyCut}, {status: 200}}, sends: 2, waits: []int64{7000}, code: "accepted"},
		{name: "503 whose body is cut, date", policy: Policy{MaxRetries: 2}, answers: []answer{{status: 503, retryAfter: date, lost: bodyCut}, {status: 200}}, sends: 2, waits: []int64{250}, code: "accepted"},

		{name: "seconds", policy: Policy{MaxRetries: 2}, answers: []answer{{status: 429, retryAfter: "1"}, {status: 503, retryAfter: "60"}, {status: 200}},
			sends: 3, waits: []int64{1000, 60_000}, code: "accepted"},
		{name: "no seconds", policy: Policy{MaxRetries: 2}, answers: []answer{{status: 503, retryAfter: "0"}, {status: 200}}, sends: 2, waits: []int64{0}, code: "accepted"},
		{name: "seconds past the limit", policy: Policy{MaxRetries: 2}, answers: []answer{{status: 429, retryAfter: "61"}}, sends: 1, code: "rate_limited", after: 61_000},
		{name: "seconds past all limits", policy: Policy{MaxRetries: 2}, answers: []answer{{status: 503, retryAfter: "99999999999999999999"}}, sends: 1, code: "server_error", after: 1e12},
		{name: "date", policy: Policy{MaxRetries: 2}, answers: []answer{{status: 503, retryAfter: date}, {status: 200}}, sends: 2, waits: []int64{3000}, code: "accepted"},
		{name: "date that is past", policy: Policy{MaxRetries: 2}, answers: []answer{{status: 503, retryAfter: "Sun, 06 Nov 1994 08:49:00 GMT"}, {status: 200}}, sends: 2, waits: []int64{0}, code: "accepted"},
		{name: "date past the limit", policy: Policy{MaxRetries: 2}, answers: []answer{{status: 503, retryAfter: "Sun, 06 Nov 1994 08:51:37 GMT"}}, sends: 1, code: "server_error", after: 120_000},
		{name: "unreadable", policy: Policy{MaxRetries: 2}, answers: []answer{{status: 503, retryAfter: "soon"}, {status: 200}}, sends: 2, waits: []int64{250}, code: "accepted"},
		{name: "below zero", policy: Policy{MaxRetries: 2}, answers: []answer{{status: 503, retryAfter: "-1"}, {status: 200}}, sends: 2, waits: []int64{250}, code: "accepted"},
		{name: "fraction", policy: Policy{MaxRetries: 2}, answers: []answer{{status: 503, retryAfter: "1.5"}, {status: 200}}, sends: 2, waits: []int64{250}, code: "accepted"},
		{name: "told to wait, retries used up", policy: Policy{MaxRetries: 1}, answers: []answer{{status: 503}, {status: 503, retryAfter: "5"}}, sends: 2, waits: []int64{250}, code: "server_error", after: 5000},
		{name: "told to wait by a refusal for good", policy: Policy{MaxRetries: 1}, answers: []answer{{status: 403, retryAfter: "5"}}, sends: 1, code: "forbidden", after: 5000},
		{name: "seconds without a key", policy: Policy{Safety: Unkeyed, MaxRetries: 1}, answers: []answer{{status: 503, retryAfter: "5"}, {status: 201}}, sends: 2, waits: []int64{5000}, code: "accepted"},

		{name: "401 and the key is a string", policy: Policy{MaxRetries: 2}, answers: status(401), sends: 1, code: "unauthorized"},
		{name: "401 and the key is renewed", policy: Policy{MaxRetries: 2, RenewKey: true}, answers: status(401, 200), sends: 2, code: "accepted"},
		{name: "401 again", policy: Policy{MaxRetries: 2, RenewKey: true}, answers: status(401, 401), sends: 2, code: "unauthorized"},
		{name: "401 is not counted", policy: Policy{MaxRetries: 1, RenewKey: true}, answers: status(401, 503, 503), sends: 3, waits: []int64{250}, code: "server_error"},
		{name: "401 after a retry", policy: Policy{MaxRetries: 1, RenewKey: true}, answers: status(503, 401, 200), sends: 3, waits: []int64{250}, code: "accepted"},
		{name: "401 twice around a retry", policy: Policy{MaxRetries: 3, RenewKey: true}, answers: status(401, 503, 401), sends: 3, waits: []int64{250}, code: "unauthorized"},
		{name: "401 without retries", policy: Policy{RenewKey: true}, answers: status(401, 200), sends: 2, code: "accepted"},
		{name: "401 without a key", policy: Policy{Safety: Unkeyed, RenewKey: true}, answers: status(401, 201), sends: 2, code: "accepted"},
		{name: "401 whose body is cut", policy: Policy{RenewKey: true}, answers: []answer{{status: 401, lost: bodyCut}, {status: 200}}, sends: 2, code: "accepted"},
		{name: "401 whose body stalls", policy: Policy{RenewKey: true}, answers: []answer{{status: 401, lost: bodyLate}, {status: 200}}, sends: 2, code: "accepted"},
		{name: "401 that says when", policy: Policy{RenewKey: true}, answers: []answer{{status: 401, retryAfter: "90"}, {status: 200}}, sends: 2, code: "accepted"},
		{name: "403 renews nothing", policy: Policy{RenewKey: true}, answers: status(403), sends: 1, code: "forbidden"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.policy.Timeout = timeout
			d := newDriver(t, &c.policy)
			d.run(c.answers...)
			assert.Equal(t, c.code, d.code())
			assert.Len(t, d.sends, c.sends)
			assert.Equal(t, c.waits, d.waits)
			renewals := 0
			for i, s := range d.sends {
				assert.Equal(t, i+1, s.Attempt)
				assert.Equal(t, message, s.Request, "the same request, with the same key")
				if i > 0 && c.answers[i-1].status == 401 {
					renewals++
				}
			}
			assert.LessOrEqual(t, renewals, 1)
			if err := d.x.Err(); err != nil {
				assert.Equal(t, c.after, err.RetryAfter)
				assert.Equal(t, c.after > 0, err.HasRetry)
			}
		})
	}
}

func TestBackoff(t *testing.T) {
	for n, bound := range []int64{500, 1000, 2000, 4000, 8000, 8000, 8000} {
		assert.Equal(t, int64(0), Backoff(n, 0))
		assert.Equal(t, bound/4, Backoff(n, 0.25))
		assert.Equal(t, bound-1, Backoff(n, 0.99999))
	}
	assert.Equal(t, int64(4000), Backoff(1<<30, 0.5))
}
