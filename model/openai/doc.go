// Package openai is two model.Clients on OpenAI's official SDK: one for the
// Responses protocol, one for Chat Completions, which most other servers speak
// too (Ollama, vLLM, LM Studio, gateways). Of the SDK they use the types, their
// encoding and the reading of events; connections, limits and retries are ours,
// and nothing is taken from the environment.
//
// Chat Completions has no signed thoughts: what a server sends as
// reasoning_content is shown and not sent back. Its files must be images or PDF.
package openai
