package turn

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestManyEvents takes streams of very many events, of every kind that leaves something behind. Where one of them cost
// more the more there were, it would take minutes: no event may.
func TestManyEvents(t *testing.T) {
	n := 50_000
	if slow {
		n = 10_000
	}
	each := func(event func(i int) string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(event(i))
		}
		return b.String()
	}
	always := func(event string) string { return each(func(int) string { return event }) }
	cases := map[string]string{
		"text":                           always(hello),
		"reasoning":                      always(thinking),
		"calls under one id":             always(started(`{"id":"a"}`) + called(`{"id":"a"}`)),
		"calls under one id, in a row":   always(called(`{"id":"a"}`) + result(`{"id":"a"}`) + started(`{"id":"a"}`)),
		"calls under ids with suffixes":  each(func(i int) string { return started(fmt.Sprintf(`{"id":"a-%d"}`, i)) }) + always(called(`{"id":"a"}`)+started(`{"id":"a"}`)),
		"calls under one index":          always(started(`{"index":0}`) + called(`{"index":0}`) + result(`{"index":0}`)),
		"calls without ids":              always(called(`{}`)),
		"results without ids":            always(called(`{}`)) + always(result(`{}`)),
		"results without calls":          always(result(`{}`)),
		"calls that are built for ever":  always(started(`{}`)) + always(delta(`{"delta":"1"}`)),
		"calls of many identifiers":      each(func(i int) string { return called(fmt.Sprintf(`{"id":"%d"}`, i)) }),
		"arguments of one call":          started(`{"id":"a"}`) + always(delta(`{"id":"a","delta":"1"}`)),
		"events of no kind that we know": always("event: new\ndata: {\"x\":1}\n\n"),
		"ids":                            each(func(i int) string { return fmt.Sprintf("id: %d\n", i) + hello }),
		"comments":                       always(":\n"),
		"lines of one event":             always("data:\n"),
	}
	for name, stream := range cases {
		for _, replays := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/replayed %t", name, replays), func(t *testing.T) {
				c := config()
				c.Replay = replays
				c.Offline = func() bool { return false }
				m := New(c)
				m.Start()
				m.Sent()
				streams := 1
				if replays {
					streams = 2
				}
				var events Batch
				count := 0
				for range streams {
					m.Headers(0, eventStream)
					for rest := stream; rest != ""; {
						size := min(len(rest), 64<<10)
						m.Feed(0, []byte(rest[:size]))
						rest = rest[size:]
						for more := true; more; {
							more = m.Batch(&events)
							count += len(events.Marks)
						}
						m.AppendToolCalls(nil) // as a page that shows them at every chunk
						m.Take()
					}
					if replays {
						m.StreamEnded(false, "")
						for more := true; more; {
							more = m.Batch(&events)
						}
						m.Take()
						m.TimerFired(1_000)
						m.Sent()
						m.Take()
					}
				}
				assert.NotContains(t, []Status{Failed, Completed, Cancelled}, m.status)
				if name != "comments" && name != "lines of one event" {
					assert.GreaterOrEqual(t, count, n)
				}
			})
		}
	}
}
