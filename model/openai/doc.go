// Package openai is two model.Clients: one for OpenAI's Responses protocol, on
// the official SDK, and one for Chat Completions, which most other servers speak
// too (Ollama, vLLM, LM Studio, gateways). Of the SDK they use the types and
// encoding of Responses and the reading of events; connections, limits, retries
// and the types of Chat Completions are ours, and nothing is taken from the
// environment.
//
// Chat Completions has no signed thoughts: what a server sends as
// reasoning_content is shown and not sent back. Its files must be images or PDF.
package openai
