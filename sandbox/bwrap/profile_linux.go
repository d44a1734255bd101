package bwrap

import (
	"os"
	"path/filepath"
	"strings"

	"harness/sandbox/internal/pins"
)

// etc is what programs need of /etc to start, to resolve names of users and
// services, and to trust certificates. Each entry costs a tenth of a millisecond.
var etc = []string{
	"alternatives", "gitconfig", "group", "ld.so.cache", "localtime", "mime.types", "nsswitch.conf", "os-release", "passwd", "pki",
	"protocols", "services", "ssl", "terminfo", "timezone",
}

// netEtc is what they need of it besides, with a network.
var netEtc = []string{"hosts", "resolv.conf"}

// nobody is who a process is in its namespace if the harness is root.
const nobody = "65534"

// profile returns the arguments of bwrap for a process in dir.
func (w *workspace) profile(mounts, covers []pins.Mount, dir string, env []string) []string {
	spec := w.Spec
	args := []string{"--die-with-parent", "--new-session", "--unshare-all", "--unshare-user", "--cap-drop", "ALL", "--clearenv", "--hostname", "sandbox"}
	add := func(more ...string) { args = append(args, more...) }
	if w.noUserns {
		add("--disable-userns")
	}
	if os.Geteuid() == 0 {
		add("--uid", nobody, "--gid", nobody)
	}
	if spec.Network {
		add("--share-net")
	}
	add("--ro-bind", "/usr", "/usr")
	for _, name := range []string{"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"} {
		if target, err := os.Readlink(name); err == nil {
			add("--symlink", target, name)
		} else {
			add("--ro-bind-try", name, name)
		}
	}
	files := etc
	if spec.Network {
		files = append(files[:len(files):len(files)], netEtc...)
	}
	for _, name := range files {
		if p := filepath.Join("/etc", name); exists(p) {
			add("--ro-bind", p, p)
		}
	}
	add("--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--tmpfs", "/var/tmp")
	if home := variable(env, "HOME"); filepath.IsAbs(home) && home != "/" && !within(home, spec.Directory) && !within("/tmp", home) {
		add("--tmpfs", home)
	}
	var inner []string // read-only parts of the workspace come after it
	for _, p := range w.View.ReadOnly {
		if within(p, spec.Directory) {
			inner = append(inner, "--ro-bind", p, p)
		} else {
			add("--ro-bind", p, p)
		}
	}
	for _, p := range w.cover.Elsewhere() {
		add("--bind", p, p)
	}
	mount := func(m pins.Mount) {
		how := "--bind"
		if m.ReadOnly {
			how = "--ro-bind"
		}
		add(how, m.Source(), m.Path)
	}
	mount(pins.Mount{Path: spec.Directory})
	for _, m := range mounts {
		mount(m)
	}
	add(inner...)
	for _, m := range covers { // last: nothing may show again what they hide
		mount(m)
	}
	for _, p := range spec.Sockets {
		add("--ro-bind", p, p)
	}
	add("--remount-ro", "/", "--chdir", dir)
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		add("--setenv", name, value)
	}
	return args
}

// variable returns a variable of an environment.
func variable(env []string, name string) string {
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			return v
		}
	}
	return ""
}

// within reports whether path is dir or below it.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}
