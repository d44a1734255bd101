package node

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"harness"
	"harness/internal/mint"
)

// Do has a command carried out by the session's owner and returns what that
// answers.
func (n *Node) Do(ctx context.Context, id harness.SessionID, cmd harness.Command) (harness.Receipt, error) {
	key := mint.ID("ord_")
	body, err := encode(cmd, key)
	if err != nil {
		return harness.Receipt{}, err
	}
	return n.send(ctx, harness.Order{Session: id, Key: key, Body: body})
}

// Remove has a session removed by its owner. The order goes with it.
func (n *Node) Remove(ctx context.Context, id harness.SessionID) error {
	body, err := json.Marshal(order{Kind: removal})
	if err != nil {
		return err
	}
	_, err = n.send(ctx, harness.Order{Session: id, Key: mint.ID("ord_"), Body: body})
	if errors.Is(err, harness.ErrNotFound) {
		return nil
	}
	return err
}

// send waits for the answer to an order, and sees to it meanwhile that somebody
// is there to give it.
func (n *Node) send(ctx context.Context, o harness.Order) (harness.Receipt, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	var nudging sync.WaitGroup
	defer nudging.Wait()
	defer cancel(nil)
	nudging.Go(func() { cancel(n.nudge(ctx, o.Session)) })
	text, err := n.store.Send(ctx, o)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	if err != nil {
		return harness.Receipt{}, err
	}
	return outcome(text)
}

// firstNudge is when a sender first looks whether the owner has gone: longer
// than an answer takes.
const firstNudge = 50 * time.Millisecond

// nudge takes the session over if its owner goes, or went before the order came.
// It ends with ctx, or if there is no such session any more.
func (n *Node) nudge(ctx context.Context, id harness.SessionID) error {
	for wait := min(firstNudge, n.lease/2); ; wait = min(2*wait, n.lease/2) {
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return nil
		}
		if err := n.k.Adopt(ctx, id); errors.Is(err, harness.ErrNotFound) {
			return err
		} // else as often as it takes; the order itself is durable
	}
}

// ordersAtOnce bounds what is carried out for other nodes at the same time: a
// rewind takes long, and must not hold up a cancel.
const ordersAtOnce = 1024

// receive carries out the orders of owner's sessions until ctx ends.
func (n *Node) receive(ctx context.Context, owner string) {
	var wg sync.WaitGroup
	defer wg.Wait()
	atOnce := make(chan struct{}, ordersAtOnce)
	for ctx.Err() == nil {
		for o, err := range n.store.Receive(ctx, owner) {
			if err != nil {
				if ctx.Err() == nil {
					n.log.Error("orders not received", "err", err)
					n.pause(n.lease / 8)
				}
				break
			}
			atOnce <- struct{}{}
			wg.Go(func() {
				defer func() { <-atOnce }()
				n.carryOut(ctx, o)
			})
		}
	}
}

// retryEvery is how often an order is tried again that this node could not carry
// out for reasons of its own.
const retryEvery = 100 * time.Millisecond

// carryOut does what an order says and answers it. If the session is taken away,
// the next owner does; what was done is found by its key then.
func (n *Node) carryOut(ctx context.Context, o harness.Order) {
	cmd, err := decode(o.Body)
	var receipt harness.Receipt
	for began := time.Now(); err == nil; {
		if cmd == nil {
			err = n.k.RemoveHere(ctx, o.Session)
		} else {
			receipt, err = n.k.DoHere(ctx, o.Session, cmd)
		}
		if err == nil || !passes(err) {
			break
		}
		if ctx.Err() != nil || errors.Is(err, harness.ErrLocked) {
			return
		}
		if errors.Is(err, harness.ErrStorage) && time.Since(began) > n.lease { // whoever waits may try again
			break
		}
		err = nil
		n.pause(retryEvery)
	}
	text := reply(receipt, err)
	for ctx.Err() == nil {
		err := n.store.Answer(ctx, o, text)
		if err == nil || !errors.Is(err, harness.ErrStorage) {
			return // answered, or not ours any more
		}
		n.pause(retryEvery)
	}
}
