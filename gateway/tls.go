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
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := time.Now(); now.Sub(c.looked) >= certificateEvery {
		c.looked = now
		if s := c.stamps(); !s[0].same(c.stamp[0]) || !s[1].same(c.stamp[1]) {
			if err := c.load(); err != nil {
				c.log.Error("certificate not read again, the old one stays", "err", err)
			}
		}
	}
	return c.now, nil
}
