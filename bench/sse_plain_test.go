package bench

import (
	"net/http"
	"sync"
)

// plainSSE is what most Go servers of event streams do: a handler that waits,
// and a loop that writes to each response and flushes it.
type plainSSE struct {
	http *http.Server
	addr string
	wg   sync.WaitGroup

	mu      sync.Mutex // guards writers; held across writes, which do not overlap
	writers []http.ResponseWriter
}

// servePlainSSE sends first to everybody who comes.
func servePlainSSE(first []byte) (*plainSSE, error) {
	p := &plainSSE{}
	var err error
	p.http, p.addr, err = listen(&p.wg, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Cache-Control", "no-store")
		p.mu.Lock()
		w.Write(first)
		w.(http.Flusher).Flush()
		p.writers = append(p.writers, w)
		p.mu.Unlock()
		<-r.Context().Done()
	}))
	return p, err
}

// publish writes an event to everybody.
func (p *plainSSE) publish(event []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range p.writers {
		if _, err := w.Write(event); err != nil {
			return err
		}
		w.(http.Flusher).Flush()
	}
	return nil
}

// readers is how many have come.
func (p *plainSSE) readers() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.writers)
}

func (p *plainSSE) close() {
	p.http.Close()
	p.wg.Wait()
}
