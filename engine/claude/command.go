package claude

import (
	"path/filepath"
	"strconv"

	"harness"
	"harness/engine/internal/program"
)

// launch is how a process is to be started.
type launch struct {
	session   harness.SessionID
	directory string
	id        string            // the program's session
	resume    string            // the session to go on with; "" for none
	at        string            // up to which of its messages; "" for all
	from      harness.SessionID // who has that session; "" for this one
	config    harness.Config
}

// askRules makes the program ask about everything of these kinds, also what it
// would take for harmless. Edits it asks about by itself.
const askRules = `{"permissions":{"ask":["Bash","PowerShell","WebFetch","WebSearch"]}}`

// without are tools that act when no turn runs, or tell of those that do.
const without = "CronCreate,CronDelete,CronList,ScheduleWakeup,Monitor"

// args are the flags of a process. It reads no settings files: they can allow
// what nobody was asked about.
func (l launch) args() []string {
	args := []string{
		"-p", "--output-format", "stream-json", "--input-format", "stream-json", "--verbose", "--include-partial-messages",
		"--permission-prompt-tool", "stdio", "--replay-user-messages", "--forward-subagent-text", "--setting-sources", "", "--strict-mcp-config",
		"--settings", askRules, "--disallowedTools", without, "--permission-mode", asking,
	}
	add := func(flag, value string) {
		if value != "" {
			args = append(args, flag, value)
		}
	}
	switch {
	case l.resume == l.id:
		add("--resume", l.resume)
	case l.resume != "":
		add("--resume", l.resume)
		add("--resume-session-at", l.at)
		args = append(args, "--fork-session", "--session-id", l.id)
	default:
		add("--session-id", l.id)
	}
	add("--model", l.config.Model)
	add("--effort", string(l.config.Effort))
	add("--agent", l.config.Agent)
	if l.config.SystemPrompt != "" {
		add("--system-prompt", l.config.SystemPrompt)
		add("--system-prompt-snapshot", "off") // or a resumed session keeps its old one
	}
	if l.config.MaxTurns > 0 {
		add("--max-turns", strconv.Itoa(l.config.MaxTurns))
	}
	return args
}

// asking is the program's mode whatever the session's is: it asks, and the
// session's policy decides, in accept_edits and full_auto, too. So no rule is
// passed by, and it works for root, whom the program refuses its own full auto.
const asking = "default"

// environ is the whole environment of a process but for TMPDIR.
func environ(home string) []string {
	return []string{
		program.Path,
		"HOME=" + home,
		"LANG=C.UTF-8",
		"CLAUDE_CONFIG_DIR=" + filepath.Join(home, "config"),
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", // the rest says it again, for versions that do not know it
		"DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1", "DISABLE_AUTOUPDATER=1", "DO_NOT_TRACK=1",
		"CLAUDE_CODE_DISABLE_BACKGROUND_TASKS=1", // a turn's work ends with the turn
	}
}
