package mcp

import "time"

// Bounds on what a server may cost. A server is somebody else's program: none of
// these is negotiable with it.
const (
	// StartTimeout is how long a server may take to start, say hello and list
	// its tools: npx fetches packages first.
	StartTimeout = 30 * time.Second
	// CallTimeout is how long a call may take, unless its server's row says otherwise.
	CallTimeout = 60 * time.Second
	// pingTimeout is how long a server that let a call time out may take to show
	// that it lives.
	pingTimeout = 5 * time.Second
	// writeTimeout is how long a server may leave its input unread.
	writeTimeout = 10 * time.Second
	// closeGrace is what a server has between the end of its input and its own.
	closeGrace = 500 * time.Millisecond

	// MaxTools is how many tools of one server are offered; a model reads every
	// description at every turn.
	MaxTools = 128
	// maxPages ends a list whose pages never do.
	maxPages = 64
	// MaxName is the longest tool name that all providers take.
	MaxName = 64
	// MaxDescription is how much of a tool's description, in bytes, reaches the model.
	MaxDescription = 2 << 10
	// MaxSchema is the largest schema, in bytes; a tool with a larger one is not offered.
	MaxSchema = 32 << 10
	// MaxResult is how much text and how many bytes of pictures a call returns.
	MaxResult = 4 << 20
	// maxLine is the longest message: MaxResult in base64, twice, with its frame.
	maxLine = 12 << 20
	// MaxResources is how many resources one listing shows of a server.
	MaxResources = 200

	// Unasked is what a server says without being asked: notifications, requests,
	// logs, answers to nothing. A burst is allowed, and then a rate that no
	// useful server reaches; beyond it the server is cut off for good.
	unaskedMessages       = 4096
	unaskedBytes          = 16 << 20
	unaskedMessagesPerSec = 100
	unaskedBytesPerSec    = 256 << 10

	// tailLines and tailLine bound what is kept of a server's stderr for the
	// message that says why it died.
	tailLines = 20
	tailLine  = 400

	// maxRestarts within restartWindow is when a server that keeps dying is left
	// dead; restartDelay doubles from one to the next.
	maxRestarts   = 3
	restartWindow = 10 * time.Minute
	restartDelay  = 250 * time.Millisecond

	// maxRedirects is how often an HTTP server may send us elsewhere.
	maxRedirects = 3
	// parallelStarts bounds how many servers start at a time: each is a program
	// that loads itself, on the cores that the session works on.
	parallelStarts = 4
)
