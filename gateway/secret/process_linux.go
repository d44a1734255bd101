package secret

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Undumpable makes the process leave no core and lets no other program of the
// same user read its memory or environment. Call it after [Erase].
func Undumpable() error {
	if err := syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{}); err != nil {
		return fmt.Errorf("no core dumps: %w", err)
	}
	if _, _, errno := syscall.Syscall(syscall.SYS_PRCTL, syscall.PR_SET_DUMPABLE, 0, 0); errno != 0 {
		return fmt.Errorf("not dumpable: %w", errno)
	}
	return nil
}

// blank overwrites the values of variables where the kernel keeps what the
// process was started with, which unsetting does not reach. A process that is
// not dumpable any more cannot, and need not: nobody can look.
func blank(names []string) error {
	from, to, err := environment()
	if err != nil {
		return err
	}
	mem, err := os.OpenFile("/proc/self/mem", os.O_RDWR, 0)
	if os.IsPermission(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("blank the environment: %w", err)
	}
	defer mem.Close()
	b := make([]byte, to-from)
	if _, err := mem.ReadAt(b, from); err != nil {
		return fmt.Errorf("blank the environment: %w", err)
	}
	for at := 0; at < len(b); {
		end := at + max(0, bytes.IndexByte(b[at:], 0))
		name, value, _ := bytes.Cut(b[at:end], []byte("="))
		if slices.Contains(names, string(name)) && len(value) > 0 {
			if _, err := mem.WriteAt(make([]byte, len(value)), from+int64(end-len(value))); err != nil {
				return fmt.Errorf("blank the environment: %w", err)
			}
		}
		at = end + 1
	}
	return nil
}

// environment is where in memory the kernel keeps it: fields 50 and 51 of
// proc_pid_stat(5).
func environment() (from, to int64, err error) {
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0, 0, err
	}
	_, rest, _ := strings.Cut(string(stat[bytes.LastIndexByte(stat, ')')+1:]), " ")
	fields := strings.Fields(rest) // from field 3
	if len(fields) < 49 {
		return 0, 0, fmt.Errorf("/proc/self/stat has %d fields", len(fields)+2)
	}
	from, err = strconv.ParseInt(fields[47], 10, 64)
	if err == nil {
		to, err = strconv.ParseInt(fields[48], 10, 64)
	}
	if err != nil || to < from || to-from > 64<<20 {
		return 0, 0, fmt.Errorf("/proc/self/stat: no environment at %s to %s", fields[47], fields[48])
	}
	return from, to, nil
}
