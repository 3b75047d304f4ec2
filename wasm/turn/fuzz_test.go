package turn

import (
	"testing"

	"github.com/seed-76f09577/turnwire/wasm/api"
)

// FuzzTurn feeds any bytes as a stream, in chunks of the given sizes, while a script of bytes does everything else that
// can happen to a turn. The page checks what holds for every turn; whatever came, it must end.
func FuzzTurn(f *testing.F) {
	f.Add([]byte(hello+complete), []byte{255}, []byte{0, 0, 0, 0})
	f.Add([]byte(hello+thinking+wrong), []byte{1}, []byte{0, 1, 0, 2, 0})
	f.Add([]byte(started(`{"id":"a"}`)+delta(`{"index":0,"delta":"{"}`)+called(`{}`)+result(`{"id":"a"}`)+complete), []byte{7, 30}, []byte{3, 0, 0, 4, 0, 5, 0, 0})
	f.Add([]byte("id: 1\n"+hello+"data: [DONE]\n\n"), []byte{9}, []byte{16, 0, 0, 17, 4, 18, 0, 0, 0})
	f.Add([]byte("\xEF\xBB\xBFdata: {\"type\":\"text_delta\",\"data\":{\"chunk\":\"\\ud83d\"}}\r\rdata:x\r\r"), []byte{3, 0}, []byte{0, 0, 0, 6, 0})
	f.Fuzz(func(t *testing.T, stream, cuts, acts []byte) {
		c := config()
		c.Replay = len(cuts) > 0 && cuts[0]&1 == 1
		c.Offline = func() bool { return len(acts)&7 == 7 }
		p := open(t, c)
		p.byBatch = len(acts)&1 == 1
		from := 0
		for i, act := range acts {
			switch act % 20 {
			case 1:
				p.abort()
			case 2:
				p.disconnect()
			case 3:
				p.hold(act&32 == 0)
			case 4:
				p.advance(int64(act) * 1000)
			case 5:
				p.headers(&api.Response{Status: 503, RetryAfter: string(stream[:min(len(stream), 3)])})
			case 6:
				p.answer(string(stream))
			case 7:
				p.failed()
			case 8:
				p.headers(&api.Response{Status: 200, ContentType: "text/html"})
			case 9:
				p.headers(&api.Response{Status: 401})
			case 10:
				p.end(true)
				from = 0
			case 11:
				p.end(false)
				from = 0
			case 12:
				p.m.Online()
				p.settle()
			default:
				if !p.stream && p.request {
					p.headers(eventStream)
				}
				n := 1
				if len(cuts) > 0 {
					n = int(cuts[i%len(cuts)])
				}
				n = min(n, len(stream)-from)
				p.feedBytes(stream[from : from+n])
				from += n
			}
		}
		p.hold(false)
		p.end(true)
		p.advance(100 * idleTimeout)
		p.disconnect()
		p.toolCalls()
	})
}
