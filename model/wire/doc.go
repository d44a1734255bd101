// Package wire is what clients of model servers share: an HTTP client with
// limits, and the reading of what servers say when they fail.
package wire
