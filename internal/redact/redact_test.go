package redact_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"

	"harness/internal/redact"
)

const (
	plain = "correct-horse-battery"
	odd   = "p@ss \"wörd\"/<&>+\\\n=ende"
	digit = "48151623421234"
)

func newRedactor(t testing.TB, values ...string) *redact.Redactor {
	t.Helper()
	r, err := redact.New(values...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// disguises are ways in which programs show a value.
func disguises(v string) map[string]string {
	quoted, _ := json.Marshal(v)
	twice, _ := json.Marshal(string(quoted))
	all := map[string]string{
		"plain": v, "JSON": string(quoted), "JSON in JSON": string(twice), "query": "?k=" + url.QueryEscape(v) + "&x=1", "path": "/" + url.PathEscape(v) + "/",
		"hex": hex.EncodeToString([]byte(v)), "HEX": strings.ToUpper(hex.EncodeToString([]byte(v))),
		"lower percent": strings.ToLower(url.QueryEscape(v)),
	}
	if strings.ToLower(v) != v {
		delete(all, "lower percent")
	}
	for n := range 7 {
		before, after := strings.Repeat("x", n), strings.Repeat("y", 6-n)
		all[fmt.Sprintf("base64 behind %d", n)] = base64.StdEncoding.EncodeToString([]byte(before + v + after))
		all[fmt.Sprintf("base64url behind %d", n)] = base64.URLEncoding.EncodeToString([]byte(before + v + after))
	}
	return all
}

func TestKnownValuesAreFoundInEveryDisguise(t *testing.T) {
	t.Parallel()
	r := newRedactor(t, plain, odd, digit)
	for _, v := range []string{plain, odd, digit} {
		for name, text := range disguises(v) {
			out := r.String("before " + text + " after")
			if !strings.Contains(out, redact.Mark) || !strings.HasPrefix(out, "before ") || !strings.HasSuffix(out, " after") {
				t.Errorf("%q as %s: %q", v, name, out)
			}
			if strings.HasPrefix(name, "base64") { // a few characters beside it stay
				if len(out) > len("before  after")+len(redact.Mark)+20 {
					t.Errorf("%q as %s: too little is gone: %q", v, name, out)
				}
			} else if rest := strings.ReplaceAll(out, redact.Mark, ""); len(rest) > len("before  after")+10 {
				t.Errorf("%q as %s: %q", v, name, out)
			}
		}
	}
}

// pemLine is a line of a key.
const pemLine = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKB"

var samples = map[string]string{ // what is to go, in a text
	"anthropic":  "key sk-ant-api03-AbCdEf0123456789_-AbCdEf0123456789 end",
	"openai":     "key sk-proj-AbCdEf0123456789AbCdEf end",
	"github":     "key ghp_0123456789abcdefghijABCDEFGHIJ012345 end",
	"github pat": "key github_pat_11ABCDEFG0123456789_abcdefghijklmnop end",
	"aws":        "key AKIAIOSFODNN7EXAMPLE end",
	"google":     "key AIzaSyA0123456789abcdefghijklmnopqrstuv end",
	"slack":      "key xoxb-123456789012-abcdefABCDEF end",
	"ours":       "key hk_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG end",
	"jwt":        "key eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhbGljZSJ9.c2lnbmF0dXJl-_ end",
	"bearer":     "key Bearer abcdefghijklmnopqrstuvwxyz012345== end",
	"pem":        "key -----BEGIN RSA PRIVATE KEY-----\n" + pemLine + "\n" + pemLine + "\nIBAAKC==\n-----END RSA PRIVATE KEY----- end",
	"pem quoted": `key -----BEGIN PRIVATE KEY-----\n` + pemLine + `\nIBAAKC==\n-----END PRIVATE KEY----- end`,
	"pem twice":  `key -----BEGIN PRIVATE KEY-----\\r\\n` + pemLine + `\\r\\nIBAAKC==\\r\\n-----END PRIVATE KEY-----` + " end",
	"pem flat":   "key -----BEGIN PRIVATE KEY----- " + pemLine + pemLine + pemLine + " -----END PRIVATE KEY----- end",
	"pem locked": "key -----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123456789ABCDEF\n\n" + pemLine + "\nIBAA\n-----END RSA PRIVATE KEY----- end",
	"pem indent": "key -----BEGIN OPENSSH PRIVATE KEY-----\n    " + pemLine + "AAAAAA\n    " + pemLine + "AAAAAA\n    IBAA=\n    -----END OPENSSH PRIVATE KEY----- end",
	"pem lines":  "key -----BEGIN PRIVATE KEY-----\n     2\t" + pemLine + "\n     3\tIBAAKC==\n     4\t-----END PRIVATE KEY----- end",
	"pem arrows": "key -----BEGIN PRIVATE KEY-----\n     2→" + pemLine + "\n     3→IBAAKC==\n     4→-----END PRIVATE KEY----- end",
	"pem diff":   "key -----BEGIN PRIVATE KEY-----\n-" + pemLine + "\n-IBAAKC==\n -----END PRIVATE KEY----- end",
	"pgp":        "key -----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2.0.22 (GNU/Linux)\n\n" + pemLine + "\nIBAAKC==\n=aB3d\n-----END PGP PRIVATE KEY BLOCK----- end",
}

func TestPatternsAreFound(t *testing.T) {
	t.Parallel()
	r := newRedactor(t)
	for name, text := range samples {
		if got := r.String(text); got != "key "+redact.Mark+" end" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestWhatIsNoSecretStays(t *testing.T) {
	t.Parallel()
	r := newRedactor(t, plain)
	for _, text := range []string{
		"", "a", "a plain sentence about a risk-based task-management-and-planning-system", "sk-learn-is-a-library-for-machine-learning", "Bearer authentication",
		"Bearer token", "AKIA is a prefix", "ghp_short", "eyJ", "eyJhbGciOiJIUzI1NiJ9 is only a head", "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
		"-----BEGIN ", "correct-horse", "/usr/share/eyJhbGciOiJIUzI1NiJ9.txt", "ask-0123456789012345678901234567890", "the hk_ prefix",
	} {
		if got := r.String(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	if b := []byte("nothing here"); &r.Bytes(b)[0] != &b[0] {
		t.Error("it was copied")
	}
}

func TestShortValuesAreRefused(t *testing.T) {
	t.Parallel()
	if _, err := redact.New("1234567"); err == nil {
		t.Error("seven bytes")
	}
	if r := newRedactor(t, "12345678"); r.String("x12345678y") != "x"+redact.Mark+"y" {
		t.Error("eight bytes")
	}
}

// TestASecretBehindASecretIsFound: no word goes on behind one.
func TestASecretBehindASecretIsFound(t *testing.T) {
	t.Parallel()
	r := newRedactor(t, digit)
	text := digit + "sk-ant-api03-AbCdEf0123456789_-AbCdEf0123456789"
	if got := one([]byte(r.String(text))); got != redact.Mark {
		t.Errorf("%q", got)
	}
	for at := range text {
		s := r.Stream()
		out := s.Next(nil, []byte(text[:at]))
		out = s.Next(out, []byte(text[at:]))
		if got := one(s.End(out)); got != redact.Mark {
			t.Errorf("cut at %d: %q", at, got)
		}
		if got := s.Text(text[:at]) + s.Text(text[at:]) + s.Flush(); strings.Contains(got, "api03") || strings.Contains(got, digit) {
			t.Errorf("live, cut at %d: %q", at, got)
		}
	}
}

// texts are everything above, in one.
func texts() string {
	var b strings.Builder
	for _, v := range []string{plain, odd, digit} {
		for name, text := range disguises(v) {
			b.WriteString(name + ": " + text + "\n")
		}
	}
	for name, text := range samples {
		b.WriteString(name + ": " + text + "\n")
	}
	return b.String()
}

// one is a text in which neighbouring marks are one: where a stream was cut
// between two secrets that touch, there are two.
func one(b []byte) string {
	s := string(b)
	for strings.Contains(s, redact.Mark+redact.Mark) {
		s = strings.ReplaceAll(s, redact.Mark+redact.Mark, redact.Mark)
	}
	return s
}

func TestAStreamMayBeCutAnywhere(t *testing.T) {
	t.Parallel()
	r := newRedactor(t, plain, odd, digit, "correct-horse-battery-staple", "battery-and-more")
	text := []byte(texts() + strings.Repeat("battery-correct-horse-battery-and-more ", 3))
	want := one(r.Bytes(text))
	for size := 1; size < 200; size++ {
		s := r.Stream()
		var out []byte
		for rest := text; len(rest) > 0; {
			n := min(size, len(rest))
			out = s.Next(out, rest[:n])
			rest = rest[n:]
		}
		if got := one(s.End(out)); got != want {
			t.Fatalf("in parts of %d:\n%s\nwant\n%s", size, got, want)
		}
	}
}

// TestLittleIsHeldBack: ordinary text is shown at once, and nothing can make a
// stream keep much.
func TestLittleIsHeldBack(t *testing.T) {
	t.Parallel()
	r := newRedactor(t, plain, odd)
	s := r.Stream()
	for _, part := range []string{"Hello, ", "this is ", "ordinary ", "text.\n"} {
		if out := s.Next(nil, []byte(part)); string(out) != part {
			t.Errorf("of %q came %q", part, out)
		}
	}
	bound := redact.MaxHold + 16*len(odd)
	for name, unit := range map[string]string{"heads": "eyJabcdefghijk", "keys": "sk-", "begins": "-----BEGIN ", "almost": plain[:len(plain)-1], "private": "-----BEGIN PRIVATE KEY", "ends": "-----END ", "dashes": "-", "a value": plain, "letters": "sk-1aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"} {
		s, in, out, marks := r.Stream(), 0, 0, 0
		for range 2000 {
			b := s.Next(nil, []byte(unit))
			in, out, marks = in+len(unit), out+len(b), marks+bytes.Count(b, []byte(redact.Mark))
			if s.Held() > bound {
				t.Fatalf("%s: %d bytes are held back", name, s.Held())
			}
		}
		if marks == 0 && in-out > bound {
			t.Errorf("%s: of %d bytes came %d", name, in, out)
		}
	}
}

func TestAKeyWithoutAnEndDoesNotEatEverything(t *testing.T) {
	t.Parallel()
	r := newRedactor(t)
	text := []byte("a -----BEGIN PRIVATE KEY----- " + strings.Repeat(pemLine+"\n", 1000) + "text the end")
	out := r.Bytes(text)
	if !bytes.HasSuffix(out, []byte("text the end")) || !bytes.HasPrefix(out, []byte("a "+redact.Mark)) {
		t.Errorf("%d bytes: %.60q", len(out), out)
	}
	s := r.Stream()
	var parts []byte
	for i := 0; i < len(text); i += 100 {
		parts = s.Next(parts, text[i:min(i+100, len(text))])
	}
	if parts = s.End(parts); one(parts) != one(out) {
		t.Errorf("in parts: %d bytes, at once %d", len(parts), len(out))
	}
}

func TestJSONStaysJSON(t *testing.T) {
	t.Parallel()
	r := newRedactor(t, plain, odd, digit, "nothing-at-all")
	quoted, _ := json.Marshal(odd)
	for _, text := range []string{
		`{"output":"the key is ` + plain + `\n","n":1}`,
		`{"` + plain + `":[` + string(quoted) + `]}`,
		`{"n":` + digit + `,"big":12345678901234567890}`,
		`{"x":"line\nothing-at-all"}`,
		`["a\\nothing-at-all","\u006eothing-at-all"]`,
	} {
		out := r.JSON([]byte(text))
		var v any
		if err := json.Unmarshal(out, &v); err != nil {
			t.Errorf("%s became %s: %v", text, out, err)
		}
		if again := fmt.Sprint(v); !strings.Contains(text, `\u006e`) && (strings.Contains(again, plain) || strings.Contains(again, digit)) {
			t.Errorf("%s became %s", text, out)
		}
		if strings.Contains(text, "big") && !strings.Contains(string(out), "12345678901234567890") {
			t.Errorf("a number was changed: %s", out)
		}
	}
	if out := r.JSON([]byte(`{"a":1}`)); string(out) != `{"a":1}` {
		t.Errorf("%s", out)
	}
	if out := r.JSON(nil); len(out) != 0 {
		t.Errorf("%s", out)
	}
}

func TestLogsHaveNoSecrets(t *testing.T) {
	t.Parallel()
	r := newRedactor(t, plain)
	var b bytes.Buffer
	log := slog.New(r.Handler(slog.NewJSONHandler(&b, nil)))
	log = log.With("with", plain).WithGroup("g")
	log.Error("message "+plain, "text", plain, "err", errors.New("open "+plain), "group", slog.GroupValue(slog.String("in", plain)), "bytes", []byte(plain),
		"struct", struct{ Key string }{plain}, "url", &url.URL{Path: plain}, plain, 1, "n", 5, "fine", map[string]int{"a": 1})
	if strings.Contains(b.String(), plain) || strings.Count(b.String(), redact.Mark) != 9 {
		t.Errorf("%s", b.String())
	}
	if !strings.Contains(b.String(), `"fine":{"a":1}`) || !strings.Contains(b.String(), `"n":5`) {
		t.Errorf("%s", b.String())
	}
	b.Reset()
	w := r.Writer(&b)
	for _, part := range []string{"a " + plain[:5], plain[5:] + " b ", plain[:7]} {
		if n, err := w.Write([]byte(part)); n != len(part) || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	}
	if err := w.Close(); err != nil || b.String() != "a "+redact.Mark+" b "+plain[:7] {
		t.Errorf("%q, %v", b.String(), err)
	}
	b.Reset()
	slog.New(slog.NewTextHandler(r.Lines(&b), nil)).Info("x", "v", "a \""+plain+"\"")
	if strings.Contains(b.String(), plain) {
		t.Errorf("%q", b.String())
	}
}

// FuzzStream cuts texts that are made of pieces of secrets at random, and
// compares with the whole. No known value gets through either.
func FuzzStream(f *testing.F) {
	f.Add(uint64(1), uint64(2), "x")
	r := newRedactor(f, plain, odd, digit, "aaaaaaaaaa")
	all := texts()
	f.Fuzz(func(t *testing.T, a, b uint64, extra string) {
		rnd := rand.New(rand.NewPCG(a, b))
		var text []byte
		for range 1 + rnd.IntN(12) {
			from := rnd.IntN(len(all))
			text = append(text, all[from:min(len(all), from+rnd.IntN(120))]...)
			switch rnd.IntN(6) {
			case 0:
				text = append(text, extra...)
			case 1:
				text = append(text, plain...)
			case 2:
				text = append(text, strings.Repeat("a", rnd.IntN(30))...)
			}
		}
		whole := r.Bytes(text)
		for _, v := range []string{plain, odd, digit} {
			if bytes.Contains(whole, []byte(v)) {
				t.Fatalf("%q is in %q", v, whole)
			}
		}
		s := r.Stream()
		var out []byte
		for rest := text; len(rest) > 0; {
			n := 1 + rnd.IntN(min(len(rest), 1+rnd.IntN(40)))
			out = s.Next(out, bytes.Clone(rest[:n]))
			rest = rest[n:]
		}
		if out = s.End(out); one(out) != one(whole) {
			t.Fatalf("%q\nin parts %q\nat once  %q", text, out, whole)
		}
	})
}

func BenchmarkRedact(b *testing.B) {
	var values []string
	for i := range 20 {
		values = append(values, fmt.Sprintf("sk-ant-api03-%040x", i*7919))
	}
	r := newRedactor(b, values...)
	prose := []byte(strings.Repeat("The engine reads the file, edits the second line and runs the tests again; all of them pass.\n", 10_000))
	code := []byte(strings.Repeat("\tif err := s.begin(ctx, sessions[i]); err != nil { return fmt.Errorf(\"begin %s: %w\", base64, err) }\n", 10_000))
	for name, text := range map[string][]byte{"prose": prose, "code": code} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				r.Bytes(text)
			}
		})
	}
	b.Run("tokens", func(b *testing.B) { // as an engine streams them
		s, out := r.Stream(), make([]byte, 0, 64)
		b.SetBytes(5)
		b.ReportAllocs()
		for b.Loop() {
			out = s.Next(out[:0], prose[1000:1005])
		}
	})
}
