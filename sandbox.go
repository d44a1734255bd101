package harness

import (
	"context"
	"io"
	"io/fs"
	"time"
)

// Sandbox makes workspaces: places where a turn's processes run. sandboxtest
// is what every sandbox passes.
type Sandbox interface {
	// Probe runs a process under the real profile and says what holds for it
	// here and now, or why this sandbox cannot be used.
	Probe(ctx context.Context) (Isolation, error)
	// Open makes a workspace of an existing directory. Processes see it at its
	// own path, in every sandbox.
	Open(ctx context.Context, spec WorkspaceSpec) (Workspace, error)
}

// WorkspaceSpec says what a workspace must offer.
type WorkspaceSpec struct {
	Session   SessionID
	Directory string
	ReadOnly  []string // what else of the host processes may read and execute; a relative one is a part of what is hidden, and seen if it is there
	Writable  []string // directories elsewhere that they may write, at their own path; also below what is hidden. No link leads to them
	Hidden    []string // of the directory, relative to it: neither seen nor changed, also if it is not there yet. An absolute one counts if it is in the directory
	Sockets   []string // Unix sockets of the host that they may connect to
	Network   bool     // they have the host's network
	Env       []string // the whole environment; nothing is inherited
	Limits    Limits
}

// Limits bound what the processes of a workspace use. Zero is no limit. Pids
// and Memory hold for all of them together, WallTime and Output for each
// process that was started, with everything it starts.
type Limits struct {
	Pids     int   // processes and threads at a time
	Memory   int64 // bytes
	WallTime time.Duration
	Output   int64 // bytes of stdout and stderr together; what is over is not delivered
}

// Outfit is what an agent's process is given beside its workspace: the way to
// its model, and nothing of value that it could keep.
type Outfit struct {
	Env      []string
	ReadOnly []string                     // see [WorkspaceSpec]
	Sockets  []string                     // likewise
	Wrap     func(args []string) []string // the command line to start instead; nil: the same
	Close    func()                       // when the process is gone; nil: nothing to do
}

// Workspace is a directory and the processes in it. Its file names are relative
// to it, slash-separated, and cannot leave it, whatever links say.
type Workspace interface {
	fs.FS
	// WriteFile replaces a file at once or not at all, and never what else has
	// a link to it. A git repository's own files are refused with fs.ErrPermission,
	// as is everything that is hidden, for reading, too.
	WriteFile(name string, data []byte, perm fs.FileMode) error
	// Start runs a process. ctx bounds its life, not only its start: when ctx
	// is done, its whole tree is killed.
	Start(ctx context.Context, p Process) (Child, error)
	// Isolation says what holds for the processes of this workspace, which may
	// be less than Probe said if the spec asks for the network or for sockets.
	Isolation() Isolation
	// Close kills every process of the workspace, waits until they are gone and
	// removes what the sandbox made for them. It may be called again.
	Close() error
}

// Process is a command line to run in a workspace.
type Process struct {
	Args []string
	Dir  string   // relative to the workspace
	Env  []string // added to the workspace's; wins over it

	// Stdin is read until it ends or the process does. A Read that blocks then
	// is left to its fate, unless Stdin is an *os.File.
	Stdin          io.Reader
	Stdout, Stderr io.Writer

	// Grace is the time between SIGTERM for the process and SIGKILL for its
	// tree when ctx is done or a limit is hit. Zero kills at once.
	Grace time.Duration
	// Before is called when the process exists and has not run one instruction
	// of its own. If it fails, the process never does.
	Before func(ProcessRef) error
}

// ProcessRef names a process so that it can be told from a later one with the
// same number.
type ProcessRef struct {
	PID     int    `json:"pid"`
	Started uint64 `json:"started,omitempty"` // in clock ticks since boot
	Handle  string `json:"handle,omitempty"`  // what else finds it: a container, a cgroup
}

// Child is a process of a workspace.
type Child interface {
	// Ref names the topmost process that the sandbox started for it.
	Ref() ProcessRef
	// Wait returns how the process ended, when everything it started is gone.
	// What it had started and left running is killed. Any number of callers may
	// wait. The error says that the sandbox failed, not the process.
	Wait() (Exit, error)
}

// Exit says how a process ended.
type Exit struct {
	Code  int // 128+n if signal n ended it
	Cause ExitCause
}

// ExitCause says who ended a process, other than itself.
type ExitCause string

// Causes. The empty one is a process that ended by itself.
const (
	ExitCancelled ExitCause = "cancelled" // its context was done or its workspace closed
	ExitWallTime  ExitCause = "wall_time"
	ExitOutput    ExitCause = "output_bytes"
	ExitMemory    ExitCause = "memory" // something in the workspace was killed for its memory meanwhile
)

// Isolation says what keeps processes apart from the rest of the machine, as
// found by trying. Every guarantee is in one of the two lists.
type Isolation struct {
	Kind     string // none, landlock, namespaces or container
	Enforces []Guarantee
	Lacks    []Guarantee
	Reason   string // why it is less than it could be, for people
}

// Guarantee is one thing that a sandbox may promise about its processes.
type Guarantee string

// Guarantees lists all of them, in the order in which they are shown.
var Guarantees = []struct {
	Name Guarantee
	Text string
}{
	{GuardWrite, "nothing is written outside the workspace and throw-away directories"},
	{GuardRead, "no file is read but the workspace's and the system's programs"},
	{GuardHidden, "what is hidden of the workspace is neither seen nor changed"},
	{GuardGit, "hooks and configuration of git repositories cannot be changed"},
	{GuardNetwork, "no network, unless the workspace asks for it"},
	{GuardSockets, "no Unix sockets but those of the workspace's spec"},
	{GuardProcesses, "other processes cannot be traced, signalled or looked into"},
	{GuardPIDs, "other processes cannot be seen"},
	{GuardSyscalls, "no user namespaces, io_uring, keyrings, BPF and mounts"},
	{GuardEnv, "the environment is the given one"},
	{GuardTree, "when a process is ended its whole tree is gone"},
	{GuardCrash, "the tree is gone, too, when the harness is killed"},
	{LimitPids, "a limit of processes"},
	{LimitMemory, "a limit of memory"},
	{LimitWallTime, "a limit of time"},
	{LimitOutput, "a limit of output"},
}

// Names of the guarantees, as sandbox_notice has them.
const (
	GuardWrite     Guarantee = "fs_write"
	GuardRead      Guarantee = "fs_read"
	GuardHidden    Guarantee = "hidden"
	GuardGit       Guarantee = "git_hooks"
	GuardNetwork   Guarantee = "network"
	GuardSockets   Guarantee = "unix_sockets"
	GuardProcesses Guarantee = "processes"
	GuardPIDs      Guarantee = "process_list"
	GuardSyscalls  Guarantee = "syscalls"
	GuardEnv       Guarantee = "environment"
	GuardTree      Guarantee = "kill_tree"
	GuardCrash     Guarantee = "kill_on_crash"
	LimitPids      Guarantee = "pids"
	LimitMemory    Guarantee = "memory"
	LimitWallTime  Guarantee = "wall_time"
	LimitOutput    Guarantee = "output_bytes"
)
