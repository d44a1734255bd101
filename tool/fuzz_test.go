package tool

import (
	"net/url"
	"strings"
	"testing"
)

// FuzzEdit: an edit replaces exactly one place, or says why it does not.
func FuzzEdit(f *testing.F) {
	f.Add("a\nb\n", "a", "c", false)
	f.Add("a\r\nb\r\n", "a\nb", "x\ny", false)
	f.Add("aaa", "aa", "", false)
	f.Add("aaa", "a", "aa", true)
	f.Fuzz(func(t *testing.T, text, old, new string, all bool) {
		e := Edit{old, new, all}
		got, places, err := e.replace(text)
		if err != nil {
			if got != "" || places != 0 || err.Error() == "" {
				t.Fatalf("%q, %d places with %v", got, places, err)
			}
			return
		}
		if places < 1 || !all && places != 1 {
			t.Fatalf("%d places", places)
		}
		crlf := isCRLF(text)
		if want := strings.Replace(text, old, new, places); got != want && !crlf {
			t.Fatalf("got %q, want %q", got, want)
		}
		if crlf && isCRLF(old) == strings.Contains(old, "\n") && !strings.ContainsAny(new, "\r\n") && !strings.ContainsAny(old, "\r\n") && !isCRLF(got) {
			t.Fatalf("%q has lost its line ends", got)
		}
		difference(text, got)
		_, _, err = replaceAll(text, []Edit{e, {Old: "\x00none", New: "x"}})
		if err == nil && !strings.Contains(got, "\x00none") {
			t.Fatal("half of the edits were made")
		}
	})
}

// FuzzPatch: a diff is applied as a whole, or nothing comes of it.
func FuzzPatch(f *testing.F) {
	f.Add("a\nb\n", "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n")
	f.Add("", "@@ -0,0 +1 @@\n+a\n\\ No newline at end of file\n")
	f.Add("a\r\n", "@@ @@\n-a\n@@ -9 +9 @@\n+x\n")
	f.Fuzz(func(t *testing.T, text, patch string) {
		d, err := parseDiff(patch)
		if err != nil {
			return
		}
		got, err := d.apply(text)
		if err != nil {
			if got != "" {
				t.Fatalf("%q with %v", got, err)
			}
			return
		}
		was, is := strings.Count(text, "\n"), strings.Count(got, "\n")
		for _, h := range d.hunks {
			was += len(h.new) - len(h.old)
		}
		if d := is - was; d < -1 || d > 1 { // the last line may lose or get its end
			t.Fatalf("%q became %q: %d lines, want %d", text, got, is, was)
		}
	})
}

func FuzzReadable(f *testing.F) {
	f.Add("<p>a<b>c</p><pre>x")
	f.Add("<svg><svg></svg><a href=x><li></pre></a>")
	f.Fuzz(func(_ *testing.T, page string) {
		readable(page, &url.URL{Scheme: "https", Host: "x"})
	})
}
