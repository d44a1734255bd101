// Package protocoltest tells stories: one scenario, played by the real kernel
// over the memory store with the script engine, and told by every protocol.
//
// A story is a txtar file. Its comment says what it is about. Section "engine"
// is the script; section "do" is what happens, a line each; section "log" is
// the canonical log that must come out; section "delta" is what its clients
// were told over the WebSocket, section "rpc" what a JSON-RPC client is told
// that subscribes to the session at the end, from its beginning. UPDATE=1
// rewrites the sections that are told; the diff is the review.
//
// Event streams have no section: what they tell must be the log itself, byte
// for byte, to a client that follows all the time, restarts included, and to
// one that comes at the end. And whoever leaves a protocol at any position goes
// on with another at the next.
//
// Lines of "do":
//
//	connect NAME [QUERY]      a client connects
//	NAME send JSON            it sends a message, exactly this
//	NAME COMMAND [TEXT]       submit, resume, steer TEXT; cancel; approve, deny [TEXT]
//	                          (the first pending call); configure JSON; rewind ID
//	NAME until WORD           it reads until the status is WORD (failed: error)
//	NAME until text TEXT      until TEXT stands in the last message
//	NAME until output TEXT    until TEXT stands in the last call's output
//	NAME until rewind ID      until files were taken back, or it was said how
//	NAME until error|ack      until such an answer came
//	NAME leave                it disconnects
//	open GATE                 lets the script go on
//	restart                   kill -9 and a new start on what is durable
//	http METHOD PATH [JSON]   a request; {id} is the session. Answers to these
//	rpc METHOD PARAMS         and to calls about it are in section "answers"
//	write FILE TEXT           an edit, and
//	sh COMMAND                a shell command in the session's directory, if the
//	                          story has a section "files", with its first files
//	has FILE=TEXT …           checks what the directory holds
//
// Stories compare content, not frames: where one frame ends depends on
// scheduling, so what is told between two lines that wait for a state is merged
// by the rules that the server itself merges by, and answers to commands are
// listed behind it. Gates keep apart what a story wants to see apart.
// Identifiers are counted and times left out, so that a story reads the same
// every time.
package protocoltest
