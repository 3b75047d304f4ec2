// Package builtin is the agent of the reference service. It needs no model and really does what it
// says: it plans aloud, runs a calculator, a clock and a search in the uploaded files, and answers in Markdown. What a
// message makes it do is settled by the message, and by whether there are files, so that tests and people can ask
// for what they want to see.
package builtin
