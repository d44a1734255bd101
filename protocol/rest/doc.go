// Package rest is S3's contract: sessions as resources over HTTP, and their
// events as server-sent events.
//
// One table of routes serves requests and describes itself as OpenAPI. What a
// stream sends are the log's own bytes. JSON is snake_case here.
package rest
