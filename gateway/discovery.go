package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"harness"
	"harness/gateway/secret"
)

// discoveryFile is where clients of the same user find the server.
const discoveryFile = "server.json"

// Discovery says where a server of this data directory is.
type Discovery struct {
	URL       string    `json:"url"`
	TokenFile string    `json:"token_file"`
	PID       int       `json:"pid"`
	Process   string    `json:"process,omitempty"` // tells it from others of that PID, where the system does
	Started   time.Time `json:"started"`
}

// Announce tells clients that this process serves a data directory at url. The
// file goes with withdraw, or is known to be stale when the process is gone.
func Announce(dir, url string) (withdraw func() error, err error) {
	path := filepath.Join(dir, discoveryFile)
	token, err := filepath.Abs(filepath.Join(dir, firstTokenFile))
	if err != nil {
		return nil, err
	}
	mine := Discovery{URL: url, TokenFile: token, PID: os.Getpid(), Process: markOf(os.Getpid()), Started: time.Now().UTC().Truncate(time.Millisecond)}
	b, err := json.Marshal(mine)
	if err != nil {
		return nil, err
	}
	if err := secret.Write(path, append(b, '\n')); err != nil {
		return nil, fmt.Errorf("announce the server: %w", err)
	}
	return func() error {
		now, err := readDiscovery(dir)
		if err != nil || now != mine { // another has come since
			return nil
		}
		return os.Remove(path)
	}, nil
}

// Discover finds the server of a data directory, or ErrNotFound if none runs. A
// file that somebody else could have written is ErrInvalid: it could lead a
// client to give its token away.
func Discover(dir string) (Discovery, error) {
	d, err := readDiscovery(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !alive(d.PID, d.Process) {
		return Discovery{}, harness.ErrNotFound.Saying("no server of " + dir + " runs")
	}
	return d, err
}

func readDiscovery(dir string) (d Discovery, err error) {
	path := filepath.Join(dir, discoveryFile)
	b, err := secret.Read(path)
	if err != nil {
		return d, err
	}
	if err := json.Unmarshal(b, &d); err != nil || d.URL == "" || d.PID <= 0 {
		return Discovery{}, fmt.Errorf("%s is damaged: %w", path, harness.ErrCorrupt)
	}
	return d, nil
}

// Token is the token that goes with a discovery, from its file.
func (d Discovery) Token() (string, error) {
	b, err := secret.Read(d.TokenFile)
	if err != nil {
		return "", err
	}
	return parseToken(string(b))
}
