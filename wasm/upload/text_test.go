package upload

import (
	"encoding/xml"
	"strings"
	"testing"

	"github.com/seed-76f09577/turnwire/wasm/api"
	"github.com/stretchr/testify/require"
)

// FuzzText holds what takes the place of package strings against it.
func FuzzText(f *testing.F) {
	f.Add("a=b=c", "=")
	f.Add(" \t&amp;lt; <&>\" ", "")
	f.Fuzz(func(t *testing.T, s, sep string) {
		before, after, found := strings.Cut(s, sep)
		gotBefore, gotAfter, gotFound := cut(s, sep)
		require.Equal(t, before, gotBefore)
		require.Equal(t, after, gotAfter)
		require.Equal(t, found, gotFound)
		require.Equal(t, strings.Trim(s, " \t"), trim(s))
		for _, pairs := range [][]string{xmlEntities, xmlEscape} {
			require.Equal(t, strings.NewReplacer(pairs...).Replace(s), replace(s, pairs))
		}
	})
}

func FuzzXML(f *testing.F) {
	f.Add("<Error><Code>a&amp;b</Code><Message>m</Message></Error>", "Code")
	f.Add("<Codes/><Code >x</Code>", "Code")
	f.Fuzz(func(t *testing.T, body, name string) {
		if name == "" {
			return
		}
		_, rest := xmlElement(body, name)
		require.LessOrEqual(t, len(rest), len(body))
		for _, p := range protocols {
			s := &transfer{ticket: &api.Ticket{}}
			p.wire.surveyed(s, &Answer{Status: 200, Body: []byte("<BlockList>" + body + "</BlockList>")})
			p.wire.committed(s, &Answer{Status: 200, Body: []byte(body)})
		}
		// What is escaped comes back.
		var out struct {
			Text string `xml:",chardata"`
		}
		if xml.Unmarshal([]byte("<a>"+replace(name, xmlEscape)+"</a>"), &out) == nil {
			require.Equal(t, out.Text, xmlText([]byte("<a>"+replace(out.Text, xmlEscape)+"</a>"), "a"))
		}
	})
}
