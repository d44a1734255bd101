//go:build linux

package sandboxtest

import (
	"bufio"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"harness"
)

// attack is one row of the table: what is tried inside, and how one sees outside
// whether it worked.
type attack struct {
	name     string
	breaks   harness.Guarantee
	by       []string // the kinds of isolation that stop it
	args     func(*target) []string
	happened func(*target, result) bool
	mayFail  string // why it can fail even where nothing stops it
}

func try(verb string, args ...func(*target) string) func(*target) []string {
	return func(a *target) []string {
		line := []string{a.probe, "attack", verb}
		for _, arg := range args {
			line = append(line, arg(a))
		}
		return line
	}
}

func script(text string) func(*target) []string {
	return func(*target) []string { return []string{"/bin/sh", "-c", text} }
}

// Places and names of a target, for rows.
var (
	newFile  = func(a *target) string { return filepath.Join(a.home, "new") }
	bashrc   = func(a *target) string { return filepath.Join(a.home, ".bashrc") }
	key      = func(a *target) string { return filepath.Join(a.home, ".ssh/id_rsa") }
	victim   = func(a *target) string { return strconv.Itoa(a.victim) }
	word     = func(text string) func(*target) string { return func(*target) string { return text } }
	tcp      = func(a *target) string { return a.tcp.String() }
	udp      = func(a *target) string { return a.udp.String() }
	byPath   = func(a *target) string { return a.byPath.String() }
	abstract = func(a *target) string { return a.abstract.String() }
)

func said(_ *target, r result) bool { return r.Code == 0 }

// received reports whether an attacker has reached a socket. Each hears in the
// order of sending, so what has not come before a knock was not sent.
func received(a *target, _ result) bool {
	for _, s := range []net.Addr{a.tcp, a.udp, a.byPath, a.abstract} {
		c, err := net.Dial(s.Network(), s.String())
		if err == nil {
			_, err = c.Write([]byte(knock))
		}
		if err != nil {
			a.t.Fatal(err)
		}
		c.Close()
		select {
		case <-a.knocked:
		case <-time.After(patience):
			a.t.Fatalf("nobody listens at %s", s)
		}
	}
	return a.received.Load() > 0
}

// knock is what the test itself sends.
const knock = "knock"

func homeChanged(a *target, _ result) bool {
	return read(newFile(a)) != "" || read(bashrc(a)) != "clean" || read(key(a)) != canary
}

// evil reports whether a file outside the sandbox now has the attacker's text.
func evil(name string) func(*target, result) bool {
	return func(a *target, _ result) bool { return strings.Contains(read(filepath.Join(a.dir, name)), "evil") }
}

// Kinds of isolation, by how much they stop.
var (
	all      = []string{"none", "landlock", "namespaces", "container"}
	confined = []string{"landlock", "namespaces", "container"}
	boxed    = []string{"namespaces", "container"}
)

const rooted = "needs root's rights outside"

