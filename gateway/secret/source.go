package secret

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"harness"
)

// commandFor bounds how long a keyring may take: somebody may have to unlock it.
const commandFor = time.Minute

// Environment is the variables of the process, as main hands them over.
type Environment struct {
	Get   func(name string) string
	Unset func(name string) error
}

// Load reads a secret from where spec says:
//
//	file:PATH      a file that only this user can read
//	command:ARGV   what a command prints, run without a shell
//	env:NAME       a variable, which is removed from the environment
//
// White space around the secret is not part of it. An empty secret, and a spec
// that is none of these, is ErrInvalid; a secret in the spec itself is never
// accepted, because command lines can be read by others.
func Load(ctx context.Context, spec string, env Environment) (string, error) {
	kind, rest, _ := strings.Cut(spec, ":")
	var b []byte
	var err error
	switch kind {
	case "file":
		b, err = Read(rest)
	case "command":
		b, err = output(ctx, strings.Fields(rest))
	case "env":
		b = []byte(env.Get(rest))
		err = Erase(env, rest)
	default:
		return "", fmt.Errorf("a secret comes from file:PATH, command:ARGV or env:NAME: %w", harness.ErrInvalid)
	}
	if err != nil {
		return "", fmt.Errorf("secret from %s: %w", kind, err)
	}
	b = bytes.TrimSpace(b)
	if len(b) == 0 {
		return "", fmt.Errorf("secret from %s: there is none: %w", kind, harness.ErrInvalid)
	}
	return string(b), nil
}

// output runs a command and returns what it prints. Of what it says otherwise
// nothing is repeated: it may be the secret.
func output(ctx context.Context, argv []string) ([]byte, error) {
	if len(argv) == 0 {
		return nil, fmt.Errorf("no command: %w", harness.ErrInvalid)
	}
	ctx, cancel := context.WithTimeout(ctx, commandFor)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.WaitDelay = time.Second
	var out bounded
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w", argv[0], err)
	}
	return out.b, nil
}

// bounded keeps what a command prints, up to a bound.
type bounded struct{ b []byte }

func (o *bounded) Write(p []byte) (int, error) {
	if len(o.b)+len(p) > MaxFile {
		return 0, fmt.Errorf("more than %d bytes: %w", MaxFile, harness.ErrTooLarge)
	}
	o.b = append(o.b, p...)
	return len(p), nil
}

// Erase removes variables from the environment: children do not inherit them,
// and where the system shows other programs what a process was started with,
// they are blank there.
func Erase(env Environment, names ...string) error {
	for _, name := range names {
		if err := env.Unset(name); err != nil {
			return fmt.Errorf("unset %s: %w", name, err)
		}
	}
	return blank(names)
}
