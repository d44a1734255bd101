//go:build linux

// Command probe is what the suite runs inside sandboxes: it looks around,
// grows trees, uses resources up and attacks. It is also their shim.
package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"harness/sandbox"
)

func main() {
	if code, mine := sandbox.Shim(os.Args, os.Environ()); mine {
		os.Exit(code)
	}
	verb, args := os.Args[1], os.Args[2:]
	switch verb {
	case "env":
		env := os.Environ()
		slices.Sort(env)
		fmt.Println(strings.Join(env, "\n"))
	case "copy":
		_, _ = io.Copy(os.Stdout, os.Stdin)
	case "write": // so many bytes, on stdout
		n, _ := strconv.ParseInt(args[0], 10, 64)
		_, _ = io.CopyN(os.Stdout, zeros{}, n)
	case "tree":
		tree(args[0])
	case "hold": // until killed
		hold(args[1])
	case "daemon": // starts one that nobody waits for
		spawn(args[0], "daemon", &syscall.SysProcAttr{Setsid: true})
	case "parent": // has a child of its own
		c := spawn(args[0], "grandchild", nil)
		_ = c.Wait()
	case "many": // as many processes as it gets
		n, _ := strconv.Atoi(args[1])
		started := 0
		for range n {
			c := exec.Command("/proc/self/exe", "hold", args[0], "many")
			if c.Start() != nil {
				break
			}
			started++
		}
		fmt.Println(started)
	case "allocate": // bytes of memory, touched
		n, _ := strconv.Atoi(args[0])
		var kept [][]byte
		for ; n > 0; n -= 1 << 20 {
			b := make([]byte, 1<<20)
			for i := 0; i < len(b); i += 4096 {
				b[i] = 1
			}
			kept = append(kept, b)
		}
		fmt.Println(len(kept))
	case "files": // as many as it can make
		n, _ := strconv.Atoi(args[1])
		for i := range n {
			if os.WriteFile("f"+strconv.Itoa(i), nil, 0o600) != nil {
				break
			}
		}
	case "swap": // pairs of names, for ever
		fmt.Println("up")
		for i := 0; ; i = (i + 2) % len(args) {
			_ = unix.Renameat2(unix.AT_FDCWD, args[i], unix.AT_FDCWD, args[i+1], unix.RENAME_EXCHANGE)
		}
	case "polite": // ends by itself when asked to
		asked := make(chan os.Signal, 1)
		signal.Notify(asked, syscall.SIGTERM)
		fmt.Println("up")
		<-asked
		_ = os.WriteFile(args[0], []byte("polite"), 0o644)
		os.Exit(5)
	case "victim": // a server with a secret, to be attacked
		fmt.Println("up")
		_, _ = io.Copy(io.Discard, os.Stdin)
	case "attack":
		if err := attacks[args[0]](args[1:]); err != nil {
			fmt.Println("blocked:", err)
			os.Exit(1)
		}
		fmt.Println("succeeded")
	default:
		os.Exit(2)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// tree starts five processes that are hard to kill and stays as the sixth. Each
// prints a line when it is up.
func tree(nonce string) {
	spawn(nonce, "plain", nil)
	spawn(nonce, "session", &syscall.SysProcAttr{Setsid: true})
	spawn(nonce, "deaf", nil)
	run(nonce, "parent")
	d := run(nonce, "daemon")
	_ = d.Wait()
	hold("foreground")
}

func spawn(nonce, kind string, attr *syscall.SysProcAttr) *exec.Cmd {
	c := exec.Command("/proc/self/exe", "hold", nonce, kind)
	c.Stdout, c.SysProcAttr = os.Stdout, attr
	if err := c.Start(); err != nil {
		fmt.Println(err)
	}
	return c
}

func run(nonce, verb string) *exec.Cmd {
	c := exec.Command("/proc/self/exe", verb, nonce)
	c.Stdout = os.Stdout
	if err := c.Start(); err != nil {
		fmt.Println(err)
	}
	return c
}

func hold(kind string) {
	if kind == "deaf" {
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
	}
	if kind != "many" {
		fmt.Println("up", kind)
	}
	for {
		_ = unix.Pause()
	}
}
