package docker

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"harness/sandbox/internal/proc"
	"harness/sandbox/internal/shim"
)

// inside is where a container has its shim.
const inside = "/.harness/" + shim.Name

// Times that an engine may take.
const (
	startPatience = 60 * time.Second
	pingPatience  = 5 * time.Second
	killPatience  = 10 * time.Second
)

// prefix is how names of containers begin; who made it follows.
const prefix = "harness-"

func newName() string {
	self, _ := proc.Read(os.Getpid())
	return fmt.Sprintf("%s%d-%d-%s", prefix, self.PID, self.Started, strings.ToLower(rand.Text()[:10]))
}

// container is a running container and the pipe to its init.
type container struct {
	client []string
	dir    string
	name   string
	cmd    *exec.Cmd // the client, attached to the init
	in     io.WriteCloser
	said   bytes.Buffer // what the client said on stderr; read when dead is closed
	dead   chan struct{}

	mu      sync.Mutex // guards waiting; serialises writes to in
	waiting map[string][]chan string
}

// client runs a command of the engine.
func command(ctx context.Context, client []string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, client[0], append(client[1:len(client):len(client)], args...)...)
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // a signal for the harness is not for it
	return c
}

// start makes a container with the given options of run and waits for its init.
// Its clients run in dir: engines write to where they are started.
func start(ctx context.Context, client []string, dir string, options []string, image string) (*container, shim.Pong, error) {
	c := &container{client: client, dir: dir, name: newName(), dead: make(chan struct{}), waiting: map[string][]chan string{}}
	args := append([]string{"run", "--rm", "-i", "--name", c.name, "--entrypoint", inside}, options...)
	c.cmd = command(context.WithoutCancel(ctx), client, append(args, image, "init")...)
	c.cmd.Dir = dir
	in, err := c.cmd.StdinPipe()
	if err != nil {
		return nil, shim.Pong{}, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, shim.Pong{}, err
	}
	c.in, c.cmd.Stderr = in, &c.said
	first := c.expect(shim.WordPong)
	if err := c.cmd.Start(); err != nil {
		return nil, shim.Pong{}, fmt.Errorf("start a container: %w", err)
	}
	go c.listen(out)
	word, err := c.await(ctx, first, startPatience)
	if err != nil {
		err = fmt.Errorf("start a container: %w", errors.Join(err, c.stop()))
		return nil, shim.Pong{}, fmt.Errorf("%w %s", err, bytes.TrimSpace(c.said.Bytes()))
	}
	return c, pong(word), nil
}

func pong(word string) (p shim.Pong) {
	_ = json.Unmarshal([]byte(strings.TrimPrefix(word, shim.WordPong+" ")), &p)
	return p
}

// listen hands the init's answers to who waits for them, until the client ends.
func (c *container) listen(out io.Reader) {
	for lines := bufio.NewScanner(out); lines.Scan(); {
		word := lines.Text()
		key := word
		if strings.HasPrefix(word, shim.WordPong) {
			key = shim.WordPong
		}
		c.mu.Lock()
		for _, w := range c.waiting[key] {
			w <- word
		}
		delete(c.waiting, key)
		c.mu.Unlock()
	}
	_ = c.cmd.Wait()
	close(c.dead)
}

// expect returns a channel on which an answer arrives.
func (c *container) expect(key string) <-chan string {
	w := make(chan string, 1) // an answer that nobody waits for any more
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting[key] = append(c.waiting[key], w)
	return w
}

var errDead = errors.New("the container has ended")

func (c *container) await(ctx context.Context, answer <-chan string, patience time.Duration) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case word := <-answer:
		return word, nil
	case <-c.dead:
		return "", errDead
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// order sends a word to the init.
func (c *container) order(words ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, _ = io.WriteString(c.in, strings.Join(words, " ")+"\n")
}

// ping asks the init how the container is.
func (c *container) ping(ctx context.Context) (shim.Pong, error) {
	answer := c.expect(shim.WordPong)
	c.order(shim.WordPing)
	word, err := c.await(ctx, answer, pingPatience)
	return pong(word), err
}

// kill kills the tree of a command and returns when it is gone, or false.
func (c *container) kill(id string) bool {
	answer := c.expect(shim.WordGone + " " + id)
	c.order(shim.WordKill, id)
	_, err := c.await(context.Background(), answer, killPatience)
	return err == nil || errors.Is(err, errDead)
}

// stop ends the container and everything in it and returns when it is gone.
func (c *container) stop() error {
	c.in.Close()
	select {
	case <-c.dead:
		return nil
	case <-time.After(killPatience):
	}
	out, err := command(context.Background(), c.client, "rm", "-f", c.name).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("remove container %s: %w %s", c.name, err, bytes.TrimSpace(out))
	}
	_ = c.cmd.Process.Kill()
	<-c.dead
	return err
}
