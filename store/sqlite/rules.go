package sqlite

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"iter"

	"harness"
	"harness/internal/chunk"
)

// makeRules makes the table of rules in a database of an earlier build.
func makeRules(c *conn) error {
	_, have, err := c.number("SELECT 1 FROM sqlite_schema WHERE name = 'rules_directory'")
	if err != nil || have {
		return err
	}
	return c.script("BEGIN IMMEDIATE; " + rulesSchema + "COMMIT")
}

// keepRules adds a commit's rules to its transaction. One that is there already
// changes nothing.
func (w *writer) keepRules(rules []harness.Rule) error {
	for _, r := range rules {
		data, err := json.Marshal(r)
		if err != nil {
			return err
		}
		if _, err := w.exec("INSERT INTO rules(id, directory, crc, data) VALUES(?, ?, ?, ?) ON CONFLICT(id) DO NOTHING",
			string(r.ID), r.Directory, chunk.Checksum(data), data); err != nil {
			return err
		}
	}
	return nil
}

// KeepRules implements [harness.RuleKeeper].
func (s *Store) KeepRules(ctx context.Context, rules []harness.Rule) error {
	err := harness.CheckRules(rules)
	if err == nil {
		err = s.do(ctx, 0, func(w *writer) error { return w.keepRules(rules) })
	}
	if err != nil {
		return fmt.Errorf("keep rules: %w", err)
	}
	return nil
}

// Rules implements [harness.Rulebook]. It reads in pages: a rule that is revoked
// meanwhile may be missing.
func (s *Store) Rules(ctx context.Context, directory string) iter.Seq2[harness.Rule, error] {
	return func(yield func(harness.Rule, error) bool) {
		for after := int64(0); ; {
			page, last, err := s.rules(ctx, directory, after)
			for _, r := range page {
				if !yield(r, nil) {
					return
				}
			}
			switch {
			case err != nil:
				yield(harness.Rule{}, fmt.Errorf("rules of %q: %w", directory, err))
				return
			case len(page) == 0:
				return
			}
			after = last
		}
	}
}

// rules is a page of rules behind the one with a number; last is the number of
// its last one.
func (s *Store) rules(ctx context.Context, directory string, after int64) (page []harness.Rule, last int64, err error) {
	query, args := "SELECT n, id, directory, crc, data FROM rules WHERE n > ? ORDER BY n LIMIT ?", []driver.Value{after, int64(pageEvents)}
	if directory != "" {
		query, args = "SELECT n, id, directory, crc, data FROM rules WHERE directory = ? AND n > ? ORDER BY n LIMIT ?", append([]driver.Value{directory}, args...)
	}
	err = s.read(ctx, func(c *conn) error {
		_, have, err := c.number("SELECT 1 FROM sqlite_schema WHERE name = 'rules'")
		if err != nil || !have { // looking at a database of an earlier build
			return err
		}
		var broken error
		if err := c.query(func(v []driver.Value) bool {
			var r harness.Rule
			data := bytesOf(v[4])
			if json.Unmarshal(data, &r) != nil || chunk.Checksum(data) != whole(v[3]) || string(r.ID) != text(v[1]) || r.Directory != text(v[2]) {
				broken = fmt.Errorf("rule %d: wrong checksum: %w", whole(v[0]), harness.ErrCorrupt)
				return false
			}
			page, last = append(page, r), whole(v[0])
			return true
		}, query, args...); err != nil {
			return err
		}
		return broken
	})
	return page, last, err
}

// RevokeRule implements [harness.Rulebook].
func (s *Store) RevokeRule(ctx context.Context, id harness.RuleID) error {
	err := s.do(ctx, 0, func(w *writer) error {
		n, err := w.exec("DELETE FROM rules WHERE id = ?", string(id))
		if err == nil && n == 0 {
			err = harness.ErrNotFound
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("revoke %s: %w", id, err)
	}
	return nil
}
