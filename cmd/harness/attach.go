package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"harness"
)

// room is a session that somebody is attached to. One goroutine owns it and
// receives from what; the rest never blocks for long.
type room interface {
	what() <-chan []byte // messages; closed when no more come
	take(line []byte, now time.Time) error
	gone() error // why no more come
	prompt(text string)
	decide(q question, reply string)
	cancel()
	ready() bool // it is known whether a turn runs
	running() bool
	ours() bool // it stops when we leave
	close(now bool)
}

// attach follows a session and lets a person talk to it.
func attach(ctx context.Context, p *program, args []string) error {
	f := p.flags("attach", "[flags] [SESSION]", "Follow a session: what was said so far, and then everything as it happens. Without SESSION it is the newest.\n"+
		"A line you type is sent: it starts a turn, or steers the one that runs. y, n and a answer questions, Esc cancels the turn.\n"+
		"Ctrl-C leaves; a session of a server goes on, a local turn is cancelled first.\n"+
		"Without --connect, --cwd and --store it is the server of your data directory if one runs, else the threads of this directory.",
		"harness attach",
		"harness attach --connect http://127.0.0.1:7717 ses_01…",
		"harness attach --cwd ~/project")
	b := f.backend()
	if err := f.parse(args, 0, 1); err != nil {
		return err
	}
	var id string
	if len(f.args) == 1 {
		parsed, err := harness.ParseSessionID(f.args[0])
		if err != nil {
			return fmt.Errorf("%q: %w", f.args[0], err)
		}
		id = string(parsed)
	}
	local := false
	f.Visit(func(g *flag.Flag) { local = local || g.Name == "cwd" || g.Name == "store" })
	server, there := remote{}, *b.connect != ""
	switch {
	case there:
		var err error
		if server, err = p.remote(*b.connect); err != nil {
			return err
		}
	case !local && *b.store == "":
		server, there = p.nearby()
	}
	d := newDesk(p, false)
	defer d.close()
	ctx = context.WithoutCancel(ctx) // signals are ours to deal with
	var r room
	var err error
	if there {
		r, err = watchServer(ctx, server, id, d.t)
	} else {
		r, err = openThread(ctx, b, id, d.t)
	}
	if err != nil {
		return err
	}
	if !d.asks {
		d.listen(ctx)
	}
	g := &guest{room: r, desk: d}
	err = g.stay()
	r.close(g.hurry)
	return errors.Join(err, d.close())
}

// openThread opens a thread of a directory.
func openThread(ctx context.Context, b backend, id string, t *transcript) (room, error) {
	pe, err := b.start(ctx)
	if err != nil {
		return nil, err
	}
	return openLocal(pe, id, t), nil
}

// guest is the person in a room.
type guest struct {
	room  room
	desk  *desk
	asked bool // Ctrl-C was pressed
	hurry bool // twice
	left  bool
}

// stay shows the session until the person leaves or it is gone.
func (g *guest) stay() error {
	t := g.desk.t
	if g.desk.asks {
		t.typing, t.hint = true, "Enter sends · Esc cancels the turn · Ctrl-C leaves"
	}
	for !g.left && !(g.asked && !g.room.running()) {
		if len(g.room.what()) == 0 { // draw once for all that came together
			if err := t.refresh(time.Now()); err != nil {
				return err
			}
		}
		keys := g.desk.keys
		if !g.room.ready() {
			keys = nil // they wait
		}
		select {
		case line, ok := <-g.room.what():
			if !ok {
				return g.room.gone()
			}
			if err := g.room.take(line, time.Now()); err != nil {
				return err
			}
		case key := <-keys:
			g.press(key)
		case s := <-g.desk.signals:
			if !g.desk.sleep(s) {
				g.interrupt(s)
			}
		case <-g.desk.ticks:
		}
	}
	return nil
}

// interrupt leaves. A turn that would stop with us is cancelled first.
func (g *guest) interrupt(s os.Signal) {
	if s == os.Interrupt && g.room.ours() && g.room.running() && !g.asked {
		g.asked = true
		g.desk.t.note = "cancelling, then leaving · "
		g.room.cancel()
		return
	}
	g.left, g.hurry = true, g.room.running()
}

// The keys that are not characters.
const (
	ctrlD     = 0x04
	ctrlU     = 0x15
	ctrlW     = 0x17
	backspace = 0x7f
)

func (g *guest) press(key rune) {
	t := g.desk.t
	t.note = ""
	switch key {
	case '\n', '\r':
		g.enter()
	case backspace, '\b':
		t.typed = t.typed[:max(0, len(t.typed)-1)]
	case ctrlU:
		t.typed = nil
	case ctrlW:
		t.typed = withoutWord(t.typed)
	case ctrlD:
		g.left = len(t.typed) == 0
	case escape:
		if g.room.running() {
			g.room.cancel()
		}
	default:
		if len(t.asked) > 0 && len(t.typed) == 0 && g.desk.asks {
			if reply, ok := t.asked[0].reply(key); ok {
				g.room.decide(t.asked[0], reply)
				return
			}
		}
		if key == '\t' {
			key = ' '
		}
		if !steers(key) && len(t.typed) < maxTyped {
			t.typed = append(t.typed, key)
		}
	}
}

// maxTyped is more than anybody types into one line.
const maxTyped = 64 << 10

// enter sends what was typed: an answer, where keys come as lines, or a prompt.
func (g *guest) enter() {
	t := g.desk.t
	text := string(t.typed)
	t.typed = nil
	if len(t.asked) > 0 && len(text) == 1 {
		if reply, ok := t.asked[0].reply(rune(text[0])); ok {
			g.room.decide(t.asked[0], reply)
			return
		}
	}
	if strings.TrimSpace(text) != "" {
		g.room.prompt(text)
	}
}

func withoutWord(text []rune) []rune {
	n := len(text)
	for n > 0 && text[n-1] == ' ' {
		n--
	}
	for n > 0 && text[n-1] != ' ' {
		n--
	}
	return text[:n]
}
