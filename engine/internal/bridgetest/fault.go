package bridgetest

import (
	"bytes"
	"fmt"
	"io"
	"os/exec"
)

// Fault is what is wrong with a program, as [Bridge.Faults] names it.
type Fault string

// Commit goes wrong in the ways that are the same in every protocol. It reports
// whether that was all: then code is what the program ends with, or −1 if it goes
// on without another word.
func (f Fault) Commit(in io.Reader, out, errs io.Writer) (code int, all bool) {
	switch f {
	case "garbage":
		fmt.Fprintln(out, "warning: something that is no message")
	case "huge":
		fmt.Fprintf(out, "{\"type\":\"assistant\",\"method\":\"x\",\"x\":\"%s\"}\n", bytes.Repeat([]byte("x"), 50<<20))
	case "silent":
	case "exit0":
		return 0, true
	case "stderr":
		fmt.Fprintln(errs, "out of cheese")
		return 3, true
	case "deaf": // it does not even stop
		_, _ = io.Copy(io.Discard, in)
		select {}
	case "stray":
		if err := exec.Command("sleep", "300").Start(); err != nil {
			return 70, true
		}
		return 0, false
	default:
		return 0, false
	}
	return -1, true
}