// attackTable is the table of what gets blocked: what each kind of isolation
// must stop is written here, not taken from its own words.
var attackTable = []attack{
	{"WriteToHome", harness.GuardWrite, confined, try("write", newFile), homeChanged, ""},
	{"AppendToBashrc", harness.GuardWrite, confined, try("append", bashrc), homeChanged, ""},
	{"SymlinkOut", harness.GuardWrite, confined, try("symlink", bashrc), homeChanged, ""},
	{"HardLinkOut", harness.GuardWrite, confined, try("hardlink", bashrc), homeChanged, ""},
	{"ProcRoot", harness.GuardWrite, confined, try("procroot", bashrc), homeChanged, ""},
	{"ReadKey", harness.GuardRead, confined, try("read", key), func(_ *target, r result) bool { return strings.Contains(r.out, canary) }, ""},
	{"ReadKeyThroughHardLink", harness.GuardRead, confined, try("readlinked", key), func(_ *target, r result) bool { return strings.Contains(r.out, canary) }, ""},
	{"ReadKeyThroughProcRoot", harness.GuardRead, confined, try("readroot", key), func(_ *target, r result) bool { return strings.Contains(r.out, canary) }, ""},
	{"ReadEnvironment", harness.GuardProcesses, confined, try("environ", word(canary)), said, ""},
	{"Ptrace", harness.GuardProcesses, confined, try("ptrace", victim), said, ""},
	{"Signal", harness.GuardProcesses, confined, try("signal", victim), func(a *target, _ result) bool { return a.died() }, ""},
	{"SeeProcesses", harness.GuardPIDs, boxed, try("see", victim, word("victim")), said, ""},
	{"TCPToLoopback", harness.GuardNetwork, confined, try("dial", word("tcp"), tcp), received, ""},
	{"MPTCPToLoopback", harness.GuardNetwork, confined, try("mptcp", tcp), received, "the kernel can be without it"},
	{"UDPToLoopback", harness.GuardNetwork, confined, try("dial", word("udp"), udp), received, ""},
	{"UnixSocketByPath", harness.GuardSockets, confined, try("dial", word("unix"), byPath), received, ""},
	{"AbstractUnixSocket", harness.GuardSockets, confined, try("dial", word("unix"), abstract), received, ""},
	{"UserNamespace", harness.GuardSyscalls, confined, try("userns"), said, "a process with threads cannot"},
	{"IOUring", harness.GuardSyscalls, confined, try("io_uring"), said, "the machine can forbid it"},
	{"Keyring", harness.GuardSyscalls, confined, try("keyctl"), said, ""},
	{"BPF", harness.GuardSyscalls, confined, try("bpf"), said, rooted},
	{"Mount", harness.GuardSyscalls, confined, try("mount", func(a *target) string { return filepath.Join(a.dir, "sub") }), said, "never tried where nothing stops it"},
	{"VSock", harness.GuardSyscalls, confined, try("vsock"), said, "the kernel can be without it"},
	{"InheritSecret", harness.GuardEnv, all, func(a *target) []string { return []string{a.probe, "env"} }, func(_ *target, r result) bool {
		return strings.Contains(r.out, inherited)
	}, ""},

	{"OverwriteHook", harness.GuardGit, boxed, script("mkdir -p .git/hooks; echo evil >.git/hooks/pre-commit"), evil(".git/hooks/pre-commit"), ""},
	{"OverwriteConfig", harness.GuardGit, boxed, script("echo evil >>.git/config"), evil(".git/config"), ""},
	{"ReplaceConfig", harness.GuardGit, boxed, script("echo evil >.git/c && mv -f .git/c .git/config"), evil(".git/config"), ""},
	{"ReplaceRepository", harness.GuardGit, boxed, script("mv .git .git2; mkdir -p .git/hooks && echo evil >.git/hooks/pre-commit"), evil(".git/hooks/pre-commit"), ""},
	{"RedirectRepository", harness.GuardGit, boxed, script("mkdir -p fake && echo evil >fake/config && echo ../fake >.git/commondir"), func(a *target, _ result) bool {
		_, err := os.Lstat(filepath.Join(a.dir, ".git/commondir"))
		return err == nil
	}, ""},
	{"NestedHook", harness.GuardGit, boxed, script("echo evil >sub/deep/.git/hooks/pre-commit"), evil("sub/deep/.git/hooks/pre-commit"), ""},
	{"ReplaceAboveNested", harness.GuardGit, boxed, script("mv sub sub2; mkdir -p sub/deep/.git/hooks && echo evil >sub/deep/.git/hooks/pre-commit"), evil("sub/deep/.git/hooks/pre-commit"), ""},
	{"SubmoduleConfig", harness.GuardGit, boxed, script("echo evil >>.git/modules/m/config"), evil(".git/modules/m/config"), ""},
	{"ReplaceWorktreeFile", harness.GuardGit, boxed, script("mkdir -p w/x && echo evil >w/x/config; rm -rf tree/.git; mkdir -p tree/.git && echo evil >tree/.git/config"), evil("tree/.git/config"), ""},
	{"HookOfTheWorktreesRepository", harness.GuardGit, boxed, func(a *target) []string {
		return []string{"/bin/sh", "-c", "echo evil >" + filepath.Join(a.home, "main/.git/hooks/pre-commit")}
	}, func(a *target, _ result) bool {
		return read(filepath.Join(a.home, "main/.git/hooks/pre-commit")) != ""
	}, "it is out of reach where the outside is"},
}

// Secrets that no process may get at: of a server on the machine, and of the
// process that starts the others.
const (
	canary    = "canary-of-the-server"
	inherited = "canary-of-the-harness"
)

// target is a machine with something to lose: a home with keys, a server with a
// secret in its environment, sockets, and repositories in the workspace.
type target struct {
	t                *testing.T
	probe, dir, home string
	victim           int
	died             func() bool

	tcp, udp, byPath, abstract net.Addr
	received                   atomic.Int64  // bytes that are not the test's own
	knocked                    chan struct{} // one at a time, as knocks are
}

