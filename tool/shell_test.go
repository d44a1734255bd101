package tool

import (
	"strings"
	"testing"
)

func TestDestructiveCommandsAreSeen(t *testing.T) {
	t.Parallel()
	for _, command := range []string{
		"rm -r x", "rm x", "/bin/rm -rf /", `\rm x`, `r"m" x`, "cd x && rm -rf y", "if true; then rm -r x; fi", "echo $(rm x)", "x=`rm y`",
		"sudo -u root rm x", "env A=1 rm x", "find . -name '*.o' | xargs -n 1 rm", "find . -delete", "find . -exec rm {} +", "timeout 5 rm x",
		`bash -c "rm -rf x"`, `sh -lc 'cd x; rm y'`, `eval "rm x"`, `eval rm x`, "f() { rm x; }; f", "rm x &", "(rm x)", "cat <(rm x)",
		"git push --force", "git push -f origin main", "git push origin +main", "git -C x push --force-with-lease=a", "git push", "git reset --hard HEAD~1",
		"git clean -fdx", "git branch -D x", "git checkout -- .", "git stash drop", "dd if=/dev/zero of=x", "mkfs.ext4 /dev/sda1", "echo x > /dev/sda",
		"$CMD x", `"$(cat x)" y`, "chmod -R 777 .", "npm publish", "terraform destroy", "kubectl delete pod x", "docker system prune -af", "aws s3 rm s3://x",
		`psql -c "DROP TABLE x"`, "curl -X DELETE http://x", "curl -XDELETE http://x", "echo 'unclosed", "busybox rm x", "shutdown -h now", "truncate -s 0 x",
		"while read f; do rm \"$f\"; done", "case x in x) rm y;; esac", "! rm x", "time rm x", "A=1 rm x", "coproc rm x",
	} {
		if inspect(command) == nil {
			t.Errorf("%q is not seen", command)
		}
	}
	for _, command := range []string{
		"ls -la", "echo rm -rf x", "git status", "git commit -m 'rm -rf'", "git log --oneline", "grep -r rm .", "cat x > y 2>/dev/null", "go test ./...", "make -j4",
		"echo hi > /dev/stderr", "curl https://x", "docker ps", "find . -name x", "printf '%s' \"$x\"", "sh x.sh", "git branch x", "mkdir -p a/b", "npm test", "",
	} {
		if hints := inspect(command); hints != nil {
			t.Errorf("%q: %q", command, hints)
		}
	}
}

func FuzzInspect(f *testing.F) {
	f.Add("rm -rf x")
	f.Add(`bash -c "eval 'sudo rm $x'"`)
	f.Add(strings.Repeat("env ", 100) + "x")
	f.Fuzz(func(t *testing.T, command string) {
		inspect(command)
		var w writer
		if w.script(command, 0); len(w.files) > maxWrites {
			t.Errorf("%d files", len(w.files))
		}
	})
}
