package tool

import (
	"path"
	"slices"
	"strings"
)

// danger is a kind of command that nothing can take back.
type danger struct {
	name string   // of the program, as path.Match has it
	sub  string   // words that its arguments begin with, options aside
	any  []string // one of these options, words or patterns must be there; "-f" is in "-rf", too
	why  string
}

// dangers are looked at one by one. What is not here is not harmless.
var dangers = []danger{
	{name: "rm", why: "deletes files"},
	{name: "unlink", why: "deletes files"},
	{name: "shred", why: "deletes files"},
	{name: "srm", why: "deletes files"},
	{name: "truncate", why: "cuts files"},
	{name: "rsync", any: []string{"--delete", "--delete-after", "--delete-before", "--delete-excluded", "--remove-source-files"}, why: "deletes files"},
	{name: "dd", why: "writes raw data"},
	{name: "mkfs*", why: "makes a file system"},
	{name: "mkswap", why: "writes to a device"},
	{name: "wipefs", why: "writes to a device"},
	{name: "*fdisk", why: "changes partitions"},
	{name: "parted", why: "changes partitions"},
	{name: "sgdisk", why: "changes partitions"},
	{name: "chmod", any: []string{"-R", "--recursive"}, why: "changes many permissions"},
	{name: "chown", any: []string{"-R", "--recursive"}, why: "changes many owners"},
	{name: "shutdown", why: "stops the machine"},
	{name: "reboot", why: "stops the machine"},
	{name: "poweroff", why: "stops the machine"},
	{name: "halt", why: "stops the machine"},
	{name: "crontab", any: []string{"-r"}, why: "deletes scheduled work"},

	{name: "git", sub: "push", any: []string{"-f", "--force", "--force-with-lease", "--mirror", "-d", "--delete", "--prune", "+*"}, why: "rewrites what others have"},
	{name: "git", sub: "push", why: "publishes"},
	{name: "git", sub: "reset", any: []string{"--hard"}, why: "throws away changes"},
	{name: "git", sub: "clean", any: []string{"-f", "--force"}, why: "deletes files"},
	{name: "git", sub: "checkout", any: []string{"-f", "--force", "--", "."}, why: "throws away changes"},
	{name: "git", sub: "restore", why: "throws away changes"},
	{name: "git", sub: "rm", why: "deletes files"},
	{name: "git", sub: "branch", any: []string{"-D", "-d", "--delete"}, why: "deletes a branch"},
	{name: "git", sub: "tag", any: []string{"-d", "--delete"}, why: "deletes a tag"},
	{name: "git", sub: "stash drop", why: "throws away changes"},
	{name: "git", sub: "stash clear", why: "throws away changes"},
	{name: "git", sub: "worktree remove", any: []string{"-f", "--force"}, why: "throws away changes"},
	{name: "git", sub: "filter-branch", why: "rewrites history"},
	{name: "git", sub: "filter-repo", why: "rewrites history"},
	{name: "git", sub: "reflog expire", why: "rewrites history"},
	{name: "git", sub: "gc", any: []string{"--prune*"}, why: "rewrites history"},
	{name: "git", sub: "update-ref", any: []string{"-d"}, why: "rewrites history"},

	{name: "npm", sub: "publish", why: "publishes"},
	{name: "npm", sub: "unpublish", why: "unpublishes"},
	{name: "pnpm", sub: "publish", why: "publishes"},
	{name: "yarn", sub: "publish", why: "publishes"},
	{name: "cargo", sub: "publish", why: "publishes"},
	{name: "gem", sub: "push", why: "publishes"},
	{name: "twine", sub: "upload", why: "publishes"},
	{name: "docker", sub: "push", why: "publishes"},
	{name: "gh", sub: "repo delete", why: "deletes a repository"},
	{name: "gh", sub: "release delete", why: "deletes a release"},

	{name: "docker", any: []string{"prune", "rm", "rmi"}, why: "deletes containers or images"},
	{name: "podman", any: []string{"prune", "rm", "rmi"}, why: "deletes containers or images"},
	{name: "kubectl", sub: "delete", why: "changes a cluster"},
	{name: "kubectl", sub: "drain", why: "changes a cluster"},
	{name: "helm", sub: "uninstall", why: "changes a cluster"},
	{name: "terraform", sub: "destroy", why: "changes infrastructure"},
	{name: "terraform", sub: "apply", why: "changes infrastructure"},
	{name: "tofu", sub: "destroy", why: "changes infrastructure"},
	{name: "tofu", sub: "apply", why: "changes infrastructure"},
	{name: "aws", any: []string{"rm", "rb", "delete-*", "terminate-*"}, why: "changes infrastructure"},
	{name: "gcloud", any: []string{"delete"}, why: "changes infrastructure"},
	{name: "curl", any: []string{"-XDELETE", "DELETE"}, why: "deletes something elsewhere"},

	{name: "dropdb", why: "deletes a database"},
	{name: "psql", any: []string{"*drop *", "*truncate *", "*delete *"}, why: "deletes from a database"},
	{name: "mysql", any: []string{"*drop *", "*truncate *", "*delete *"}, why: "deletes from a database"},
	{name: "sqlite3", any: []string{"*drop *", "*delete *"}, why: "deletes from a database"},
	{name: "redis-cli", any: []string{"flushall", "flushdb"}, why: "deletes from a database"},
}

// is reports whether a command is of this kind.
func (d danger) is(name string, args []string) bool {
	if ok, _ := path.Match(d.name, name); !ok {
		return false
	}
	if d.sub != "" {
		rest := subcommand(name, args)
		want := strings.Fields(d.sub)
		if len(rest) < len(want) || !slices.Equal(rest[:len(want)], want) {
			return false
		}
	}
	if d.any == nil {
		return true
	}
	for _, want := range d.any {
		if slices.ContainsFunc(args, func(a string) bool { return isOption(a, want) }) {
			return true
		}
	}
	return false
}

// subcommand is args without options; git's own options have values.
func subcommand(name string, args []string) (rest []string) {
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case name == "git" && len(rest) == 0 && (a == "-C" || a == "-c" || a == "--git-dir" || a == "--work-tree"):
			i++
		case strings.HasPrefix(a, "-"):
		default:
			rest = append(rest, a)
		}
	}
	return rest
}

// isOption reports whether an argument is an option, alone, with a value, or
// among other letters.
func isOption(arg, want string) bool {
	if strings.ContainsAny(want, "*") {
		arg = strings.NewReplacer("/", " ", "\n", " ").Replace(strings.ToLower(arg))
		ok, _ := path.Match(want, arg)
		return ok
	}
	switch {
	case arg == want:
		return true
	case strings.HasPrefix(want, "--"):
		return want != "--" && strings.HasPrefix(arg, want+"=")
	case len(want) == 2 && want[0] == '-':
		return len(arg) > 2 && arg[0] == '-' && arg[1] != '-' && strings.Contains(arg[1:], want[1:])
	}
	return strings.EqualFold(arg, want) && !strings.HasPrefix(want, "-")
}
