package policy_test

import (
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"harness"
	"harness/policy"
)

// pieces are what lines of chance are made of. Programs do not exist where the
// lines run; zz is one that no rule allows.
var pieces = []string{
	"ls", "ls ", "npm test", "cat ", "echo ", "true", "zz", "zz x", "cd sub", "ls 'a b'", " ", " ", " ", "\n", "\n", ";", "; ", " && ", " || ", " | ", " & ", "'", `"`, `\`, "$", "(", ")", "`", "{", "}", "{ ", "; }", ",", "<", ">", ">>", "2>&1", " > out/a",
	" < out/a", "out/a", "/dev/null", "#", "!", "=", "CI=1 ", "PATH=. ", "TEST_A=x ", "x", "$x", "$(", "$(zz)", "${x:-", "`zz`", "*", "?", "[", "]", "~", "<<EOF\n", "\nEOF\n", "<<'EOF'\n", "<<<", "if true; then ", "; fi", "for x in a b; do ", "; done", "while ", "case a in ", "a) ", ";;", " esac", "[[ ", " ]]",
	"((", "))", "function f ", "f() ", "$'", `\x7a`, `\172`, "eval ", ". ", "exec ", "time ", "coproc ", "\\\n", "\t", "-", "--", "a\\;b", `"$(zz)"`, "'zz'", "ls;zz", "<(zz)", "alias ls=zz\n", "ls() { zz; }\n", "export ", "CI=", "|&", "&>", "2>", "{a,b}", "{zz,a}", "z{z,}", "z''z", `z"z"`, `z\z`,
	"# c\n", " #", "'#'", "\\\n#", "<>", "${x}", `\$`, `\'`, "a=b ", "$(<out/a)", "<&-", ">&2", "!!", "^", "%", "@", "+", ".", "..", "/", ":", "[ ", " ]", "elif ", "else ", "do ", "then ", "{1..3}", "&&\n", "|\n", ";;&", ";&", "in ", "until ", "select x in a; do ", "<<-EOF\n", "<<\"EOF\"\n", "<<E\n", "\nE\n", "EOF", "test ", "1>", "&", "$!", "$((1))", "$[1]", "let x=1", "()", "(ls)", "{ ls; }", "!", "-l", "\\", "''", `""`, "é", "$\"a\"",
}

// What policy allows, bash is given to run where no program can be found: of
// every program that it then looks for, some rule allows it, and it writes no
// file but where it may.
func TestBashRunsOnlyWhatIsAllowed(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash to compare with")
	}
	dir := t.TempDir()
	home := filepath.Join(dir, "project")
	for _, sub := range []string{"sub", "out"} {
		if err := os.MkdirAll(filepath.Join(home, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	env := filepath.Join(dir, "env")
	if err := os.WriteFile(env, []byte("command_not_found_handle() { case \"$1 $2\" in 'npm test') builtin printf 'npm test\\n';; *) builtin printf '%s\\n' \"$1\";; esac >&3; }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := read(t, `rules: [{allow: bash, commands: ["ls *", "npm test *", "cat *", "echo *", "true", "cd *", "x *"], env: [CI, "TEST_*"], paths: ["out/**"]}]`)
	c := policy.Context{Mode: harness.Normal, Directory: home}
	tries, runs := 200_000, 300
	if os.Getenv("LONG") != "" {
		tries, runs = 20_000_000, 20_000
	}
	rng := rand.New(rand.NewPCG(1, 2))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	ran, seen := 0, map[string]bool{}
	for i := 0; i < tries && ran < runs; i++ {
		var b strings.Builder
		for range 1 + rng.IntN(9) {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		text := b.String()
		in, _ := json.Marshal(map[string]string{"command": text})
		v := policy.Decide(p, c, nil, nil, harness.ToolUse{Tool: "bash", Access: harness.AccessExecute, Input: in})
		if v.Outcome != policy.Allow || seen[text] || !strings.ContainsAny(text, "\\'\"<>{}()$`;&|\n#=") {
			continue // lines of words alone are told elsewhere
		}
		seen[text] = true
		ran++
		names := notFound(t, ctx, bash, home, env, text)
		for name := range strings.Lines(names) {
			switch strings.TrimSuffix(name, "\n") {
			case "ls", "npm test", "cat", "x":
			default:
				t.Fatalf("%q was allowed, and bash runs %q", text, name)
			}
		}
	}
	var made []string
	for _, pattern := range []string{"*", "sub/*", "../*"} {
		names, err := filepath.Glob(filepath.Join(home, pattern))
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, names...)
	}
	if want := []string{home + "/out", home + "/sub", env, home}; !slices.Equal(made, want) {
		t.Errorf("there are %q, want %q", made, want)
	}
	if ran < runs/2 {
		t.Errorf("only %d lines were allowed; the test says nothing", ran)
	}
	t.Logf("%d lines ran", ran)
}

// notFound runs a line and returns the programs that were not found, when all
// that it started has ended.
func notFound(t *testing.T, ctx context.Context, bash, home, env, text string) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd := exec.CommandContext(ctx, bash, "-c", text)
	cmd.Dir, cmd.Env, cmd.ExtraFiles = home, []string{"PATH=/nowhere", "BASH_ENV=" + env, "HOME=" + home}, []*os.File{w}
	err = cmd.Start()
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	names, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // its exit code says nothing here
	return string(names)
}
