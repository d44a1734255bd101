// Package modeltest is a model server that follows a script, and the promises
// that every model.Client keeps towards it.
//
// The server speaks the Messages protocol of Anthropic, the Responses and Chat
// Completions protocols of OpenAI and generateContent of Google's Gemini API as
// the real ones do, event by event, so that programs by other people can be tested with it as well as our clients.
// It is not a model: it answers what its script says, and what no rule of the
// script covers it refuses. It uses no clock; times and ids are made up.
//
// A script is rules, tried from the top; the first that holds answers:
//
//	# the last thing said contains this
//	when user "hello"
//	  think They greet me.
//	  say Hello there.
//	# the first request since the user spoke, if bash is offered; calls one
//	# after the other are parallel
//	when step 1 and tool bash
//	  call bash {"command":"ls"}
//	  call read {"path":"a.txt"}
//	# a result that came with this request contains this
//	when result "No such file"
//	  say It is gone.
//	# the 7th request to this server
//	when request 7
//	  header Retry-After: 3600
//	  status 429 Slow down.
//	else
//	  say Done.
//
// Conditions: user TEXT, result TEXT, model TEXT, tool NAME, turn N, step N,
// request N, always; joined by "and". Texts are words or Go strings.
//
// Lines of an answer:
//
//	say TEXT           text; goes on in the same block if text came before
//	think TEXT         thinking, with a signature
//	redact DATA        thinking that nobody may read
//	call NAME {JSON}   a whole tool call; "call NAME id=ID {JSON}" sets its id
//	part NAME TEXT     a tool call that begins with these arguments and does not end
//	usage in=N out=N cached=N written=N reasoning=N
//	stop REASON        end_turn, tool_use, max_tokens, stop_sequence, refusal, pause_turn
//	ping               what the protocol sends to say that it lives
//	pause [GATE]       waits until Open(GATE); without a name, until the client leaves.
//	                   As the first line, before even the headers are sent
//	slow [DURATION]    from here on one byte at a time, with so much time between
//	raw TEXT           these bytes, as they are; garbage is some that mean nothing
//	drop               cuts the connection
//	end                ends the stream as if all had been said, without its last events
//	error CODE TEXT    the protocol's way to fail in the middle
//	header NAME: VALUE, type MEDIA-TYPE, status CODE [TEXT]   before anything else
package modeltest
