package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"harness"
	"harness/internal/chunk"

	"github.com/jackc/pgx/v5"
)

// Rules implements [harness.Rulebook]. It reads in pages: a rule that is made or
// revoked meanwhile may be missing.
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
			case len(page) < pageEvents:
				return
			}
			after = last
		}
	}
}

// rules is a page of rules behind the one with a number; last is the number of
// its last one.
func (s *Store) rules(ctx context.Context, directory string, after int64) (page []harness.Rule, last int64, err error) {
	sql, args := "SELECT n, id, directory, crc, data FROM rules WHERE n > $1 ORDER BY n LIMIT $2", []any{after, pageEvents}
	if directory != "" {
		sql, args = "SELECT n, id, directory, crc, data FROM rules WHERE n > $1 AND directory = $3 ORDER BY n LIMIT $2", append(args, word(directory))
	}
	err = s.query(ctx, func(ctx context.Context, q querier) error {
		rows, err := q.Query(ctx, sql, args...)
		if err != nil {
			return err
		}
		var id, of string
		var crc int64
		var data []byte
		_, err = pgx.ForEachRow(rows, []any{&last, &id, &of, &crc, &data}, func() error {
			var r harness.Rule
			if chunk.Checksum(data) != crc || json.Unmarshal(data, &r) != nil || string(r.ID) != id || word(r.Directory) != of {
				return fmt.Errorf("rule %d: wrong checksum: %w", last, harness.ErrCorrupt)
			}
			page = append(page, r)
			return nil
		})
		return err
	})
	return page, last, err
}

// KeepRules implements [harness.RuleKeeper].
func (s *Store) KeepRules(ctx context.Context, rules []harness.Rule) error {
	err := harness.CheckRules(rules)
	if err == nil {
		err = s.transact(ctx, func(ctx context.Context, tx pgx.Tx) error {
			b := &pgx.Batch{}
			for _, r := range rules {
				data, err := json.Marshal(r)
				if err != nil {
					return fmt.Errorf("rule %s: %w: %w", r.ID, err, harness.ErrInvalid)
				}
				b.Queue("INSERT INTO rules(id, directory, crc, data) VALUES($1, $2, $3, $4) ON CONFLICT (id) DO NOTHING", string(r.ID), word(r.Directory), chunk.Checksum(data), data)
			}
			return tx.SendBatch(ctx, b).Close()
		})
	}
	if err != nil {
		return fmt.Errorf("keep rules: %w", err)
	}
	s.announce(harness.AboutRules)
	return nil
}

// RevokeRule implements [harness.Rulebook].
func (s *Store) RevokeRule(ctx context.Context, id harness.RuleID) error {
	err := s.transact(ctx, func(ctx context.Context, tx pgx.Tx) error {
		done, err := tx.Exec(ctx, "DELETE FROM rules WHERE id = $1", word(string(id)))
		if err == nil && done.RowsAffected() == 0 {
			err = harness.ErrNotFound
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("revoke %s: %w", id, err)
	}
	s.announce(harness.AboutRules)
	return nil
}