func (b *bench) attacks(t *testing.T) {
	t.Setenv("HARNESS_TEST_CANARY", inherited)
	for _, row := range slices.Concat(attackTable, hiddenTable) {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			enforced := b.enforces(row.breaks)
			if must := slices.Contains(row.by, b.holds.Kind); must != enforced && !strings.Contains(b.holds.Reason, "Landlock has version") {
				t.Errorf("%s enforces %s: %v, want %v", b.holds.Kind, row.breaks, enforced, must)
			}
			if !enforced && strings.HasPrefix(row.name, "Mount") {
				t.Skip("would mount something")
			}
			a := b.target(t)
			w, err := b.sandbox.Open(t.Context(), harness.WorkspaceSpec{Session: "ses_test", Directory: a.dir, Hidden: concealed, ReadOnly: []string{b.probe}, Env: []string{path, "HOME=" + a.home}})
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			got := run(t, w, row.args(a)...)
			happened := row.happened(a, got)
			t.Logf("%s %s", strings.TrimSpace(got.out), strings.TrimSpace(got.err))
			switch {
			case happened && enforced:
				t.Errorf("the sandbox enforces %s, and this happened: %+v", row.breaks, got)
			case !happened && !enforced && row.mayFail == "" && os.Geteuid() == 0:
				t.Errorf("the sandbox lacks %s, and this did not happen: %+v", row.breaks, got)
			}
		})
	}
}

// target makes a machine to attack.
func (b *bench) target(t *testing.T) *target {
	t.Helper()
	real := func(dir string) string {
		dir, err := filepath.EvalSymlinks(dir)
		if err != nil {
			t.Fatal(err)
		}
		return dir
	}
	a := &target{t: t, knocked: make(chan struct{}, 1), probe: b.probe, dir: real(t.TempDir()), home: real(shortDir(t))}
	write(t, bashrc(a), "clean")
	write(t, key(a), canary)
	for _, name := range concealed[:2] {
		write(t, filepath.Join(a.dir, name, "rules"), canary)
	}
	a.repositories(t)
	a.listen(t)

	server := exec.Command(b.probe, "victim")
	server.Env = []string{"API_KEY=" + canary}
	in, _ := server.StdinPipe()
	out, _ := server.StdoutPipe()
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	a.victim = server.Process.Pid
	ended := false
	a.died = func() bool {
		if !ended {
			in.Close()
			_ = server.Wait()
			ended = true
		}
		return !server.ProcessState.Success()
	}
	t.Cleanup(func() { a.died() })
	return a
}

// repositories makes a repository with a submodule, a nested one, and a worktree
// of one outside.
func (a *target) repositories(t *testing.T) {
	t.Helper()
	repository := func(dir string) {
		write(t, filepath.Join(dir, "HEAD"), "ref: refs/heads/main\n")
		write(t, filepath.Join(dir, "config"), "[core]\n")
		write(t, filepath.Join(dir, "refs/heads/x"), "")
		write(t, filepath.Join(dir, "objects/x"), "")
	}
	repository(filepath.Join(a.dir, ".git")) // without hooks
	for _, dir := range []string{".git/modules/m", "sub/deep/.git"} {
		repository(filepath.Join(a.dir, dir))
		write(t, filepath.Join(a.dir, dir, "hooks/sample"), "")
	}
	main := filepath.Join(a.home, "main/.git")
	repository(main)
	write(t, filepath.Join(main, "hooks/sample"), "")
	write(t, filepath.Join(main, "worktrees/tree/gitdir"), filepath.Join(a.dir, "tree/.git")+"\n")
	write(t, filepath.Join(a.dir, "tree/.git"), "gitdir: "+filepath.Join(main, "worktrees/tree")+"\n")
}

// shortDir is like t.TempDir, with room for the name of a socket in it: that has
// at most 107 bytes with all its directories.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "h-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// listen opens sockets that count what they are sent.
func (a *target) listen(t *testing.T) {
	t.Helper()
	accept := func(network, address string) net.Addr {
		l, err := net.Listen(network, address)
		if err != nil {
			t.Fatal(err)
		}
		var accepting sync.WaitGroup
		accepting.Go(func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				text, _ := io.ReadAll(c)
				c.Close()
				a.heard(text)
			}
		})
		t.Cleanup(func() { l.Close(); accepting.Wait() })
		return l.Addr()
	}
	a.tcp = accept("tcp", "127.0.0.1:0")
	a.byPath = accept("unix", filepath.Join(a.home, "sock"))
	a.abstract = accept("unix", "@"+nonce())
	u, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	a.udp = u.LocalAddr()
	var reading sync.WaitGroup
	reading.Go(func() {
		buf := make([]byte, 64)
		for {
			n, _, err := u.ReadFrom(buf)
			if err != nil {
				return
			}
			a.heard(buf[:n])
		}
	})
	t.Cleanup(func() { u.Close(); reading.Wait() })
}

// heard counts what was sent, and tells who knocked.
func (a *target) heard(text []byte) {
	if string(text) == knock {
		a.knocked <- struct{}{}
		return
	}
	a.received.Add(int64(len(text)))
}
