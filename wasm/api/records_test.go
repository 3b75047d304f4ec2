package api

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestChatID has each shape of the answer to a chat's creation (profile, "Responses").
func TestChatID(t *testing.T) {
	create := CreateChat("w", "a", nil)
	cases := map[string]struct{ body, id, code, text string }{
		"chat_id":             {`{"chat_id":"x"}`, "x", "", ""},
		"id":                  {`{"id":"x"}`, "x", "", ""},
		"chat.chat_id":        {`{"chat":{"chat_id":"x"}}`, "x", "", ""},
		"chat.id":             {`{"chat":{"id":"x"}}`, "x", "", ""},
		"data.chat_id":        {`{"data":{"chat_id":"x"}}`, "x", "", ""},
		"data.id":             {`{"data":{"id":"x"}}`, "x", "", ""},
		"chat_id before id":   {`{"id":"y","chat_id":"x"}`, "x", "", ""},
		"top before chat":     {`{"chat":{"chat_id":"y"},"id":"x"}`, "x", "", ""},
		"chat before data":    {`{"data":{"chat_id":"y"},"chat":{"id":"x"}}`, "x", "", ""},
		"no string first":     {`{"chat_id":7,"id":"x"}`, "x", "", ""},
		"an empty one first":  {`{"chat_id":"","chat":{"id":"x"}}`, "x", "", ""},
		"null first":          {`{"chat_id":null,"data":{"id":"x"}}`, "x", "", ""},
		"escapes":             {`{"chat\u005fid":"\u00e9\/"}`, "é/", "", ""},
		"white space":         {"\r\n\t {\"chat_id\": \"x\"} \n", "x", "", ""},
		"chat is a string":    {`{"chat":"x"}`, "", "chat_without_id", "saw chat"},
		"other fields":        {`{"agent_id":"a","created":1}`, "", "chat_without_id", "saw agent_id, created"},
		"a number":            {`{"id":7}`, "", "chat_without_id", "saw id"},
		"no fields":           {`{}`, "", "chat_without_id", "saw no fields"},
		"an array":            {`[{"id":"x"}]`, "", "chat_not_json", `beginning: [{"id":"x"}]`},
		"a string":            {`"x"`, "", "chat_not_json", `beginning: "x"`},
		"HTML":                {"<!doctype html>\n<title>x", "", "chat_not_json", "beginning: <!doctype html> <title>x"},
		"nothing":             {"", "", "chat_not_json", "something that is not a JSON object; is baseURL"},
		"cut":                 {`{"chat_id":"x"`, "", "chat_not_json", "beginning: "},
		"hundreds of fields":  {"{" + strings.Repeat(`"field":1,`, 500) + `"z":1}`, "", "chat_without_id", "field, field"},
		"a field without end": {`{"` + strings.Repeat("x", 100_000) + `":1}`, "", "chat_without_id", "xxx"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			id, err := ChatID(create, &Response{Status: 201, RequestID: "r"}, []byte(c.body))
			assert.Equal(t, c.id, id)
			if c.code == "" {
				require.Nil(t, err)
				return
			}
			require.NotNil(t, err)
			assert.Equal(t, KindProtocol, err.Kind)
			assert.Equal(t, c.code, err.Code)
			assert.Contains(t, err.Message, c.text)
			assert.Less(t, len(err.Message), 600)
			assert.Equal(t, "r", err.RequestID)
			assert.Equal(t, 201, err.Status)
		})
	}
}
