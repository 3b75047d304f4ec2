package model

import (
	"strings"
	"unicode/utf8"

	"github.com/openai/openai-go/v3"

	"github.com/seed-76f09577/turnwire/internal/service"
)

// DefaultPrompt is the system prompt where none is set.
const DefaultPrompt = `You are the assistant of a chat page. Answer in the language of the message, to the point, in Markdown.
Where you have tools, use them instead of guessing: the calculator for arithmetic, the clock for the date and the time,
search_files where uploaded files may hold the answer. Name the file, and the page, that you quote.
Say so when you do not know.`

// maxEarlier bounds what goes upstream of the chat's earlier messages and answers, in characters.
const maxEarlier = 24_000

// conversation is what the model is asked: the prompt, the newest of the chat that fit, the message.
func conversation(prompt string, m service.Message) []openai.ChatCompletionMessageParamUnion {
	messages := []openai.ChatCompletionMessageParamUnion{openai.SystemMessage(prompt)}
	// Messages that were never answered are told with the next one: some models' templates take users and
	// assistants in turns only.
	var asked []string
	for _, e := range newest(m.Earlier) {
		asked = append(asked, e.Text)
		if e.Answer != "" {
			messages = append(messages, openai.UserMessage(strings.Join(asked, "\n\n")), openai.AssistantMessage(e.Answer))
			asked = nil
		}
	}
	asked = append(asked, m.Text)
	if len(m.OtherParts) > 0 {
		asked = append(asked, "(The message has parts that you can't see: "+strings.Join(m.OtherParts, ", ")+".)")
	}
	return append(messages, openai.UserMessage(strings.Join(asked, "\n\n")))
}

// newest are the last exchanges that fit into maxEarlier.
func newest(all []service.Exchange) []service.Exchange {
	left := maxEarlier
	for i := len(all) - 1; i >= 0; i-- {
		left -= utf8.RuneCountInString(all[i].Text) + utf8.RuneCountInString(all[i].Answer)
		if left < 0 {
			return all[i+1:]
		}
	}
	return all
}
