package ts_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"harness/internal/browsertest"
)

const play = `when ask
  say "Before. "
  ask bash {"command":"ls"} access=execute "Run ls" => ran
  say " After."
else when hang
  say Hanging.
  hang
else
  say Hello.
end
`

// The example is built as its page says and opened in a browser. What people do
// there reaches a real server, and what that tells is shown, in its order; also
// after it was killed.
func TestTheExampleTalksToARealServer(t *testing.T) {
	t.Parallel()
	node, folder := findNode(t), t.TempDir()
	run(t, "examples/chat/build.mjs", folder)
	for _, name := range []string{"index.html", "main.js", "main.css"} {
		if info, err := os.Stat(filepath.Join(folder, name)); err != nil || info.Size() == 0 {
			t.Fatalf("%s: %v", name, err)
		}
	}
	s := serve(t, play)
	shown := start(t, ` shows `, node, "examples/chat/serve.mjs", s.url, "0", folder)
	p := open(t, shown.url+"/#token="+s.token)

	p.say("ask")
	p.Until(`document.querySelector(".tool .approval") !== null`)
	p.Shot("question")
	p.press("Allow once")
	p.Until(`document.querySelector(".message.assistant").innerText.includes("After.")`)
	order := browsertest.Eval[string](p.Page, `[...document.querySelector(".message.assistant").children].map((e) => e.matches(".tool") ? "tool " + e.querySelector("header span").innerText : e.innerText.trim()).join(" | ")`)
	if order != "Before. | tool complete | After." {
		t.Errorf("the message is shown as %q", order)
	}
	p.say("hang")
	p.Until(`document.body.innerText.includes("Hanging.")`)
	p.press("Stop")
	p.Until(`[...document.querySelectorAll("button")].some((b) => b.innerText === "Send")`)

	p.Expect("WebSocket", "Failed to load resource") // the browser's own words for what follows
	s.kill()
	p.Until(`document.querySelector(".banner.reconnecting") !== null`)
	s.start()
	p.Until(`document.querySelector(".banner") === null`)
	p.say("hello")
	p.Until(`document.body.innerText.includes("Hello.")`)
	p.Shot("after a restart")
	if text := browsertest.Eval[string](p.Page, `document.body.innerText`); strings.Count(text, "Before.") != 1 || strings.Count(text, "Hanging.") != 1 || strings.Count(text, "Hello.") != 1 {
		t.Errorf("not everything is there once:\n%s", text)
	}
}

// A long session is opened with its newest messages; the rest comes when it is
// asked for.
func TestTheExampleShowsALongSession(t *testing.T) {
	t.Parallel()
	node, folder := findNode(t), t.TempDir()
	run(t, "examples/chat/build.mjs", folder)
	s := serve(t, play)
	id := s.chat()
	for i := range 100 {
		s.turn(id, fmt.Sprint("prompt ", i))
	}
	shown := start(t, ` shows `, node, "examples/chat/serve.mjs", s.url, "0", folder)
	p := open(t, shown.url+"/?session="+id+"#token="+s.token)
	p.Until(`document.body.innerText.includes("prompt 99")`)
	p.Until(`document.querySelectorAll(".message").length >= 64`)
	if n := browsertest.Eval[int](p.Page, `document.querySelectorAll(".message").length`); n > 128 {
		t.Errorf("%d messages are shown at once", n)
	}
	for range 3 {
		n := browsertest.Eval[int](p.Page, `document.querySelectorAll(".message").length`)
		if n == 200 {
			break
		}
		p.press("Earlier messages")
		p.Until(fmt.Sprintf(`document.querySelectorAll(".message").length > %d`, n))
	}
	said := browsertest.Eval[[]string](p.Page, `[...document.querySelectorAll(".message.user")].map((e) => e.innerText.trim())`)
	for i, text := range said {
		if text != fmt.Sprint("prompt ", i) {
			t.Fatalf("message %d is %q", i, text)
		}
	}
	if len(said) != 100 {
		t.Errorf("%d prompts are shown", len(said))
	}
}

// chat makes a session.
func (s *server) chat() string {
	s.t.Helper()
	var made struct {
		ID string `json:"session_id"`
	}
	s.call(http.MethodPost, "/chat/sessions", `{}`, &made)
	return made.ID
}

// turn says something, and returns when it is answered.
func (s *server) turn(id, prompt string) {
	s.t.Helper()
	s.call(http.MethodPost, "/chat/sessions/"+id+"/turns", fmt.Sprintf(`{"prompt":%q}`, prompt), nil)
}
