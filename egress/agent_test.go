package egress_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// agents are programs that tests run behind the shim.
var agents = map[string]func(args []string) int{
	"agent-ask":  askAgent,
	"agent-look": lookAgent,
	"agent-wait": waitAgent,
	"agent-exit": func(args []string) (code int) { fmt.Sscan(args[0], &code); return code },
	"agent-dial": func(args []string) int {
		c, err := net.DialTimeout("tcp", args[0], time.Second)
		if err == nil {
			c.Close()
			return 0
		}
		fmt.Println(err)
		return 1
	},
}

// variable is one of the agent's own environment.
func variable(name string) string {
	for _, e := range os.Environ() {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			return v
		}
	}
	return ""
}

// askAgent asks the model as its environment says, and prints the answer.
func askAgent(args []string) int {
	r, err := http.NewRequest(http.MethodPost, variable("ANTHROPIC_BASE_URL")+"/v1/messages", strings.NewReader(args[0]))
	if err != nil {
		fmt.Println(err)
		return 1
	}
	r.Header.Set("X-Api-Key", variable("ANTHROPIC_API_KEY"))
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer res.Body.Close()
	fmt.Println(res.Status)
	_, _ = io.Copy(os.Stdout, res.Body)
	return 0
}

// lookAgent prints where it finds a text: in every file that it can read, the
// environment and the command line of every process.
func lookAgent(args []string) int {
	half, other := args[0], args[1] // so that its own arguments do not have it
	needle := half + other
	seen := 0
	_ = filepath.WalkDir("/", func(name string, d os.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if d.IsDir() && (name == "/sys" || name == "/usr" || strings.HasPrefix(name, "/proc/") && strings.Count(name, "/") > 2) {
			return filepath.SkipDir
		}
		info, err := os.Stat(name) // a device may be mounted on a file
		if proc := strings.HasPrefix(name, "/proc/"); err != nil || !info.Mode().IsRegular() || proc && d.Name() != "environ" && d.Name() != "cmdline" {
			return nil
		}
		b, err := os.ReadFile(name)
		if err != nil {
			return nil
		}
		seen++
		if strings.Contains(string(b), needle) {
			fmt.Println("found in", name)
		}
		return nil
	})
	fmt.Println("looked into", seen)
	return 0
}

// waitAgent says which signal it got, and leaves a child if it is asked to.
func waitAgent(args []string) int {
	got := make(chan os.Signal, 8)
	signal.Notify(got, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGHUP)
	fmt.Println("up", os.Getpid(), os.Getppid())
	for s := range got {
		fmt.Println(s)
		if s == syscall.SIGTERM {
			return 5
		}
	}
	return 0
}
