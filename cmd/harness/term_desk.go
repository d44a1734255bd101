package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/signal"
	"sync"
	"time"
)

// desk is the place of the person: their keys, signals, and the transcript they
// look at. Whoever makes one closes it.
type desk struct {
	t       *transcript
	asks    bool           // somebody can be asked
	keys    chan rune      // never if there is nobody
	signals chan os.Signal // not lost: there is room for a hurried person's
	ticks   <-chan time.Time

	in      io.Reader // where the keys come from
	restore func()
	ticker  *time.Ticker
	hangUp  context.CancelFunc
	reading sync.WaitGroup
	closing error
}

// newDesk sets up the terminal, if there is one and the output is for people.
func newDesk(p *program, machine bool) *desk {
	dumb := p.getenv("TERM") == "dumb" || p.getenv("TERM") == ""
	d := &desk{signals: make(chan os.Signal, 16), keys: make(chan rune), restore: func() {}}
	ctx, cancel := context.WithCancel(context.Background())
	d.hangUp = cancel
	s := &screen{w: p.stdout, size: func() (int, int) { return termSize(p.stdout) }}
	if machine {
		s.w = io.Discard
	}
	s.moving = !machine && !dumb && isTerminal(p.stdout)
	s.colours = s.moving && p.getenv("NO_COLOR") == ""
	d.t = &transcript{screen: s}
	notifySignals(d.signals)
	if s.moving {
		d.ticker = time.NewTicker(tick)
		d.ticks = d.ticker.C
	}
	d.in = p.stdin
	if s.moving && !isTerminal(p.stdin) { // the prompt came through a pipe; the person is still there
		if tty, err := os.Open("/dev/tty"); err == nil {
			d.in = tty
			context.AfterFunc(ctx, func() { tty.Close() })
		}
	}
	d.asks = s.moving && isTerminal(d.in)
	if d.asks {
		d.hold()
		d.t.hint = "Ctrl-C cancels"
		d.listen(ctx)
	}
	return d
}

// listen reads keys until the desk closes.
func (d *desk) listen(ctx context.Context) {
	in := interruptible(ctx, d.in)
	d.reading.Go(func() {
		defer in.Close()
		r := bufio.NewReaderSize(in, 1024)
		for {
			key, _, err := r.ReadRune()
			if err != nil {
				return
			}
			if key == escape && r.Buffered() > 0 { // a key without a character, such as an arrow
				r.Discard(r.Buffered())
				continue
			}
			select {
			case d.keys <- key:
			case <-ctx.Done():
				return
			}
		}
	})
}

const escape = 0x1b

// hold makes the keys ours.
func (d *desk) hold() {
	if restore, err := quiet(d.in); d.asks && err == nil {
		d.restore = restore
	}
}

// release gives the terminal back as it was.
func (d *desk) release() {
	d.restore()
	d.restore = func() {}
}

// sleep is Ctrl-Z: the terminal is somebody else's until fg. It reports whether
// s was that.
func (d *desk) sleep(s os.Signal) bool {
	return suspended(s, func() {
		d.t.below = nil
		d.t.flush()
		d.release()
	}, d.hold)
}

func (d *desk) refresh(now time.Time) error { return d.t.refresh(now) }

func (d *desk) flush() error { return d.t.flush() }

// close gives the terminal back as it was. Only the first call does anything.
func (d *desk) close() error {
	if d.hangUp == nil {
		return d.closing
	}
	d.closing = d.t.close()
	d.hangUp()
	d.hangUp = nil
	d.reading.Wait()
	signal.Stop(d.signals)
	if d.ticker != nil {
		d.ticker.Stop()
	}
	d.release()
	return d.closing
}
