package notify

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"time"

	"harness/internal/public"
)

// Failure is why a hook was not told something. The zero value is none.
type Failure struct {
	Since int       // attempts in a row
	At    time.Time // when it was tried last
	Why   string    // for people
}

// why says what went wrong in words of our own: those who made a hook are not to
// learn from it what else there is in the server's network, nor what a command
// said.
func why(err error) string {
	if r, ok := errors.AsType[*refusal](err); ok {
		return r.Error()
	}
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		return fmt.Sprintf("the command ended with %d", e.ExitCode())
	}
	if errors.Is(err, exec.ErrNotFound) {
		return "there is no such command"
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok || errors.Is(err, public.ErrAddress) {
		return "it has no public address"
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return "its certificate is not trusted"
	}
	if e, ok := errors.AsType[net.Error](err); ok && e.Timeout() {
		return "it did not answer in time"
	}
	return "it could not be reached"
}
