package postgres_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"harness"

	"github.com/jackc/pgx/v5"
)

// statement is what a build has sent to a server, with its values in it, and how
// the server called what it did.
type statement struct{ sql, tag string }

// transcript is a tracer that takes down what succeeds.
type transcript struct {
	mu         sync.Mutex // guards statements
	statements []statement
}

// started is a statement under way.
type started struct{}

func (r *transcript) TraceQueryStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	return context.WithValue(ctx, started{}, d)
}

func (r *transcript) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, d pgx.TraceQueryEndData) {
	q, _ := ctx.Value(started{}).(pgx.TraceQueryStartData)
	r.take(q.SQL, q.Args, d.CommandTag.String(), d.Err)
}

func (r *transcript) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}

func (r *transcript) TraceBatchQuery(_ context.Context, _ *pgx.Conn, d pgx.TraceBatchQueryData) {
	r.take(d.SQL, d.Args, d.CommandTag.String(), d.Err)
}

func (r *transcript) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// take leaves out what is about the connection, and hints.
func (r *transcript) take(sql string, args []any, tag string, err error) {
	if err != nil || tag == "" || strings.Contains(sql, "pg_notify") || strings.HasPrefix(sql, "LISTEN") || strings.Contains(sql, "pg_is_in_recovery") || strings.Contains(sql, "harness_schema") {
		return
	}
	for i := len(args); i > 0; i-- { // $12 before $1
		sql = strings.ReplaceAll(sql, fmt.Sprintf("$%d", i), literal(args[i-1]))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.statements = append(r.statements, statement{sql, tag})
}

// String is one statement after the other, each with its tag behind it.
func (r *transcript) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var b strings.Builder
	for _, s := range r.statements {
		fmt.Fprintf(&b, "%s\n%s%s\n", s.sql, tagged, s.tag)
	}
	return b.String()
}

// tagged begins a line that no statement has.
const tagged = ";-- "

// parseTranscript is String's inverse.
func parseTranscript(text string) (all []statement) {
	var sql strings.Builder
	for line := range strings.Lines(text) {
		tag, ok := strings.CutPrefix(line, tagged)
		if !ok {
			sql.WriteString(line)
			continue
		}
		all = append(all, statement{strings.TrimSpace(sql.String()), strings.TrimSpace(tag)})
		sql.Reset()
	}
	return all
}

// replay does again what a transcript says. What changes something must change
// as much as it did; what was read then depended on who else was there.
func replay(t testing.TB, c *pgx.Conn, statements []statement) {
	t.Helper()
	for _, s := range statements {
		tag, err := c.Exec(t.Context(), s.sql)
		if err != nil || tag.String() != s.tag && changing.MatchString(s.sql) {
			t.Fatalf("%s\nis %q, %v; it was %q", s.sql, tag, err, s.tag)
		}
	}
}

var changing = regexp.MustCompile(`INSERT INTO|DELETE FROM| SET `)

// literal is a value in a statement.
func literal(v any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case string:
		return "'" + strings.ReplaceAll(v, "'", "''") + "'"
	case harness.SessionID:
		return literal(string(v))
	case []byte:
		return `'\x` + hex.EncodeToString(v) + `'::bytea`
	case time.Duration:
		return fmt.Sprintf("'%d microseconds'", v.Microseconds())
	case []string:
		return array(v)
	case []int64:
		return array(v)
	case [][]byte:
		return array(v)
	case bool, int, int32, int64:
		return fmt.Sprint(v)
	}
	panic(fmt.Sprintf("a parameter of type %T", v))
}

func array[T any](values []T) string {
	texts := make([]string, 0, len(values))
	for _, v := range values {
		texts = append(texts, literal(v))
	}
	return "ARRAY[" + strings.Join(texts, ", ") + "]"
}
