// Package library is the full-text index of the reference service's files: it takes the text out of
// plain text, Markdown, HTML and PDF, cuts it into passages, and finds those that answer a question.
package library
