package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sealed is an archive of lines, as somebody can write one who knows the form.
func sealed(lines ...string) string {
	text := strings.Join(lines, "\n") + "\n"
	sum := sha256.Sum256([]byte(text))
	return text + fmt.Sprintf(`{"archive":1,"events":%d,"sha256":%q}`, len(lines), hex.EncodeToString(sum[:])) + "\n"
}

// importOf is the request that takes an archive in.
func importOf(as, archive string) ask {
	return ask{as: as, method: "POST", path: "/sessions/import", body: archive, header: http.Header{"Content-Type": {"application/jsonl"}}}
}

// lineOf is an event's envelope around a payload.
func lineOf(session string, seq int, kind, payload string) string {
	return fmt.Sprintf(`{"seq":%d,"id":"%s.%d","ts":"2026-01-02T03:04:05.678Z","session_id":%q,"type":%q,"tier":"default","payload":%s}`, seq, session, seq, session, kind, payload)
}

// TestAnImportedLineHasOneMeaning: an envelope or payload that two readers could
// understand differently is refused before it is decoded, with its seal right;
// what an engine or a tool has said inside comes back byte by byte.
func TestAnImportedLineHasOneMeaning(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	first := lineOf("ses_odd", 1, "session_state", `{"status":"idle","user_id":"ada"}`)
	h.unchanged(t, func() {
		for name, line := range map[string]string{
			"a key twice":              strings.Replace(first, `{"seq"`, `{"session_id":"ses_other","seq"`, 1),
			"keys that differ in case": strings.Replace(first, `{"seq"`, `{"SESSION_ID":"ses_other","seq"`, 1),
			"an escaped key":           strings.Replace(first, `{"seq"`, `{"session\u005fid":"ses_other","seq"`, 1),
			"two payloads":             strings.Replace(first, `,"payload"`, `,"payload":{},"payload"`, 1),
			"two owners":               lineOf("ses_odd", 1, "session_state", `{"status":"idle","user_id":"ada","user_id":"bob"}`),
			"an owner in capitals":     lineOf("ses_odd", 1, "session_state", `{"status":"idle","user_id":"ada","USER_ID":"bob"}`),
			"not UTF-8":                lineOf("ses_odd", 1, "session_state", "{\"status\":\"idle\",\"x\":{\"y\":[\"\xff\"]}}"),
			"513 keys":                 lineOf("ses_odd", 1, "session_state", `{`+keyed(513)+`}`),
			"something behind it":      first + ` {}`,
			"not in balance":           lineOf("ses_odd", 1, "session_state", `{"x":{"y":1]}`),
		} {
			got := h.denied(t, importOf("owner", sealed(line)))
			if got.status != 400 || !strings.Contains(got.body, `"corrupt"`) || !strings.Contains(got.body, "line 1") {
				t.Errorf("%s: %d %s", name, got.status, got.body)
			}
		}
	})
	odd := `{"tool_call_id":"c1","tool":"bash","input":{"a":1,"a":2,"A":3,"n":1e999,"deep":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `},"x":"\u0000\ud800"}`
	archive := sealed(first, lineOf("ses_odd", 2, "tool_call", odd))
	h.harmless(t, "what an engine has said", func() {
		if got := h.send(t, importOf("owner", archive)); got.status != 201 {
			t.Fatalf("%d %s", got.status, got.body)
		}
	})
	if got := h.send(t, ask{as: "owner", method: "GET", path: "/sessions/ses_odd/export"}); got.body != archive {
		t.Errorf("it came back as\n%s\nwant\n%s", got.body, archive)
	}
	if got := h.attack(t, importOf("ada", archive)); got.status != 403 {
		t.Errorf("as ada: %d", got.status)
	}
}

// TestAnImportWithASecretIsRefused, however that is written: it would have to be
// kept as it is.
func TestAnImportWithASecretIsRefused(t *testing.T) {
	t.Parallel()
	const secret = "wombat-horse/staple&42"
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte(secret), 0o600); err != nil {
		t.Fatal(err)
	}
	h := newHouse(t, "--secret", "file:"+file)
	say := func(text string) string {
		return sealed(lineOf("ses_leak", 1, "session_state", `{"status":"idle","user_id":"ada"}`), lineOf("ses_leak", 2, "token", `{"item_id":"itm_a","text":`+text+`}`))
	}
	h.unchanged(t, func() {
		for name, archive := range map[string]string{
			"as it is":         say(`"x ` + secret + ` y"`),
			"escaped":          say(`"wombat\u002dhorse\/staple\u002642"`),
			"as Go escapes it": say(`"wombat-horse/staple\u002642"`),
			"in base64":        say(`"` + base64.StdEncoding.EncodeToString([]byte("a"+secret)) + `"`),
			"in a URL":         say(`"?q=` + url.QueryEscape(secret) + `"`),
			"the owner's":      say(`"` + h.tokens["owner"] + `"`),
			"as a key":         sealed(lineOf("ses_leak", 1, "session_state", `{"status":"idle","x":{"`+secret+`":1}}`)),
		} {
			got := h.denied(t, importOf("owner", archive))
			if got.status != 422 || !strings.Contains(got.body, `"holds_secret"`) || strings.Contains(got.body, "wombat") {
				t.Errorf("%s: %d %s", name, got.status, got.body)
			}
		}
	})
	if got := h.send(t, importOf("owner", say(`"wombat"`))); got.status != 201 {
		t.Errorf("without it: %d %s", got.status, got.body)
	}
	for _, name := range []string{"harness.db", "harness.db-wal", "access.log", "audit.log"} {
		if b, err := os.ReadFile(filepath.Join(h.dir, name)); err == nil && bytes.Contains(b, []byte("horse")) {
			t.Errorf("%s has the secret", name)
		}
	}
}

// TestAHostileImportIsRefused is what there is of attack 51: nothing here unpacks
// archives (TestNothingHereUnpacksArchives), but sessions and the transcripts of
// other programs are taken in, and somebody else may have written them. One that
// is too large, too deep, of too many, or that names what is no name of ours is
// refused by that; no file is made but the server's own.
func TestAHostileImportIsRefused(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	first := func(id string) string { return lineOf(id, 1, "session_state", `{"status":"idle","user_id":"ada"}`) }
	var generations []string
	for i := range 257 {
		generations = append(generations, lineOf(fmt.Sprintf("ses_g%d", i), i+1, "session_state", `{"status":"idle"}`))
	}
	spoke := func(id, content string) string {
		return fmt.Sprintf(`{"type":"user","uuid":"1","parentUuid":null,"sessionId":%q,"version":"2","cwd":"/p","timestamp":"2026-01-02T03:04:05.678Z","message":{"role":"user","content":%s}}`+"\n", id, content)
	}
	meta := func(id string) string {
		return fmt.Sprintf(`{"type":"session_meta","timestamp":"2026-01-02T03:04:05.678Z","payload":{"id":%q,"cwd":"/p"}}`+"\n", id)
	}
	around := filepath.Dir(h.dir)
	before := tree(t, around)
	h.unchanged(t, func() {
		for name, c := range map[string]struct {
			query, body string
			status      int
		}{
			"a path for an id":             {"", sealed(first("../../x")), 400},
			"an absolute path for an id":   {"", sealed(first("/etc/x")), 400},
			"a link's way out":             {"", sealed(first("ses_a/../../x")), 400},
			"NUL in an id":                 {"", sealed(first("ses_a\\u0000")), 400},
			"an id of 129 characters":      {"", sealed(first("ses_" + strings.Repeat("a", 125))), 400},
			"an id twice":                  {"", sealed(first("ses_a"), lineOf("ses_b", 2, "token", `{"text":"x"}`), lineOf("ses_a", 3, "token", `{"text":"x"}`)), 400},
			"257 generations":              {"", sealed(generations...), 413},
			"a number twice":               {"", sealed(first("ses_a"), first("ses_a")), 400},
			"a number of the far end":      {"", sealed(first("ses_a"), lineOf("ses_a", 1<<53, "token", `{"text":"x"}`)), 400},
			"no seal":                      {"", first("ses_a") + "\n", 400},
			"a seal of another":            {"", strings.Replace(sealed(first("ses_a")), `"user_id":"ada"`, `"user_id":"bob"`, 1), 400},
			"more behind the seal":         {"", sealed(first("ses_a")) + first("ses_a") + "\n", 400},
			"a zip":                        {"", "PK\x03\x04\x14\x00../../evil.sh", 400},
			"a tar that is compressed":     {"", "\x1f\x8b\x08\x00\x00\x00\x00\x00", 400},
			"too large":                    {"", strings.Repeat(first("ses_a")+"\n", 64<<20/150), 413},
			"a transcript too large":       {"?from=claude", strings.Repeat(spoke("s1", `"x"`), 64<<20/150), 413},
			"a transcript with a path":     {"?from=claude", spoke("../../x", `"x"`), 400},
			"a transcript's path to where": {"?from=codex", meta("..%2fx"), 400},
			"a transcript of arrays":       {"?from=claude", strings.Repeat("[", 1<<20), 400},
			"an array in a transcript":     {"?from=claude", spoke("s1", strings.Repeat("[", 11_000)+strings.Repeat("]", 11_000)), 400},
			"a transcript of nobody":       {"?from=opencode", spoke("s1", `"x"`), 400},
			"a directory for an archive":   {"?directory=/etc", sealed(first("ses_a")), 400},
		} {
			q := importOf("owner", c.body)
			q.path += c.query
			q.header = with(q.header, "Expect", "100-continue")
			if got := h.denied(t, q); got.status != c.status {
				t.Errorf("%s: %d %.300s, want %d", name, got.status, got.body, c.status)
			}
		}
	})
	if after := tree(t, around); after != before {
		t.Errorf("files were\n%s and are\n%s", before, after)
	}
}
