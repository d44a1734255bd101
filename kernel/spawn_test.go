package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"harness"
)

// delegate hands everything after "do " down, word for word.
func delegate(a *attempt, child *harness.SessionID) (string, error) {
	task, ok := strings.CutPrefix(harness.PlainText(a.turn.Parts), "do ")
	if !ok {
		return task, a.say(task)
	}
	answer, err := a.host.(harness.Spawner).Spawn(a.ctx, harness.NewSession{}, task, func(id harness.SessionID) { *child = id })
	if err != nil {
		return "", err
	}
	return answer, a.say(answer)
}

func TestATaskIsHandedToASessionOfItsOwn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var last harness.SessionID
		r := with(t, nil, func(a *attempt) error {
			_, err := delegate(a, &last)
			return err
		})
		r.submit("do do look")
		st := r.rest()
		if got := r.conversation(st); got != "user:do do look(complete) assistant:look(complete)" {
			t.Error(got)
		}
		child, err := r.k.At(t.Context(), last, 0)
		if err != nil {
			t.Fatal(err)
		}
		if child.SpawnedBy == "" || child.Depth != 2 || child.Config.PermissionMode != st.Config.PermissionMode || child.Directory != st.Directory {
			t.Errorf("child %+v", child)
		}
		r.submit("do do do do deep")
		if st := r.rest(); !strings.Contains(st.Error, "nest deeper than 3") {
			t.Errorf("error %q", st.Error)
		}
	})
}

func TestAFailedTaskIsItsParentsToJudge(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var child harness.SessionID
		r := with(t, nil, func(a *attempt) error {
			if harness.PlainText(a.turn.Parts) == "break" {
				return errors.New("it broke")
			}
			_, err := delegate(a, &child)
			return a.say(fmt.Sprint(err))
		})
		r.submit("do break")
		st := r.rest()
		if got := st.Messages[1].Content.String(); !strings.Contains(got, string(child)) || !strings.Contains(got, "it broke") || st.Status != harness.Idle {
			t.Errorf("%s %q", st.Status, got)
		}
	})
}

func TestACancelReachesWhoDoesTheTask(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var child harness.SessionID
		r := with(t, nil, func(a *attempt) error {
			if harness.PlainText(a.turn.Parts) == "wait" {
				<-a.ctx.Done()
				return context.Cause(a.ctx)
			}
			_, err := delegate(a, &child)
			return err
		})
		r.submit("do wait")
		synctest.Wait()
		r.do(harness.Cancel{})
		r.rest()
		st, err := r.k.At(t.Context(), child, 0)
		if err != nil || st.Turn != nil || st.Turns != 1 {
			t.Errorf("child %+v, %v", st, err)
		}
	})
}
