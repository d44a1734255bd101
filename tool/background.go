package tool

import (
	"context"
	"fmt"
	"strings"
	"time"

	"harness"
)

type outputInput struct {
	ID   string `json:"id" rule:"required max=32" doc:"The name that bash returned."`
	Wait int    `json:"wait_seconds" rule:"max=60" doc:"How long to wait for output if there is none yet. Default 0."`
}

// NewBashOutput returns what reads from background processes.
func NewBashOutput() Tool {
	return define("bash_output", "Returns what a background process has printed since the last call, and whether it still runs.",
		func(_ *Env, in *outputInput) (Plan, error) {
			return Plan{Access: harness.AccessRead, Keys: []string{"process:" + in.ID}, Summary: "look at background process " + in.ID}, nil
		}, runOutput)
}

func runOutput(ctx context.Context, env *Env, in *outputInput) (Result, error) {
	j, err := env.State.job(in.ID)
	if err != nil {
		return Result{}, err
	}
	if err := j.wait(ctx, time.Duration(in.Wait)*time.Second); err != nil {
		return Result{}, err
	}
	return j.report(), nil
}

// wait returns when there is output, the process has ended, or time is up.
func (j *job) wait(ctx context.Context, most time.Duration) error {
	up := time.NewTimer(most)
	defer up.Stop()
	for {
		some, news := j.output.waiting()
		if some || j.ended() {
			return nil
		}
		select {
		case <-news:
		case <-j.done:
		case <-up.C:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// report is what is new about a process. Whether it has ended is looked at
// first, so that the last report has the last output.
func (j *job) report() Result {
	status := map[string]any{"id": j.id, "running": true}
	says := "[" + j.id + " is running]"
	if j.ended() {
		status["running"], status["exit_code"] = false, j.exit.Code
		switch {
		case j.err != nil:
			says = fmt.Sprintf("[%s has ended; the sandbox: %v]", j.id, j.err)
		case j.exit.Cause == harness.ExitCancelled:
			says = "[" + j.id + " was killed]"
		case j.exit.Cause != "":
			says = fmt.Sprintf("[%s was killed: %s]", j.id, j.exit.Cause)
		default:
			says = fmt.Sprintf("[%s has ended with exit code %d]", j.id, j.exit.Code)
		}
	}
	if text := strings.TrimSuffix(j.output.take(), "\n"); text != "" {
		says = text + "\n" + says
	}
	return Result{Text: says, Data: data(status)}
}

type killInput struct {
	ID string `json:"id" rule:"required max=32" doc:"The name that bash returned."`
}

// NewBashKill returns what ends background processes.
func NewBashKill() Tool {
	return define("bash_kill", "Ends a background process with all that it started, and returns what it printed last.",
		func(_ *Env, in *killInput) (Plan, error) {
			return Plan{Access: harness.AccessExecute, Keys: []string{"process:" + in.ID}, Summary: "end background process " + in.ID}, nil
		}, runKill)
}

func runKill(ctx context.Context, env *Env, in *killInput) (Result, error) {
	j, err := env.State.job(in.ID)
	if err != nil {
		return Result{}, err
	}
	j.kill()
	select {
	case <-j.done:
		return j.report(), nil
	case <-ctx.Done():
		return Result{}, context.Cause(ctx)
	}
}
