package claude_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"harness"
	"harness/engine/internal/bridgetest"
	"harness/engine/internal/program"
)

// misbehave is a program that answers prompts, and "wrong" in its own way.
func misbehave(how string) int {
	r := bufio.NewReader(os.Stdin)
	for {
		b, err := r.ReadBytes('\n')
		if err != nil {
			return 0
		}
		m := hear(b)
		if m.Type == "control_request" && m.Request.Subtype == "set_model" && how == "stubborn" {
			fmt.Printf(`{"type":"control_response","response":{"subtype":"error","request_id":%q,"error":"no such model"}}`+"\n", m.RequestID)
		}
		if m.Type != "user" {
			continue
		}
		fmt.Println(`{"type":"system","subtype":"init","session_id":"s","model":"m","tools":[]}`)
		fmt.Println(`{"type":"stream_event","event":{"type":"message_start","message":{"id":"m"}},"session_id":"s"}`)
		fmt.Println(`{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"Half"}},"session_id":"s"}`)
		if strings.HasSuffix(m.Message.Content, "wrong") {
			if code, all := bridgetest.Fault(how).Commit(r, os.Stdout, os.Stderr); all && code < 0 {
				continue
			} else if all {
				return code
			}
			switch how {
			case "exit1":
				fmt.Printf(`{"type":"result","subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":400,"result":"API Error: 400 no","session_id":"s","user_message_uuids":[%q]}`+"\n", m.UUID)
				return 1
			case "stray":
				fmt.Println(`{"type":"user","message":{"content":[]}}`)
			case "cut short":
				if err := exec.Command("sleep", "300").Start(); err != nil {
					return 70
				}
				fmt.Println(`{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{}}]}}`)
				_, _ = r.ReadBytes('\n') // it is interrupted
				fmt.Printf(`{"type":"result","subtype":"error_during_execution","is_error":true,"terminal_reason":"aborted_tools","session_id":"s","user_message_uuids":[%q]}`+"\n", m.UUID)
				continue
			case "folds", "queues":
				old(r, m.UUID, how == "folds")
				continue
			case "unknown":
				fmt.Println(`{"type":"brand_new","x":1}`)
				fmt.Println(`{"type":"brand_new","x":2}`)
				fmt.Println(`{"type":"system","subtype":"newer"}`)
			}
		}
		fmt.Printf(`{"type":"result","subtype":"success","is_error":false,"terminal_reason":"completed","result":"Half","session_id":"s","user_message_uuids":[%q]}`+"\n", m.UUID)
	}
}

// told is something that the program is told.
type told struct {
	Type, UUID string
	RequestID  string `json:"request_id"`
	Request    struct{ Subtype string }
	Message    struct{ Content string }
}

func hear(b []byte) (m told) {
	_ = json.Unmarshal(b, &m)
	return m
}

// old is a turn of a version that does not say which messages a result is about,
// and takes back none that wait: it repeats what it takes up. What is said to it
// meanwhile it folds in, or keeps for later.
func old(r *bufio.Reader, uuid string, folds bool) {
	next := func() told {
		b, err := r.ReadBytes('\n')
		if err != nil {
			os.Exit(0)
		}
		return hear(b)
	}
	repeat := func(uuid string) {
		fmt.Printf(`{"type":"user","isReplay":true,"uuid":%q,"message":{"content":"x"}}`+"\n", uuid)
	}
	repeat(uuid)
	steer := next()
	fmt.Println(`{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":" heard"}},"session_id":"s"}`)
	if folds {
		repeat(steer.UUID)
		fmt.Println(`{"type":"result","subtype":"success","is_error":false,"terminal_reason":"completed","result":"Half","session_id":"s"}`)
		return
	}
	stop := next()
	fmt.Printf(`{"type":"control_response","response":{"subtype":"success","request_id":%q}}`+"\n", stop.RequestID)
	fmt.Println(`{"type":"result","subtype":"error_during_execution","is_error":true,"terminal_reason":"aborted_streaming","session_id":"s"}`)
}

// TestAVersionThatSaysLessIsHeardOut and stopped, too: one that folds a steer in
// gives one result for two messages, one that has it waiting does it afterwards.
func TestAVersionThatSaysLessIsHeardOut(t *testing.T) {
	t.Parallel()
	for how, end := range map[string]string{"folds": "turn_end completed", "queues": "turn_end cancelled"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			s := bridge.As(t, "fault", program.Options{}, "HARNESS_TEST_STORY="+how)
			s.Say("wrong")
			s.Saw("token Half")
			s.Do(harness.Steer{Parts: harness.TextPart("banana")})
			s.Saw(" heard")
			if how == "queues" {
				s.Do(harness.Cancel{})
			}
			s.Ended(1)
			s.Has(end)
			if how == "queues" {
				s.None()
			}
			s.Ask("right")
		})
	}
}

// TestASettingThatIsRefusedIsOfTheNextProcess so that the session gets it all the
// same.
func TestASettingThatIsRefusedIsOfTheNextProcess(t *testing.T) {
	t.Parallel()
	s := bridge.As(t, "fault", program.Options{}, "HARNESS_TEST_STORY=stubborn")
	s.Ask("right")
	s.Do(harness.Configure{Patch: harness.ConfigPatch{Model: new("another")}})
	s.Ask("right")
	s.Has("transport_diagnostic degraded control_refused")
	s.NotRunning("\x00--model\x00another\x00")
	s.Ask("right")
	if !s.Running("\x00--model\x00another\x00") {
		t.Error("the next process has not the model")
	}
}

// TestAProgramThatMisbehavesEndsTheTurnNotTheSession lets the program go wrong
// in each way; afterwards the session takes another prompt.
func TestAProgramThatMisbehavesEndsTheTurnNotTheSession(t *testing.T) {
	t.Parallel()
	bridge.Faults(t, "API Error: 400 no", "3: brand_new ×2, system/newer ×1")
}

// TestWhatACommandLeftEndsWithTheTurnThatIsCancelled in the middle of it.
func TestWhatACommandLeftEndsWithTheTurnThatIsCancelled(t *testing.T) {
	t.Parallel()
	s := bridge.As(t, "fault", program.Options{}, "HARNESS_TEST_STORY=cut short")
	s.Ask("right")
	s.Say("wrong")
	s.Saw("tool_call t1")
	s.Do(harness.Cancel{})
	s.Ended(2)
	s.None()
	s.Ask("right")
}

// TestItRunsInNamespaces of ours, and its own sandbox is off there.
func TestItRunsInNamespaces(t *testing.T) {
	t.Parallel()
	bridge.Fenced(t, "claude's own sandbox is off")
}

// TestItsTemporaryDirectoryIsShort wherever the server's is, so that sockets fit
// in, and goes with it. Nothing else of the server's environment is the program's.
func TestItsTemporaryDirectoryIsShort(t *testing.T) { bridge.Short(t) }

// TestASessionHasOneProcess however many speak to it, to a branch of it, or would
// run it on the same files.
func TestASessionHasOneProcess(t *testing.T) {
	t.Parallel()
	bridge.OneProcess(t)
}
