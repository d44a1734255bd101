package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"text/tabwriter"
	"time"

	"harness"
)

// rules looks at what an approval answered with "always" has left behind, and
// takes it back.
func rules(ctx context.Context, p *program, args []string) error {
	return p.choose(ctx, "rules", rulesHelp, verbs{"ls": listRules, "rm": revokeRules}, args)
}

const rulesHelp = `An approval answered with "always" leaves a rule: such calls of the tool may run in
every session of the directory, without a question, until the rule is revoked.

Usage:
  harness rules ls [flags]        list them, oldest first
  harness rules rm [flags] RULE…  revoke them: such calls are asked about again

ls works beside whoever writes; rm needs it stopped, or --connect.
` + "`harness rules VERB --help` tells more.\n"

// ruleHome are the flags that say where rules are.
type ruleHome struct {
	cwd, store, data, connect *string
	home                      string // of a server's database, unless data says otherwise
	p                         *program
}

func (f *flags) ruleHome() ruleHome {
	return ruleHome{
		cwd:     f.String("cwd", ".", "`DIR` whose rules are meant; its .harness directory keeps them"),
		store:   f.String("store", "", "`STORE` that keeps them instead: jsonl:DIR, sqlite or sqlite:PATH"),
		data:    f.String("data", "", "`DIR` that holds a server's database, which keeps them instead"),
		connect: f.String("connect", "", "`URL` of a running server that keeps them instead"),
		home:    dataHome(f.p.getenv),
		p:       f.p,
	}
}

// rulebook is a place where rules are.
type rulebook interface {
	harness.Rulebook
	Close() error
}

// open finds the rules, and says which directory is meant. It makes no store
// only to find nothing in it: that is ErrNotFound.
func (h ruleHome) open(ctx context.Context, read bool) (rulebook, string, error) {
	dir, err := directory(*h.cwd)
	if err != nil {
		return nil, "", err
	}
	if *h.connect != "" {
		r, err := h.p.remote(*h.connect)
		if err != nil {
			return nil, "", err
		}
		conn, err := dialRPC(ctx, r)
		if err != nil {
			return nil, "", fmt.Errorf("--connect %s: %w", *h.connect, err)
		}
		return &servedRules{conn: conn, answers: json.NewDecoder(conn)}, dir, nil
	}
	w := where{data: new(cmp.Or(*h.data, h.home)), store: new(*h.store)}
	switch {
	case *h.store == "" && *h.data == "":
		*w.store = "jsonl:" + filepath.Join(dir, ".harness")
	case *h.store == "":
		*w.store = "sqlite"
	}
	st, err := w.open(ctx, true)
	if err == nil && !read {
		st.Close()
		st, err = w.open(ctx, false)
	}
	if err != nil {
		return nil, "", err
	}
	b, ok := st.(rulebook)
	if !ok {
		return nil, "", errors.Join(fmt.Errorf("--store %s keeps no rules: %w", *w.store, harness.ErrUnsupported), st.Close())
	}
	return b, dir, nil
}

func listRules(ctx context.Context, p *program, args []string) error {
	f := p.flags("rules ls", "[flags]", `List the rules that "always" has left in a directory, oldest first.`,
		"harness rules ls --cwd ~/project", "harness rules ls --connect http://127.0.0.1:7717 --all", "harness rules ls --json | jq -r .rule_id")
	all := f.Bool("all", false, "of every directory")
	asJSON := f.Bool("json", false, "one JSON object a line")
	home := f.ruleHome()
	if err := f.parse(args, 0, 0); err != nil {
		return err
	}
	n := 0
	table := tabwriter.NewWriter(p.stdout, 0, 4, 2, ' ', 0)
	b, dir, err := home.open(ctx, true)
	if err != nil && !errors.Is(err, harness.ErrNotFound) { // else nobody has made one yet
		return err
	}
	if b != nil {
		defer b.Close()
		if *all {
			dir = ""
		}
		enc := json.NewEncoder(p.stdout)
		for r, err := range b.Rules(ctx, dir) {
			if err != nil {
				return err
			}
			if n++; *asJSON {
				if err := enc.Encode(r); err != nil {
					return err
				}
				continue
			}
			if n == 1 {
				fmt.Fprintln(table, "RULE\tTOOL\tABOUT\tDIRECTORY\tSESSION\tMADE")
			}
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", clean(string(r.ID), harness.MaxID), clean(r.Tool, 40), clean(cmp.Or(r.Pattern, "every call"), 60), clean(r.Directory, 200),
				clean(string(r.Session), harness.MaxID), r.Created.Local().Format(time.DateTime))
		}
	}
	if n == 0 && !*asJSON {
		fmt.Fprintln(p.stderr, "no rules")
	}
	return table.Flush()
}

func revokeRules(ctx context.Context, p *program, args []string) error {
	f := p.flags("rules rm", "[flags] RULE…", "Revoke rules. From then on such calls are asked about again, in every session of the directory.",
		"harness rules rm rul_01…", "harness rules ls --json | jq -r .rule_id | xargs harness rules rm")
	home := f.ruleHome()
	if err := f.parse(args, 1, -1); err != nil {
		return err
	}
	for _, arg := range f.args {
		if err := harness.CheckID("rule", arg); err != nil {
			return fmt.Errorf("%q: %w", arg, err)
		}
	}
	b, _, err := home.open(ctx, false)
	if err != nil {
		return err
	}
	defer b.Close()
	for _, id := range f.args {
		switch err := b.RevokeRule(ctx, harness.RuleID(id)); {
		case errors.Is(err, harness.ErrNotFound):
			return fmt.Errorf("there is no rule %s", id)
		case err != nil:
			return err
		}
		fmt.Fprintln(p.stdout, id, "revoked")
	}
	return nil
}
