package notify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// commandFor is how long a command may take; waitFor, how long after its end
// what it has left behind may hold its output.
const (
	commandFor = time.Minute
	waitFor    = time.Second
)

// command runs a program for each notice, with the notice as JSON on its
// standard input. Exit code 0 is delivered.
type command struct {
	argv []string
	env  []string
}

func (c command) deliver(ctx context.Context, it item) error {
	ctx, cancel := context.WithTimeout(ctx, commandFor)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.argv[0], c.argv[1:]...)
	cmd.Env = append(c.env[:len(c.env):len(c.env)],
		"HARNESS_NOTICE_ID="+it.notice.ID, "HARNESS_NOTICE_KIND="+string(it.notice.Kind), "HARNESS_NOTICE_SESSION="+string(it.notice.Session))
	cmd.Stdin = bytes.NewReader(Body(it.notice, it.about))
	said := &tail{most: 512}
	cmd.Stdout, cmd.Stderr = said, said
	cmd.WaitDelay = waitFor
	apart(cmd)
	err := cmd.Run()
	if errors.Is(err, exec.ErrWaitDelay) { // it is done; something that it left behind is not
		err = nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w: %s", c.argv[0], err, strings.ToValidUTF8(string(said.text), "?"))
	}
	return nil
}

// tail keeps the end of what is written to it.
type tail struct {
	text []byte
	most int
}

func (t *tail) Write(b []byte) (int, error) {
	t.text = append(t.text, b...)
	if over := len(t.text) - t.most; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
	return len(b), nil
}
