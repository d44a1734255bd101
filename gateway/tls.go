package gateway

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"harness/gateway/secret"
)

// certificateEvery is how often the files of a certificate are looked at.
const certificateEvery = 10 * time.Second

// Certificate is a certificate that is replaced when its files are, without a
// restart: those of today are good for a few weeks.
type Certificate struct {
	cert, key string
	log       *slog.Logger

	mu     sync.Mutex // guards what follows
	looked time.Time
	stamp  [2]stamp
	now    *tls.Certificate
}

// OpenCertificate reads a certificate chain and its key, which only this user
// may be able to read.
func OpenCertificate(cert, key string, log *slog.Logger) (*Certificate, error) {
	c := &Certificate{cert: cert, key: key, log: log}
	if err := c.load(); err != nil {
		return nil, err
	}
	c.looked = time.Now()
	return c, nil
}

func (c *Certificate) stamps() (now [2]stamp) {
	for i, name := range []string{c.cert, c.key} {
		if info, err := os.Stat(name); err == nil {
			now[i] = stamp{info.Size(), info.ModTime(), info}
		}
	}
	return now
}

func (c *Certificate) load() error {
	stamps := c.stamps()
	if stamps[1].info != nil {
		if err := secret.Check(c.key, stamps[1].info); err != nil {
			return fmt.Errorf("TLS key: %w", err)
		}
	}
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		return fmt.Errorf("TLS certificate: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now, c.stamp = &pair, stamps
	return nil
}

// Config is for a listener. It offers what every client of the last years has.
func (c *Certificate) Config() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}, GetCertificate: c.get}
}

// get is the certificate as its files are now. Files that are not a pair, as in
// the middle of a change, are an alarm; the old one stays.
func (c *Certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	if c.due() {
		if s := c.stamps(); c.changed(s) {
			if err := c.load(); err != nil {
				c.log.Error("certificate not read again, the old one stays", "err", err)
			}
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now, nil
}

// due reports to one of those who ask that it is time to look.
func (c *Certificate) due() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if now.Sub(c.looked) < certificateEvery {
		return false
	}
	c.looked = now
	return true
}

func (c *Certificate) changed(now [2]stamp) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !now[0].same(c.stamp[0]) || !now[1].same(c.stamp[1])
}
