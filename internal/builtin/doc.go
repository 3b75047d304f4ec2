// Package builtin is the agent of the reference service. It needs no model and really does what it
// says: it plans aloud, runs a calculator and a clock, and answers in Markdown. What a message makes
// it do is settled by the message alone, so that tests and people can ask for what they want to see.
package builtin
