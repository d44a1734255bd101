// Package anthropic is a model.Client for Anthropic's Messages protocol, on the
// official SDK. Of the SDK it uses the types, their encoding and the reading of
// events; connections, limits and retries are ours, and nothing is taken from
// the environment.
package anthropic
