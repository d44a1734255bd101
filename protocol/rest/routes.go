package rest

import (
	"net/http"
	"reflect"
	"sync"

	"harness"
)

// routes is the protocol: requests are served from it, and its description and
// the documentation's tests are made from it.
var routes = sync.OnceValue(func() []route {
	return []route{
		act("POST", "/chat/sessions", "createChatSession", "Make a chat session.", http.StatusCreated, (*Server).createChat),
		get("/chat/sessions", "listChatSessions", "Chat sessions, newest update first.", (*Server).listChats),
		get("/chat/sessions/{id}", "getChatSession", "A chat session with what an operator needs to go on with it.", (*Server).getChat, harness.ErrNotFound),
		raw("POST", "/chat/sessions/{id}/turns", "startTurn", "Say something and run a turn. The answer is the turn's events, or its receipt.", []answer{
			{http.StatusOK, mediaEvents, nil, "the turn's events, from the prompt to turn_end"},
			{http.StatusAccepted, mediaJSON, reflect.TypeFor[receipt](), "with Accept: application/json"},
		}, (*Server).startTurn, harness.ErrNotFound, harness.ErrBusy, harness.ErrQueueFull),
		act("POST", "/chat/sessions/{id}/branch", "branchChatSession", "Make a chat session that begins with this one's history up to a place; without a place, all of it.", http.StatusCreated, (*Server).branchChat, harness.ErrNotFound),
		raw("GET", "/chat/sessions/{id}/events/stream", "streamChatEvents", "The events of a chat session, past and to come.", streamed, (*Server).streamChat, harness.ErrNotFound),

		act("POST", "/sessions", "startSession", "Make a session that works by itself, and queue what it is to do.", http.StatusCreated, (*Server).startWork),
		get("/sessions", "listSessions", "Sessions of every kind, newest update first.", (*Server).listSessions),
		raw("GET", "/sessions/stream", "streamSessions", "The list of sessions, and every change of it.", []answer{
			{http.StatusOK, mediaEvents, nil, "session: a row, with its activity; ready: those of the beginning were told; gone: one was removed; reset: begin anew; beat: nothing changed"},
		}, (*Server).streamSessions),
		raw("POST", "/sessions/import", "importSession", "Take in an archive, or with from a transcript of another program. Nothing is written unless it is whole.", []answer{
			{http.StatusCreated, mediaJSON, reflect.TypeFor[imported](), "it is there"},
		}, (*Server).importSession, harness.ErrExists).reads(mediaLines, "application/x-ndjson"),
		get("/sessions/{id}", "getSession", "A session with its checkpoints, artifacts and channel.", (*Server).getSession, harness.ErrNotFound),
		act("PATCH", "/sessions/{id}", "configureSession", "Change the title, or how turns run.", http.StatusOK, (*Server).configure, harness.ErrNotFound),
		raw("DELETE", "/sessions/{id}", "deleteSession", "Forget a session for good. One with branches, or in the middle of a turn, is refused.", []answer{
			{http.StatusNoContent, "", nil, "it is gone"},
		}, (*Server).remove, harness.ErrNotFound, harness.ErrBranched, harness.ErrBusy, harness.ErrUnsupported),
		act("POST", "/sessions/{id}/steer", "steerSession", "Say something to the running turn.", http.StatusOK, (*Server).steer, harness.ErrNotFound, harness.ErrNotRunning, harness.ErrQueueFull),
		act("POST", "/sessions/{id}/cancel", "cancelSession", "End the running turn.", http.StatusOK, (*Server).cancel, harness.ErrNotFound, harness.ErrNotRunning),
		act("POST", "/sessions/{id}/pause", "pauseSession", "Hold the session before its next turn; one that works by itself, behind the call that runs.", http.StatusOK, (*Server).pause, harness.ErrNotFound, harness.ErrNotRunning),
		either("POST", "/sessions/{id}/resume", "resumeSession", "Let a session go on: one that is paused, or that worked by itself and failed or was cancelled; with a prompt, with that; or branch, with from_event_id or resume_cursor.", []answer{
			{http.StatusOK, mediaJSON, reflect.TypeFor[receipt](), "it goes on"},
			{http.StatusCreated, mediaJSON, reflect.TypeFor[work](), "the branch"},
		}, (*Server).resume, harness.ErrNotFound, harness.ErrBusy, errNotPaused),
		act("POST", "/sessions/{id}/rewind", "rewindSession", "Take files back to their state before the turn of a message, or say what that would do.", http.StatusOK, (*Server).rewind, harness.ErrNotFound, harness.ErrBusy, harness.ErrUnsupported),
		get("/sessions/{id}/processes", "listProcesses", "The session's processes that live now: its runner and its agents.", (*Server).processes, harness.ErrNotFound),
		get("/sessions/{id}/events", "listEvents", "The session's events by seq, a page at a time.", (*Server).listEvents, harness.ErrNotFound),
		raw("GET", "/sessions/{id}/events/stream", "streamEvents", "The session's events, past and to come.", streamed, (*Server).streamEvents, harness.ErrNotFound),
		raw("GET", "/sessions/{id}/health/stream", "streamHealth", "The session's health, now and whenever it changes.", []answer{
			{http.StatusOK, mediaEvents, nil, "health_snapshot envelopes; id: the seq of the event that the snapshot is of"},
		}, (*Server).streamHealth, harness.ErrNotFound),
		get("/sessions/{id}/messages", "listMessages", "The conversation from its end to its beginning, a page at a time.", (*Server).listMessages, harness.ErrNotFound),
		get("/sessions/{id}/state", "getState", "The session's state at any event.", (*Server).stateAt, harness.ErrNotFound),
		raw("GET", "/sessions/{id}/export", "exportSession", "The session's log as an archive.", []answer{
			{http.StatusOK, mediaLines, nil, "one event a line, exactly as the log has it, and a last line with their count and checksum"},
		}, (*Server).export, harness.ErrNotFound),

		get("/approvals", "listApprovals", "What waits for an answer, over all sessions.", (*Server).listApprovals),
		act("POST", "/approvals/{request_id}", "answerApproval", "Decide. The first answer wins; the same again is fine.", http.StatusOK, (*Server).answer, harness.ErrNoApproval, harness.ErrDecided),
		get("/rules", "listRules", "The rules that answers with scope always left behind, oldest first.", (*Server).listRules),
		raw("DELETE", "/rules/{rule_id}", "revokeRule", "Revoke a rule: its tool is asked about again.", []answer{
			{http.StatusNoContent, "", nil, "it does not stand any more"},
		}, (*Server).revokeRule, harness.ErrNotFound),
		act("POST", "/policy/test", "testPolicy", "What would be decided about a call of a tool, by which rule and why. Nothing is called.", http.StatusOK, (*Server).testPolicy, harness.ErrUnsupported),
		get("/schedules", "listSchedules", "What happens by the clock, in the order of its making.", (*Server).listSchedules, harness.ErrUnsupported),
		act("POST", "/schedules", "addSchedule", "Have a background session made at each time that cron's fields or an interval say.", http.StatusCreated, (*Server).addSchedule, harness.ErrExists, harness.ErrUnsupported),
		raw("DELETE", "/schedules/{schedule_id}", "removeSchedule", "End a schedule. Sessions that it has made go on.", []answer{
			{http.StatusNoContent, "", nil, "it is gone"},
		}, (*Server).removeSchedule, harness.ErrNotFound, harness.ErrUnsupported),
		act("POST", "/schedules/{schedule_id}/run", "runSchedule", "Make a session of a schedule now.", http.StatusOK, (*Server).runSchedule, harness.ErrNotFound, harness.ErrUnsupported),
		get("/webhooks", "listWebhooks", "Who is told what happens.", (*Server).listWebhooks, harness.ErrUnsupported),
		act("POST", "/webhooks", "addWebhook", "Have a URL told what happens to one's sessions. The answer has the secret, once.", http.StatusCreated, (*Server).addWebhook, harness.ErrExists, harness.ErrUnsupported),
		raw("DELETE", "/webhooks/{name}", "removeWebhook", "Tell a URL nothing any more.", []answer{
			{http.StatusNoContent, "", nil, "it is told nothing any more"},
		}, (*Server).removeWebhook, harness.ErrNotFound, harness.ErrUnsupported),
		act("POST", "/webhooks/{name}/test", "tryWebhook", "Tell a URL or a command that this is a test, now, and say what came of it.", http.StatusOK, (*Server).tryWebhook, harness.ErrNotFound, harness.ErrUnsupported),
		get("/tokens", "listTokens", "The server's named tokens; what they are themselves is not kept.", (*Server).listTokens, harness.ErrUnsupported),
		act("POST", "/tokens", "addToken", "Make a token. The answer has it, once.", http.StatusCreated, (*Server).addToken, harness.ErrExists, harness.ErrUnsupported),
		raw("DELETE", "/tokens/{name}", "removeToken", "End a token. What it has open is closed.", []answer{
			{http.StatusNoContent, "", nil, "it is nobody's any more"},
		}, (*Server).removeToken, harness.ErrNotFound, harness.ErrUnsupported),
		raw("GET", "/artifacts/{artifact_id}", "getArtifact", "The content of an artifact, for whoever may see its session.", []answer{
			{http.StatusOK, mediaBytes, nil, "its bytes"},
		}, (*Server).artifact, harness.ErrNotFound),
		get("/engines", "listEngines", "The engines of this server: what each tells of and takes, and what it lacks.", (*Server).engines),
		get("/stream-events", "listStreamEvents", "The inventory of events.", (*Server).inventory),
		raw("GET", "/openapi.json", "getDescription", "This description.", []answer{{http.StatusOK, mediaJSON, reflect.TypeFor[document](), "OpenAPI 3.1"}}, (*Server).describeAPI),
	}
})

var streamed = []answer{{http.StatusOK, mediaEvents, nil, "id: the event's seq, event: its type, data: its envelope"}}

// reads is o with a body that is not JSON.
func (o route) reads(media ...string) route {
	o.media = media
	return o
}
