//go:build linux

package sandboxtest

import (
	"os"
	"path/filepath"
	"strings"

	"harness"
)

// concealed is what the workspaces under attack hide: a directory that is there,
// one deeper down, and one that is not there yet.
var concealed = []string{".own", "in/side", "later"}

func revealed(_ *target, r result) bool { return strings.Contains(r.out, canary) }

// hiddenTable is the rows about what is hidden.
var hiddenTable = []attack{
	{"ReadHidden", harness.GuardHidden, boxed, script("cat .own/rules in/side/rules"), revealed, ""},
	{"ReadHiddenThroughProcRoot", harness.GuardHidden, boxed, try("readroot", inDir(".own/rules")), revealed, ""},
	{"ReadHiddenThroughHardLink", harness.GuardHidden, boxed, try("readlinked", inDir(".own/rules")), revealed, ""},
	{"ReadHiddenThroughCwd", harness.GuardHidden, boxed, script("cat /proc/self/cwd/in/../.own/rules"), revealed, ""},
	{"ListHidden", harness.GuardHidden, boxed, script("ls -A .own in/side"), func(_ *target, r result) bool { return strings.Contains(r.out, "rules") }, ""},
	{"AppendToHidden", harness.GuardHidden, boxed, try("append", inDir(".own/rules")), evil(".own/rules"), ""},
	{"AppendToHiddenThroughLink", harness.GuardHidden, boxed, try("symlink", inDir("in/side/rules")), evil("in/side/rules"), ""},
	{"AppendToHiddenThroughHardLink", harness.GuardHidden, boxed, try("hardlink", inDir(".own/rules")), evil(".own/rules"), ""},
	{"CreateInHidden", harness.GuardHidden, boxed, script("echo evil >.own/new"), evil(".own/new"), ""},
	{"CreateWhatIsHidden", harness.GuardHidden, boxed, script("mkdir -p later; echo evil >later/rules"), evil("later/rules"), ""},
	{"LinkWhatIsHidden", harness.GuardHidden, boxed, try("plant", word("sub"), inDir("later")), linked("later"), ""},
	{"RemoveHidden", harness.GuardHidden, boxed, script("rm -rf .own"), gone(".own/rules"), ""},
	{"ReplaceHidden", harness.GuardHidden, boxed, script("mv .own moved; mkdir -p .own; echo evil >.own/rules; cat moved/rules"), evil(".own/rules"), ""},
	{"ReplaceHiddenByLink", harness.GuardHidden, boxed, try("plant", word("sub"), inDir(".own")), linked(".own"), ""},
	{"ReplaceAboveHidden", harness.GuardHidden, boxed, script("mv in moved; mkdir -p in/side; echo evil >in/side/rules"), evil("in/side/rules"), ""},
	{"MoveIntoHidden", harness.GuardHidden, boxed, script("echo evil >x; mv -f x .own/rules"), evil(".own/rules"), ""},
	{"ExchangeHidden", harness.GuardHidden, boxed, try("exchange", inDir(".own"), inDir("sub")), gone(".own/rules"), ""},
	{"ExchangeAboveHidden", harness.GuardHidden, boxed, try("exchange", inDir("in"), inDir("sub")), gone("in/side/rules"), ""},
	{"HiddenInAnotherCase", harness.GuardHidden, boxed, script("mkdir -p .OWN; echo evil >>.OWN/rules"), evil(".own/rules"), "most file systems tell them apart"},
	{"MountOverHidden", harness.GuardHidden, boxed, try("mount", inDir(".own")), said, "never tried where nothing stops it"},
	{"UnmountHidden", harness.GuardHidden, boxed, try("unmount", inDir(".own"), word(".own/rules")), revealed, "there is nothing to unmount where nothing is held"},
	{"ChangeModeOfHidden", harness.GuardHidden, boxed, try("chmod", inDir(".own")), func(a *target, _ result) bool {
		info, err := os.Stat(filepath.Join(a.dir, ".own"))
		return err != nil || info.Mode().Perm() == 0o777
	}, ""},
}

// inDir is a path in the workspace.
func inDir(name string) func(*target) string {
	return func(a *target) string { return filepath.Join(a.dir, name) }
}

func gone(name string) func(*target, result) bool {
	return func(a *target, _ result) bool { return read(filepath.Join(a.dir, name)) == "" }
}

func linked(name string) func(*target, result) bool {
	return func(a *target, _ result) bool {
		_, err := os.Readlink(filepath.Join(a.dir, name))
		return err == nil
	}
}
