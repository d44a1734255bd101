package browser

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/chromedp"
)

// makeRun does what the first page of the manual says, in this tree: make run.
// It returns with what that prints.
func makeRun(t *testing.T) (h *house, printed string) {
	t.Helper()
	dir := t.TempDir()
	h = &house{t: t, data: filepath.Join(dir, "data"), work: filepath.Join(dir, "my-project")}
	if err := os.MkdirAll(h.work, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("make", "-s", "-C", "../..", "run", "ARGS=--addr 127.0.0.1:0 --data "+h.data+" --cwd "+h.work+" --drain 1s")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // make does not pass signals on
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
		cmd.Wait() // with what a signal makes of it
	})
	link := regexp.MustCompile(`http://\S+/login#code=\S+`)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		printed += lines.Text() + "\n"
		if m := listens.FindStringSubmatch(lines.Text()); m != nil {
			h.url = m[1]
		}
		if h.printed == "" {
			h.printed = link.FindString(lines.Text())
		}
		if strings.HasPrefix(strings.TrimSpace(lines.Text()), "sandbox") {
			break
		}
	}
	if h.printed == "" {
		t.Fatalf("make run prints no link:\n%s", printed)
	}
	return h, printed
}

// TestANewcomersPath is what somebody does who has read nothing: make run, the
// link that it prints, and then only what can be seen and clicked. Every step is
// kept as a picture, and all of them on one sheet.
func TestANewcomersPath(t *testing.T) {
	inFull(t)
	t.Parallel()
	h, printed := makeRun(t)
	p := h.visit(t, "/") // the link
	p.theme("light")
	p.do("a small window", chromedp.EmulateViewport(1120, 700))
	var steps []string
	step := func(words string) {
		t.Helper()
		name := fmt.Sprintf("%d", len(steps)+2)
		p.gone("[data-stale]")
		p.shot("newcomer-" + name)
		steps = append(steps, words)
	}
	p.read("No sessions yet")
	step("The link logs in. One button stands out.")
	p.press("New session")
	p.see(`dialog[open] textarea`)
	p.press("write `# Notes` to notes.md")
	step("What to ask for is suggested; one click fills it in.")
	p.press("Start")
	p.see(card)
	p.read("notes.md")
	p.see("aside ol li")
	step("It wants to write a file, and asks. The change is shown.")
	p.press("Approve")
	p.until(`document.querySelector('[data-tool="write"]')?.dataset.status === "complete"`)
	p.see(`[data-approval] pre`) // the command asks, too
	p.press("Approve")
	p.until(`document.querySelector('[data-tool="bash"]')?.dataset.status === "complete"`)
	p.gone(card)
	if got, err := os.ReadFile(filepath.Join(h.work, "notes.md")); err != nil || !strings.Contains(string(got), "# Notes") {
		t.Fatalf("notes.md: %q, %v", got, err)
	}
	p.until(`document.querySelector("main header")?.innerText.includes("Idle")`)
	p.press("Changes")
	p.see(`section[aria-label="notes.md"]`)
	step("Changes has every file and line that was changed.")
	p.press("Rewind files")
	p.until(`document.querySelector('[data-testid="rewind"]')?.innerText.includes("notes.md")`)
	step("Rewind, beside it, says first what it would take back.")
	p.press("Rewind 1 file")
	p.gone("dialog[open]")
	if _, err := os.Stat(filepath.Join(h.work, "notes.md")); err == nil {
		t.Fatal("notes.md is still there")
	}
	p.press("Chat")
	p.press("Branch")
	p.see("dialog[open]")
	step("A branch begins with all that was said, and says what that means.")
	p.press("Make the branch")
	p.read("(branch)")
	p.write(composer, "say Done")
	p.press("Send")
	p.until(newest + `.includes("Done")`)
	step("The branch goes on by itself; the first session stays as it was.")
	p.sheet(printed, steps)
}

// sheet puts the pictures of the steps on one, below what was printed.
func (p *page) sheet(printed string, steps []string) {
	p.t.Helper()
	var b strings.Builder
	figure := func(n int, picture, words string) {
		fmt.Fprintf(&b, `<figure>%s<figcaption><b>%d</b> %s</figcaption></figure>`, picture, n, html.EscapeString(words))
	}
	printed = regexp.MustCompile(`code=\S+`).ReplaceAllString(printed, "code=…")
	printed = strings.ReplaceAll(printed, filepath.Dir(p.h.data), "~")
	figure(1, "<pre>$ make run\n"+html.EscapeString(printed)+"</pre>", "make run prints a link.")
	for i, words := range steps {
		png, err := os.ReadFile(filepath.Join(p.t.ArtifactDir(), fmt.Sprintf("newcomer-%d.png", i+2)))
		if err != nil {
			return // nobody keeps pictures
		}
		figure(i+2, `<img src="data:image/png;base64,`+base64.StdEncoding.EncodeToString(png)+`">`, words)
	}
	const style = `<style>body{margin:16px;font:13px system-ui;background:#fff;color:#1d1c1a;display:grid;grid-template-columns:repeat(2,1fr);gap:16px}figure{margin:0}
		img,pre{width:100%;aspect-ratio:1120/700;border:1px solid #d3d0c8;border-radius:8px;box-sizing:border-box;display:block;margin:0}
		pre{background:#181817;color:#ecebe6;padding:16px;font:10.5px/1.5 "DejaVu Sans Mono",monospace;white-space:pre-wrap;overflow:hidden;overflow-wrap:anywhere}
		figcaption{padding:5px 2px}b{display:inline-grid;place-items:center;width:19px;height:19px;border-radius:99px;background:#3450c4;color:#fff;font-size:11px;margin-inline-end:4px}</style>`
	p.do("a blank page", chromedp.Navigate("about:blank"))
	eval[bool](p, "(document.write("+quote("<!doctype html>"+style+b.String())+"), document.close(), true)")
	p.until(`[...document.images].every((i) => i.complete && i.naturalWidth > 0)`)
	p.do("a large window", chromedp.EmulateViewport(1120, eval[int64](p, "document.documentElement.scrollHeight")))
	p.shot("newcomer")
}
