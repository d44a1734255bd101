// Package script is an engine that plays a text: for tests, stories and demos.
// What it says, calls and asks goes through the same [harness.Host] as any
// engine's, so whatever works with a script works with the real thing. It is
// not a language model and its built-in scripts say so.
//
// # The language
//
// One command a line. Blank lines and lines that start with # are ignored.
// TEXT is the rest of the line, or a Go string in double quotes or backquotes
// where newlines or outer spaces matter. JSON is an object on the same line.
// DURATION is Go's: 20ms, 1.5s.
//
// Text:
//
//	say TEXT              one token
//	type TEXT             word by word, one token each, at the pace
//	stream N DURATION TEXT  the text N times, one token each, so far apart
//	echo                  the prompt, as type does it
//	pace DURATION         the time between words from here on; 0s at first
//	think TEXT            thinking
//	reflect TEXT          reflection
//	response [TEXT]       the whole answer; without TEXT what this attempt said,
//	                      and nothing if it was steered meanwhile: then only the
//	                      host knows where the message began
//
// Tools. A call's ID is made up from its place unless it is given; inside
// repeat it may not be given:
//
//	call NAME [ID] [JSON] => TEXT   a call, its result and the outcome ok
//	tool NAME [ID] [JSON]           opens a call
//	log TEXT                        live output of the newest open call
//	result TEXT                     its result
//	outcome STATUS [DURATION] [TEXT]  closes it: ok, error, timeout, denied or
//	                      artifact, how long it took, and the result (JSON or
//	                      text), the error, the reason or the artifact's id
//	ask NAME [ID] [JSON] [access=read|edit|execute|network] [reason="…"] ["description"] [=> TEXT]
//	                      opens a call and asks whether it may run (access is
//	                      execute unless it says otherwise). If it may,
//	                      its result is TEXT, or the lines below that are
//	                      indented deeper are played; then it is closed with ok
//	                      unless they closed it. If not, it is closed as denied
//	                      and the script goes on behind it.
//
// A script has to close the calls it opens, in the block in which it opens
// them, unless the block ends in fail or hang.
//
// People and time:
//
//	steer [TEXT]          waits for something said to the turn and says TEXT, or
//	                      "steered: ", and then what it was
//	listen [TEXT]         does so if something was said, and does not wait
//	wait DURATION         waits
//	gate NAME             waits until a test calls [Engine.Open]
//	hang                  does nothing until the turn is cancelled
//
// Facts:
//
//	usage IN OUT [COST]   tokens, and US dollars if the price is known
//	step I/N TITLE STATUS the progress of a plan; quote a TITLE if need be
//	emit TYPE JSON        any event of the inventory with exactly this payload:
//	                      subagent_event, session_checkpoint, artifact,
//	                      retrieval, context_warning, context_compacted, the
//	                      diagnostics and so on; the host refuses those that
//	                      are its own to say
//	checkpoint            the next attempt goes on from here
//
// Ends:
//
//	fail TEXT             the turn fails
//	retry TEXT            the attempt fails; the next one goes on behind it
//
// Blocks, closed by end:
//
//	repeat N              plays the block N times
//	when WORD…            plays the block if the prompt has one of the words,
//	else when WORD…       in any case of letters
//	else
//
// A line that starts with === begins the next turn's part: the first turn of a
// conversation plays the first part, and so on, and the last part is played
// again for every later turn. A turn that starts fresh ([harness.Turn]) begins
// a conversation. An empty script answers with an echo.
//
// For example:
//
//	pace 20ms
//	type Let me look at the tests.
//	call read_file {"path":"main_test.go"} => "package main\n"
//	ask bash {"command":"go test"} access=execute "Run the tests"
//	  log "ok  example\n"
//	  wait 1s
//	  result ok  example
//	say They pass.
//	=== the second turn
//	when tests
//	  say "Yes, they still pass."
//	else
//	  fail I only know about tests.
//	end
//
// # Another attempt
//
// Before it opens a call the engine records its position with
// [harness.Host.Checkpoint]; so it does at the start of a turn if the script
// has several parts, at checkpoint and at retry. A new attempt at the turn goes
// on from the last position. Calls keep their ids, so the host recognises one
// that it already has, and Ask answers with the decision made meanwhile. A call
// that was interrupted stays so, except that ask opens it again under another
// id. Text that was said after the last position is said again; put checkpoint
// behind it if that matters. A position that does not fit the script is reported as
// resume_lost, and the turn's part is played from its beginning.
//
// # Guarantees
//
// A script that parses never breaks a promise of [harness.Engine] unless emit
// makes it. Things said to a turn that no steer or listen took are answered
// when its part ends. A cancelled turn returns the context's cause at once. Run starts no
// goroutine. An Engine may run any number of turns at once and keeps nothing
// about any of them.
package script
