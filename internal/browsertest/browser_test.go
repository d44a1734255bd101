package browsertest

import (
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

const planted = `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><meta http-equiv="Content-Security-Policy" content="img-src data:">
<img src="/forbidden.png"><script>
console.error("an error"); console.error("an expected error"); console.log("no error");
const line = new WebSocket("ws://" + location.host + "/line");
line.onmessage = async () => {
  await (await fetch("/data")).text();
  window.moment = performance.now();
  await new Promise((r) => setTimeout(r, 2)); // the clock has ticked
  await (await fetch("/late")).text();
  window.done = true;
};
</script>`

const fetched, late, told = 50_000, 7_000, 30_000 // bytes

// A page that complains fails its test, and every byte it gets is counted, apart
// from those of after a moment.
func TestComplaintsFailAndBytesCount(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, planted) })
	mux.HandleFunc("/data", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, strings.Repeat("x", fetched)) })
	mux.HandleFunc("/late", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, strings.Repeat("z", late)) })
	mux.HandleFunc("/line", tell)
	server := httptest.NewServer(mux)
	defer server.Close()
	var b Browser
	defer b.Close()

	inner := &recorder{TB: t}
	p := b.Open(inner)
	p.Expect("an expected error")
	p.CountCPU()
	traffic := p.CountTraffic()
	p.Do("go", chromedp.Navigate(server.URL))
	p.Until("window.done === true")
	page := len(planted)
	const heads = 2_000
	if http, frames := traffic.Bytes(); http < page+fetched+late || http > page+fetched+late+heads || frames != told {
		t.Errorf("%d bytes over HTTP, %d over a WebSocket", http, frames)
	}
	http, frames, after := traffic.Split(Eval[float64](p, "moment"))
	if http < page+fetched || http > page+fetched+heads || frames != told || len(after) != 1 || !strings.HasPrefix(after[0], "/late ") {
		t.Errorf("until a moment %d bytes over HTTP, %d over a WebSocket, then %q", http, frames, after)
	}
	if http, frames, after := traffic.Split(0); http+frames > heads || len(after) < 2 {
		t.Errorf("at first %d bytes over HTTP, %d over a WebSocket, then %q", http, frames, after)
	}
	if p.CPU() <= 0 || p.Heap() <= 0 {
		t.Errorf("it costs %v and %v bytes", p.CPU(), p.Heap())
	}
	inner.end()
	slices.Sort(inner.errors)
	if len(inner.errors) != 2 || !strings.Contains(inner.errors[0], "Content Security Policy") || !strings.Contains(inner.errors[1], "an error") {
		t.Errorf("it complained of %q", inner.errors)
	}
}

// tell is a WebSocket's server: one message of text.
func tell(w http.ResponseWriter, r *http.Request) {
	key := sha1.Sum([]byte(r.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	conn, buf, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err) // httptest's can be taken over
	}
	defer conn.Close()
	fmt.Fprintf(buf, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n", base64.StdEncoding.EncodeToString(key[:]))
	buf.Write([]byte{0x81, 126, told >> 8, told & 0xff})
	buf.WriteString(strings.Repeat("y", told))
	buf.Flush()
	buf.ReadByte() // until the page goes
}

// recorder is a test that takes note of its errors and ends when it is told.
type recorder struct {
	testing.TB
	errors   []string
	cleanups []func()
}

func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

func (r *recorder) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }

func (r *recorder) end() {
	for _, f := range slices.Backward(r.cleanups) {
		f()
	}
}
