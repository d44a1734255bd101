package bench

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"harness"
	"harness/kernel"
	"harness/protocol/rest"
)

// restServer is the product's HTTP surface on a loopback socket, in this
// process.
type restServer struct {
	k    *kernel.Kernel
	api  *rest.Server
	http *http.Server
	addr string
	wg   sync.WaitGroup
}

// serveREST serves st; before sees each request first.
func serveREST(st harness.Store, e harness.Engine, ko kernel.Options, before func(k *kernel.Kernel, r *http.Request) error) (*restServer, error) {
	ko.Engine = "bench"
	s := &restServer{k: kernel.New(st, map[string]harness.Engine{"bench": e}, &ko)}
	var err error
	if s.api, err = rest.New(s.k, nil); err != nil {
		return nil, err
	}
	s.http, s.addr, err = listen(&s.wg, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if before != nil {
			if err := before(s.k, r); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
		}
		s.api.ServeHTTP(w, r)
	}))
	return s, err
}

func (s *restServer) close() {
	soon, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	s.api.Shutdown(soon)
	s.http.Close()
	s.k.Close()
	s.wg.Wait()
}

// streamPath is where a session's events are.
func streamPath(id any) string { return fmt.Sprintf("/sessions/%v/events/stream", id) }

// sseBytes are a session's events behind a position as a stream carries them.
func sseBytes(st harness.Store, id harness.SessionID, after harness.Seq) ([]byte, error) {
	var b bytes.Buffer
	for e, err := range st.Read(context.Background(), id, after) {
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "id: %d\nevent: %s\ndata: %s\n\n", e.Seq, e.Type(), e.JSON())
	}
	return b.Bytes(), nil
}
