package jsonl

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"harness"
)

// ruleLine is a line of rules.jsonl: a rule that was made, or one that was
// revoked.
type ruleLine struct {
	Rule    *harness.Rule  `json:"rule,omitempty"`
	Revoked harness.RuleID `json:"revoked,omitempty"`
}

// rulebook is what rules.jsonl says. The store reads it once, at open; the
// writer appends to it.
type rulebook struct {
	rules  []harness.Rule // that stand, oldest first
	size   int64          // of the whole lines
	torn   bool           // there is more behind them, that a crash left
	damage error          // why the file cannot be read to its end; then it is not written either
}

// readRules reads rules.jsonl; one that is missing is empty. It changes nothing.
func readRules(dir string) (rulebook, error) {
	var b rulebook
	data, err := os.ReadFile(filepath.Join(dir, rulesFile))
	if errors.Is(err, fs.ErrNotExist) {
		return b, nil
	}
	if err != nil {
		return b, fmt.Errorf("%w: %w", err, harness.ErrStorage)
	}
	for rest := data; len(rest) > 0; rest = data[b.size:] {
		n := bytes.IndexByte(rest, '\n')
		if n < 0 {
			b.torn = true
			break
		}
		var l ruleLine
		err := json.Unmarshal(rest[:n], &l)
		if err == nil && l.Revoked == "" {
			err = errors.New("neither a rule nor the end of one")
			if l.Rule != nil {
				err = l.Rule.Check()
			}
		}
		if err != nil && bytes.IndexByte(rest[:n], 0) >= 0 && bytes.IndexByte(rest[n+1:], '{') < 0 {
			b.torn = true // bytes that never arrived
			break
		}
		if err != nil {
			b.damage = fmt.Errorf("%s, byte %d: %w: %w", rulesFile, b.size, err, harness.ErrCorrupt)
			break
		}
		b.take(l)
		b.size += int64(n) + 1
	}
	return b, nil
}

// take applies a line.
func (b *rulebook) take(l ruleLine) {
	if l.Rule != nil && b.find(l.Rule.ID) < 0 {
		b.rules = append(b.rules, *l.Rule)
	}
	if at := b.find(l.Revoked); at >= 0 {
		b.rules = slices.Delete(slices.Clone(b.rules), at, at+1) // readers may hold the old
	}
}

func (b *rulebook) find(id harness.RuleID) int {
	return slices.IndexFunc(b.rules, func(r harness.Rule) bool { return r.ID == id })
}

// openRules reads the rules and cuts what a crash left half written. Damage is
// kept for whoever asks for rules: threads work without them.
func (s *Store) openRules() error {
	b, err := readRules(s.dir)
	if err == nil && b.torn {
		if err = cut(filepath.Join(s.dir, rulesFile), b.size); err != nil {
			err = fmt.Errorf("cut %s: %w: %w", rulesFile, err, harness.ErrStorage)
		}
	}
	s.rules = b
	return err
}

// Rules implements [harness.Rulebook]. Damage is ErrCorrupt with its byte, after
// the rules before it.
func (s *Store) Rules(ctx context.Context, directory string) iter.Seq2[harness.Rule, error] {
	return func(yield func(harness.Rule, error) bool) {
		var b rulebook
		err := s.use(ctx, func() (err error) {
			if !s.owner {
				b, err = readRules(s.dir)
				return err
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			b = s.rules
			return nil
		})
		for _, r := range b.rules {
			if (directory == "" || r.Directory == directory) && !yield(r, nil) {
				return
			}
		}
		if err = errors.Join(err, b.damage); err != nil {
			yield(harness.Rule{}, fmt.Errorf("rules of %q: %w", directory, err))
		}
	}
}

// RevokeRule implements [harness.Rulebook].
func (s *Store) RevokeRule(ctx context.Context, id harness.RuleID) error {
	err := s.do(ctx, len(id)+32, func(w *writer, t *task) {
		w.commit()
		if s.rules.damage == nil && s.rules.find(id) < 0 {
			t.Answer(harness.ErrNotFound)
		} else {
			t.Answer(w.writeRules(ruleLine{Revoked: id}))
		}
	})
	if err != nil {
		return fmt.Errorf("revoke %s: %w", id, err)
	}
	return nil
}

// KeepRules implements [harness.RuleKeeper].
func (s *Store) KeepRules(ctx context.Context, rules []harness.Rule) error {
	err := harness.CheckRules(rules)
	if err == nil {
		err = s.do(ctx, len(rules)*256, func(w *writer, t *task) {
			w.commit()
			var lines []ruleLine
			for _, r := range rules {
				if s.rules.find(r.ID) < 0 {
					lines = append(lines, ruleLine{Rule: &r})
				}
			}
			if len(lines) == 0 && s.rules.damage == nil {
				t.Answer(nil)
				return
			}
			t.Answer(w.writeRules(lines...))
		})
	}
	if err != nil {
		return fmt.Errorf("keep rules: %w", err)
	}
	return nil
}

// keepRules makes the batch's rules durable, before any event that tells of
// them: after a crash in between a rule stands and nobody was told. What cannot
// be kept takes its commit with it.
func (w *writer) keepRules() {
	var lines []ruleLine
	var with []*change
	for _, ch := range w.queued {
		if ch.err != nil || len(ch.rules) == 0 {
			continue
		}
		with = append(with, ch)
		for _, r := range ch.rules {
			lines = append(lines, ruleLine{Rule: &r})
		}
	}
	if len(lines) == 0 {
		return
	}
	if err := w.writeRules(lines...); err != nil {
		for _, ch := range with {
			ch.err = err
		}
	}
}

// writeRules appends lines to rules.jsonl and flushes it. Only the writer
// changes s.rules, so it reads them without the lock.
func (w *writer) writeRules(lines ...ruleLine) error {
	b := w.s.rules
	if b.damage != nil {
		return b.damage
	}
	var data []byte
	for _, l := range lines {
		line, err := json.Marshal(l)
		if err != nil {
			return fmt.Errorf("rule: %w: %w", err, harness.ErrInvalid)
		}
		data = append(append(data, line...), '\n')
		b.take(l)
	}
	lost, err := w.extend(filepath.Join(w.s.dir, rulesFile), b.size, data)
	if err != nil {
		err = fmt.Errorf("write %s: %w: %w", rulesFile, err, harness.ErrStorage)
		if b = w.s.rules; lost {
			b.damage = fmt.Errorf("writing stopped after an error, open the store again: %w", err)
		}
	} else {
		b.size += int64(len(data))
	}
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	w.s.rules = b
	return err
}

// extend writes data at the end of a file that is seldom written, and flushes
// it. lost says that nobody knows what the file holds now: after a failed flush
// the kernel may have dropped the pages and would say yes the second time.
func (w *writer) extend(path string, at int64, data []byte) (lost bool, err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return false, err
	}
	defer f.Close() // what was flushed is durable
	if at == 0 {
		if err := syncDir(filepath.Dir(path)); err != nil {
			return false, err
		}
	}
	if err := w.write(f, data, at); err != nil {
		cut := f.Truncate(at)
		return cut != nil, errors.Join(err, cut)
	}
	if err := w.flush(f); err != nil {
		return true, errors.Join(err, f.Truncate(at))
	}
	return false, nil
}
