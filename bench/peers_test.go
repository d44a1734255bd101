package bench

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/centrifugal/centrifuge"
	"github.com/coder/websocket"
)

// other is somebody else's server on a loopback socket, in this process.
type other struct {
	http *http.Server
	addr string
	wg   sync.WaitGroup
	node *centrifuge.Node
}

// serveCentrifuge is the library's own server as its examples start it.
func serveCentrifuge() (*other, error) {
	node, err := centrifuge.New(centrifuge.Config{LogLevel: centrifuge.LogLevelNone})
	if err != nil {
		return nil, err
	}
	node.OnConnecting(func(context.Context, centrifuge.ConnectEvent) (centrifuge.ConnectReply, error) {
		return centrifuge.ConnectReply{Credentials: &centrifuge.Credentials{UserID: "u"}}, nil
	})
	node.OnConnect(func(c *centrifuge.Client) {
		c.OnSubscribe(func(_ centrifuge.SubscribeEvent, cb centrifuge.SubscribeCallback) {
			cb(centrifuge.SubscribeReply{}, nil)
		})
		c.OnRPC(func(e centrifuge.RPCEvent, cb centrifuge.RPCCallback) { // the one exchange of the idle test
			cb(centrifuge.RPCReply{Data: e.Data}, nil)
		})
	})
	if err := node.Run(); err != nil {
		return nil, err
	}
	o := &other{node: node}
	o.http, o.addr, err = listen(&o.wg, centrifuge.NewWebsocketHandler(node, centrifuge.WebsocketConfig{
		PingPongConfig: centrifuge.PingPongConfig{PingInterval: time.Hour, PongTimeout: time.Minute}, // the crowd does not answer
	}))
	return o, err
}

// publish sends one message to every subscriber.
func (o *other) publish(data []byte) error {
	_, err := o.node.Publish("c", data)
	return err
}

// pushed is how centrifuge writes a publication in its JSON protocol.
func pushed(data []byte) string {
	return fmt.Sprintf(`{"push":{"channel":"c","pub":{"data":%s}}}`, data)
}

// serveCoder holds sockets the usual way: a goroutine per connection that
// reads. Each gets a snapshot first, and an answer to what it sends.
func serveCoder(snapshot []byte) (*other, error) {
	o := &other{}
	var err error
	o.http, o.addr, err = listen(&o.wg, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer c.CloseNow()
		ctx := context.Background()
		if c.Write(ctx, websocket.MessageText, snapshot) != nil {
			return
		}
		for {
			kind, b, err := c.Read(ctx)
			if err != nil || c.Write(ctx, kind, b) != nil {
				return
			}
		}
	}))
	return o, err
}

func (o *other) close() {
	if o.node != nil {
		o.node.Shutdown(context.Background())
	}
	o.http.Close()
	o.wg.Wait()
}
