// Package model is an agent behind which a real model answers: that of any server which has OpenAI's interface for chat
// completions (https://platform.openai.com/docs/api-reference/chat), such as a hosted one, llama.cpp, vLLM or Ollama. It
// streams what the model says and thinks, and runs the tools of package builtin as the model asks for them.
// docs/profile.md, section "A model behind the service", says what it does where those servers differ.
package model
