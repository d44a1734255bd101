package redact_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"harness/internal/redact"
)

// TestOrdinaryWordsNeverWait: also those that end like a secret begins.
func TestOrdinaryWordsNeverWait(t *testing.T) { // not parallel: it counts allocations
	s := newRedactor(t, "hk_0123456789abcdefghijklmnopqrstuvwxyz", plain).Stream()
	for _, part := range []string{"Hello", ", path", " to", " the", " task", "s", "k", " aga", "in: A", "K", " correctly, e", "y", "e"} {
		if out := s.Text(part); out != part {
			t.Errorf("of %q came %q", part, out)
		}
	}
	if n := testing.AllocsPerRun(100, func() { s.Text("ordinary "); s.Text("path") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestALiveTextMayBeCutAndFlushedAnywhere: whatever is shown early, no secret
// gets through, and what is none is all there, in order.
func TestALiveTextMayBeCutAndFlushedAnywhere(t *testing.T) {
	t.Parallel()
	r := newRedactor(t, plain, odd, digit, "correct-horse-battery-staple")
	secrets := []string{plain, odd, digit}
	for _, text := range samples {
		secrets = append(secrets, strings.TrimSuffix(strings.TrimPrefix(text, "key "), " end"))
	}
	for seed := range uint64(3000) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		var text, rest strings.Builder // rest is what is no secret
		for range 1 + rnd.IntN(6) {
			words := []string{"§ some words §", "§ tasks, sk-ill, eyes §", "§ correct-horse §"}[rnd.IntN(3)]
			text.WriteString(words)
			rest.WriteString(words)
			if rnd.IntN(2) == 0 {
				text.WriteString(secrets[rnd.IntN(len(secrets))])
			}
		}
		s := r.Stream()
		var out strings.Builder
		for in := text.String(); in != ""; {
			n := 1 + rnd.IntN(min(len(in), 1+rnd.IntN(30)))
			out.WriteString(s.Text(in[:n]))
			in = in[n:]
			if seed%3 == 0 && rnd.IntN(10) == 0 {
				out.WriteString(s.Flush())
			}
		}
		out.WriteString(s.Flush())
		for _, v := range secrets {
			if strings.Contains(out.String(), v) {
				t.Fatalf("seed %d: %q became %q", seed, text.String(), out.String())
			}
		}
		var got strings.Builder
		for i, part := range strings.Split(out.String(), "§") {
			if i%2 == 1 {
				got.WriteString("§" + part + "§")
			}
		}
		if got.String() != rest.String() {
			t.Fatalf("seed %d: %q became %q", seed, text.String(), out.String())
		}
	}
}

func TestASecretThatIsFlushedInTheMiddleIsNeverWhole(t *testing.T) {
	t.Parallel()
	r := newRedactor(t, plain)
	for name, secret := range map[string]string{"value": plain, "key": "sk-ant-api03-AbCdEf0123456789_-AbCdEf0123456789", "pem": samples["pem"][4 : len(samples["pem"])-4]} {
		for at := 1; at < len(secret); at++ {
			s := r.Stream()
			first := s.Text("x "+secret[:at]) + s.Flush()
			out := first + s.Text(secret[at:]+" y") + s.Flush()
			if strings.Contains(out, secret) || !strings.HasSuffix(out, redact.Mark+" y") {
				t.Errorf("%s cut at %d: %q", name, at, out)
			}
		}
	}
}

func TestAValueMayBecomeKnownLater(t *testing.T) {
	t.Parallel()
	r := newRedactor(t)
	s := r.Stream()
	out := s.Text(plain + " ")
	if err := r.Add(plain); err != nil {
		t.Fatal(err)
	}
	if err := r.Add("short"); err == nil {
		t.Error("five bytes")
	}
	if out += s.Text(plain + " "); out != plain+" "+redact.Mark+" " {
		t.Errorf("%q", out)
	}
	if err := r.Add(digit); err != nil {
		t.Fatal(err)
	}
	if got := r.String(plain + digit); strings.Contains(got, plain) || strings.Contains(got, digit) {
		t.Errorf("%q", got)
	}
}

func TestKnownValuesOnly(t *testing.T) {
	t.Parallel()
	r := newRedactor(t, plain)
	key := "sk-ant-api03-AbCdEf0123456789_-AbCdEf0123456789"
	if got := r.Known("my " + key + " and " + plain + "."); got != "my "+key+" and "+redact.Mark+"." {
		t.Errorf("%q", got)
	}
}

// TestJSONIsReadAsItIsMeant: other encoders have other escapes.
func TestJSONIsReadAsItIsMeant(t *testing.T) {
	t.Parallel()
	r := newRedactor(t, "abc/def/ghi+jkl", odd)
	for _, text := range []string{`{"k":"abc\/def\/ghi+jkl"}`, `["\u0061bc/def/ghi\u002Bjkl"]`, `{"\u0061bc\/def/ghi+jkl":1}`} {
		out := r.JSON([]byte(text))
		if !strings.Contains(string(out), redact.Mark) || !json.Valid(out) {
			t.Errorf("%s became %s", text, out)
		}
	}
	if text := `{"a":"x\/y","b":"\u00e4\ud83d\ude00","n":1.50}`; string(r.JSON([]byte(text))) != text {
		t.Errorf("%s", r.JSON([]byte(text)))
	}
	for _, html := range []bool{true, false} { // JSON in JSON in JSON
		text := odd
		for range 3 {
			var b strings.Builder
			enc := json.NewEncoder(&b)
			enc.SetEscapeHTML(html)
			if err := enc.Encode(text); err != nil {
				t.Fatal(err)
			}
			text = strings.TrimSpace(b.String())
			if out := r.String(text); !strings.Contains(out, redact.Mark) {
				t.Errorf("html %t: %s became %s", html, text, out)
			}
		}
	}
}

func BenchmarkLive(b *testing.B) {
	s := newRedactor(b, "hk_0123456789abcdefghijklmnopqrstuvwxyz").Stream()
	words := strings.SplitAfter("The engine reads the file, edits the second line and runs the tests again; all of them pass. ", " ")
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s.Text(words[i%len(words)])
	}
}
