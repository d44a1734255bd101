package postgres_test

import (
	"errors"
	"strings"
	"testing"

	"harness"
	"harness/store/postgres/postgrestest"
)

// TestDamageIsFoundWithItsPlace changes what is in the tables behind the store's
// back.
func TestDamageIsFoundWithItsPlace(t *testing.T) {
	t.Parallel()
	server := postgrestest.Start(t)
	empty := &schemas{server: server}
	const flipped = "set_byte(%, 20, 255 - get_byte(%, 20))"
	flip := func(column string) string { return column + " = " + strings.ReplaceAll(flipped, "%", column) }
	for name, c := range map[string]struct {
		sql, place string
		list       bool // only a list finds it
	}{
		"a bit of a commit":            {"UPDATE commits SET " + flip("data") + " WHERE seq = 4", "events 4 to 6", false},
		"a commit that is missing":     {"DELETE FROM commits WHERE seq = 4", "event 4: missing", false},
		"a commit in another place":    {"UPDATE commits SET seq = 5 WHERE seq = 4", "event 4: missing", false},
		"a commit that claims more":    {"UPDATE commits SET last_seq = 7 WHERE seq = 4", "events 4 to 7", false},
		"a head that is short":         {"UPDATE sessions SET head = 3 WHERE id = 'a'", "row of session a", false},
		"a head that is long":          {"UPDATE sessions SET head = 20 WHERE id = 'a'", "row of session a", false},
		"a bit of a summary":           {"UPDATE sessions SET " + flip("summary") + " WHERE id = 'a'", "row of session a", true},
		"a branch of somebody else":    {"UPDATE sessions SET origin = (SELECT n FROM sessions WHERE id = 'c') WHERE id = 'b'", "row of session b", false},
		"a branch from somewhere else": {"UPDATE sessions SET origin_seq = 3 WHERE id = 'b'", "row of session b", false},
		"a branch without a parent":    {"UPDATE sessions SET origin = NULL WHERE id = 'b'", "row of session b", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := empty.take(t)
			st := open(t, url)
			branch := commit("b", 5, 2)
			branch.From = &harness.Branch{Session: "a", Seq: 5}
			mustAppend(t, st, commit("a", 0, 3), commit("a", 3, 3), commit("a", 6, 3), commit("c", 0, 9), branch)
			server.Exec(t, url, c.sql)
			_, err := read(t, st, "b")
			if c.list {
				for _, err = range st.List(t.Context(), harness.Filter{}) {
					if err != nil {
						break
					}
				}
			}
			if !errors.Is(err, harness.ErrCorrupt) || !strings.Contains(err.Error(), c.place) {
				t.Fatalf("got %v, want corrupt data at %q", err, c.place)
			}
			if n, err := read(t, st, "c"); err != nil || n != 9 {
				t.Fatalf("another session: %d events, %v", n, err)
			}
		})
	}
}

func TestADamagedSnapshotCountsAsLost(t *testing.T) {
	t.Parallel()
	server := postgrestest.Start(t)
	url := server.URL(t)
	st := open(t, url)
	mustAppend(t, st, commit("a", 0, 9))
	for seq := harness.Seq(2); seq <= 6; seq += 2 {
		if err := st.SaveSnapshot(t.Context(), harness.Snapshot{Session: "a", Seq: seq, State: []byte("state"), First: int(seq/2 - 1), Sealed: [][]byte{[]byte("sealed")}}); err != nil {
			t.Fatal(err)
		}
	}
	server.Exec(t, url, "UPDATE snapshots SET state = 'stale' WHERE seq > 2")
	if s, err := st.LoadSnapshot(t.Context(), "a", 0); err != nil || s.Seq != 2 {
		t.Fatalf("got the snapshot at %d, %v", s.Seq, err)
	}
	server.Exec(t, url, "UPDATE messages SET data = 'sealed?' WHERE idx = 1")
	n := 0
	for _, err := range st.Messages(t.Context(), "a", 0, 3) {
		if err == nil {
			n++
			continue
		}
		if !errors.Is(err, harness.ErrCorrupt) || !strings.Contains(err.Error(), "message 1 of a") || n > 1 {
			t.Fatalf("after %d messages: %v", n, err)
		}
		return
	}
	t.Fatalf("%d messages, one of them damaged", n)
}
