package acp

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"harness"
	"harness/engine/internal/talk"
)

// translator turns updates into facts about a turn.
type translator struct {
	directory string
	calls     talk.Calls
	speech    talk.Speech
	strange   talk.Strange
	message   string // that is being said
	known     map[string]*update

	commands  bool // it has run some
	used, all int64
	cost      *float64 // of the conversation so far, in USD

	screen func(id string) string // what a terminal shows
}

func newTranslator(directory string) *translator {
	return &translator{directory: directory, strange: make(talk.Strange), known: make(map[string]*update)}
}

// take is what an update tells.
func (t *translator) take(u *update) []harness.Payload {
	switch u.Kind {
	case "agent_message_chunk":
		if u.Message != t.message {
			t.message = u.Message
			t.speech.Block()
		}
		return t.speech.Say(u.block().String())
	case "agent_thought_chunk":
		t.speech.Block()
		return talk.Think(u.block().String())
	case "tool_call", "tool_call_update":
		t.speech.Block()
		return t.call(u)
	case "plan":
		var facts []harness.Payload
		for i, e := range u.Entries {
			facts = append(facts, &harness.StepProgress{StepID: strconv.Itoa(i + 1), Index: i, Total: len(u.Entries), Title: e.Content, Status: e.Status})
		}
		return facts
	case "usage_update":
		t.used, t.all = u.Used, u.Size
		if u.Cost != nil && u.Cost.Currency == "USD" && u.Cost.Amount > 0 { // none is what agents say that know no price
			t.cost = &u.Cost.Amount
		}
	case "compaction_update":
		if u.Status == "completed" {
			return []harness.Payload{&harness.ContextCompacted{Summary: "the agent compacted the conversation; it does not say how"}}
		}
	case "notice":
		if u.Severity == "warning" || u.Severity == "error" {
			return []harness.Payload{&harness.TransportDiagnostic{Status: "degraded", Kind: "agent_" + u.Severity, Reason: strings.TrimSpace(u.Title + " " + u.Description)}}
		}
	case "user_message_chunk", "available_commands_update", "current_mode_update", "config_option_update", "session_info_update", "compaction_summary_chunk":
	default:
		t.strange.Count("update " + u.Kind)
	}
	return nil
}

func (u *update) block() (b block) {
	_ = json.Unmarshal(u.Content, &b) // one that cannot be read says nothing
	return b
}

// merge adds what is new about a call to what is known.
func (t *translator) merge(u *update) *update {
	k := t.known[u.ID]
	if k == nil || u.Kind == "tool_call" {
		k = &update{ID: u.ID, Status: "pending", Tool: "other"}
		t.known[u.ID] = k
	}
	k.Title, k.Tool, k.Status = cmp.Or(u.Title, k.Title), cmp.Or(u.Tool, k.Tool), cmp.Or(u.Status, k.Status)
	if u.Locations != nil {
		k.Locations = u.Locations
	}
	for _, f := range []struct{ to, from *json.RawMessage }{{&k.Input, &u.Input}, {&k.Output, &u.Output}, {&k.Content, &u.Content}} {
		if v := bytes.TrimSpace(*f.from); len(v) > 0 && !bytes.Equal(v, []byte("null")) {
			*f.to = v
		}
	}
	return k
}

// input is what is known to go into a call.
func (u *update) input() json.RawMessage {
	if len(u.Input) > 0 && u.Input[0] == '{' && !bytes.Equal(u.Input, []byte("{}")) {
		return u.Input
	}
	b, err := json.Marshal(struct {
		Title string `json:"title"`
	}{u.Title})
	if err != nil {
		panic("acp: a title that is no JSON: " + err.Error())
	}
	return b
}

// call is a call that has changed. One that is pending is not told: what goes
// into it may still come.
func (t *translator) call(u *update) (facts []harness.Payload) {
	k := t.merge(u)
	if k.Status == "pending" {
		return nil
	}
	c := t.calls.Find(k.ID)
	if c == nil || u.Kind == "tool_call" {
		c = t.calls.Know(k.ID, k.Tool, k.input())
	}
	facts = t.calls.Tell(c)
	t.commands = t.commands || accessOf(k.Tool) == "" || accessOf(k.Tool) == harness.AccessExecute
	said := text(k.Content, nil)
	switch k.Status {
	case "in_progress":
		if len(said) > c.Log {
			facts = append(facts, &harness.ToolLog{ToolCallID: c.ID, Text: said[c.Log:]})
			c.Log = len(said)
		}
	case "completed":
		facts = append(facts, t.calls.Close(c, talk.End{Output: text(k.Content, t.screen), Result: k.Output})...)
	case "failed":
		facts = append(facts, t.calls.Close(c, talk.End{Failed: cmp.Or(text(k.Content, t.screen), "it failed")})...)
	}
	return facts
}

// usage is what the turn used, as far as the agent says.
func (t *translator) usage(done *promptAnswer, k *kept) []harness.Payload {
	u := &harness.Usage{Model: k.offer.chosen()[ofModel]}
	quota := done.Meta.Quota.Tokens
	if n := done.Usage; n != nil {
		u.InputTokens, u.OutputTokens, u.CachedTokens = n.Input+n.Read+n.Written, n.Output+n.Thought, n.Read
	} else if quota != nil {
		u.InputTokens, u.OutputTokens = quota.Input, quota.Output
	}
	if t.cost != nil {
		spent := *t.cost
		if spent >= k.cost { // or it counts anew, in this process
			spent -= k.cost
		}
		u.CostUSD, k.cost = &spent, *t.cost
	}
	if t.all > 0 {
		u.ContextPct = new(100 * float64(t.used) / float64(t.all))
	}
	if done.Usage == nil && quota == nil && t.cost == nil && t.all == 0 {
		return nil
	}
	return []harness.Payload{u}
}

// acts reports whether a line shows the agent at work, or cannot be read.
func acts(line []byte) bool {
	m, err := talk.Decode(line)
	if err != nil {
		return true
	}
	if m.Method != "session/update" {
		return len(m.ID) > 0 && m.Method != ""
	}
	var n updateNotice
	if m.Read(&n) != nil {
		return true
	}
	switch n.Update.Kind {
	case "agent_message_chunk", "agent_thought_chunk", "tool_call":
		return true
	}
	return false
}
