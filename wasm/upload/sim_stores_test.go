package upload

import (
	"fmt"
	"strings"

	"github.com/seed-76f09577/turnwire/wasm/api"
)

// object is a place in the store that one upload goes to, under one of the protocols. handle takes a request whose
// body is that run of the data (got may be shorter than what was announced: then the connection broke on the way and
// nobody hears the answer). It fails the test where the request breaks the protocol.
type object interface {
	handle(s *store, r Request, got extent) Answer
	// content is what the object holds once it is complete.
	content() ([]extent, bool)
	// lose drops what is not complete, as stores do after a time.
	lose()
}

type store struct {
	w       *world
	fail    func(string)
	size    int64
	hides   bool // CORS hides the headers that need not be seen
	concat  bool
	objects map[string]object
}

func (s *store) broken(format string, args ...any) Answer {
	s.fail("the store: " + fmt.Sprintf(format, args...))
	return Answer{Status: 400}
}

func field(r Request, name string) string {
	for _, f := range r.Header {
		if strings.EqualFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}

func answer(status int, header ...string) Answer {
	a := Answer{Status: status}
	for i := 0; i+1 < len(header); i += 2 {
		a.Header = append(a.Header, api.Field{Name: header[i], Value: header[i+1]})
	}
	return a
}
