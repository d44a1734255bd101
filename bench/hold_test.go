package bench

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"harness/kernel"
	"harness/protocol/delta"
	"harness/store/sqlite"
)

// The processes that hold idle sockets. Each tells its address, its memory
// after everything that can be given back was, and, the product, when all its
// sessions sleep.

func holdHarness() error {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	// A small page cache: it is a fixed cost of the process and would else be
	// filled during the test, which is not what is measured.
	st, err := sqlite.Open(context.Background(), filepath.Join(dir, "harness.db"), &sqlite.Options{CacheKB: 256})
	if err != nil {
		return err
	}
	defer st.Close()
	s, err := serve(st, newFaucet(), kernel.Options{IdleAfter: 200 * time.Millisecond}, delta.Options{})
	if err != nil {
		return err
	}
	defer s.close()
	return serveAsks(func(q ask) (answer, error) {
		if q.Do == "asleep" {
			for s.k.Awake() > 0 {
				time.Sleep(10 * time.Millisecond)
			}
		}
		return measured(s.addr, s.k.Awake()), nil
	})
}

func holdCoder() error {
	o, err := serveCoder([]byte(`"` + chunk(4000) + `"`))
	if err != nil {
		return err
	}
	defer o.close()
	return serveAsks(func(ask) (answer, error) { return measured(o.addr, 0), nil })
}

func holdCentrifuge() error {
	o, err := serveCentrifuge()
	if err != nil {
		return err
	}
	defer o.close()
	return serveAsks(func(ask) (answer, error) { return measured(o.addr, 0), nil })
}

func measured(addr string, awake int) answer {
	a := footprint()
	a.Addr, a.Awake = addr, awake
	return a
}
