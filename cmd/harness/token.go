package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"harness"
	"harness/gateway"
)

// token makes, lists and ends the credentials of clients.
func token(ctx context.Context, p *program, args []string) error {
	return p.choose(ctx, "token", tokenHelp, verbs{"add": addToken, "ls": listTokens, "rm": removeTokens}, args)
}

const tokenHelp = `Tokens let clients in. The first one, in the data directory's file token, is the
owner's and may do everything; others have a name, a user and a role:

  viewer    looks at the user's sessions
  operator  makes them and speaks to them
  approver  decides what their tools may do
  admin     does all of that for everybody

A scope narrows a token below its role, for a bot, a dashboard or a scraper: to
some verbs, some sessions, the sessions of some directories, or all of these.

  read      look                        submit   make sessions, speak to them
  approve   decide about tool calls     manage   settings, rewinding, removing
  inspect   the server's metrics

Usage:
  harness token add [flags] NAME   make one and print it, this once
  harness token ls  [flags]        list them
  harness token rm  [flags] NAME…  end them; what is open with them is closed

They work beside a running server, which notices within a second. With the
--store that several nodes share, tokens are those of all of them.
` + "`harness token VERB --help` tells more.\n"

// dataDirectory is the flag of commands that need no store.
func (f *flags) dataDirectory() *string {
	return f.String("data", dataHome(f.p.getenv), "`DIR` of the server's data")
}

func addToken(ctx context.Context, p *program, args []string) error {
	f := p.flags("token add", "[flags] NAME", "Make a token and print it. It is not kept anywhere: what is stored cannot be used.\nThe verbs of a scope are "+words(gateway.ScopeVerbs())+".",
		"harness token add --user ada --role operator laptop", "harness token add --role admin --for 24h ci > ci.token",
		"harness token add --user ada --role approver --scope read,approve pager", "harness token add --user ada --scope read,submit,dir:/srv/site bot",
		"harness token add --role admin --scope inspect prometheus")
	user := f.String("user", "", "`USER` whose sessions are the token's; only an admin needs none")
	role := f.String("role", string(harness.Operator), "`ROLE` of the token: "+words(harness.CallerRoles()))
	scope := f.String("scope", "", "what of its role it has, `PART` with commas: verbs, session:ID, dir:PATH")
	life := f.Duration("for", 0, "how long it is valid; 0 is until it is removed")
	w := f.where()
	if err := f.parse(args, 1, 1); err != nil {
		return err
	}
	t := gateway.Token{Name: f.args[0], User: *user, Role: harness.CallerRole(*role), Scope: scoped(parts(*scope))}
	if t.User == "" && t.Role != harness.Admin {
		return f.mistake("whose sessions? --user USER says it; only --role admin needs none")
	}
	if *life < 0 {
		return f.mistake("--for is negative")
	}
	if *life > 0 {
		t.Expires = new(time.Now().Add(*life).UTC().Truncate(time.Second))
	}
	r, err := w.ring(ctx, false)
	if err != nil {
		return err
	}
	defer r.close()
	secret, err := r.add(ctx, t)
	if err != nil {
		return err
	}
	fmt.Fprintln(p.stdout, secret)
	return nil
}

// maxScopeShown bounds a scope in a list: a line is read by people.
const maxScopeShown = 200

// scoped are the parts of a scope with directories as sessions have them: whole,
// and also as they are without symbolic links.
func scoped(parts []string) (all []string) {
	for _, part := range parts {
		path, ok := strings.CutPrefix(part, "dir:")
		if !ok {
			all = append(all, part)
			continue
		}
		abs, err := filepath.Abs(path)
		if err != nil {
			abs = path // is refused for what it is
		}
		all = append(all, "dir:"+abs)
		if real, err := filepath.EvalSymlinks(abs); err == nil && real != abs {
			all = append(all, "dir:"+real)
		}
	}
	return all
}

func listTokens(ctx context.Context, p *program, args []string) error {
	f := p.flags("token ls", "[flags]", "List the tokens of a data directory, without what they are.", "harness token ls", "harness token ls --json | jq -r .name")
	asJSON := f.Bool("json", false, "one JSON object a line")
	w := f.where()
	if err := f.parse(args, 0, 0); err != nil {
		return err
	}
	r, err := w.ring(ctx, true)
	if err != nil {
		return err
	}
	defer r.close()
	all, owners, err := r.all(ctx)
	if err != nil {
		return err
	}
	if *asJSON {
		enc := json.NewEncoder(p.stdout)
		for _, t := range all {
			t.SHA256 = ""
			if err := enc.Encode(t); err != nil {
				return err
			}
		}
		return nil
	}
	table := tabwriter.NewWriter(p.stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(table, "NAME\tUSER\tROLE\tSCOPE\tMADE\tVALID UNTIL")
	if path := filepath.Join(r.data, "token"); r.depot == nil && there(path) { // the first server makes it
		fmt.Fprintf(table, "owner\t\t%s\t\tin %s\tthe file is removed\n", harness.Admin, path)
	}
	for _, o := range owners {
		fmt.Fprintf(table, "%s\t\t%s\t\t%s\tit is removed\n", clean(o.Name(), maxScopeShown), harness.Admin, o.Created.Local().Format(time.DateTime))
	}
	for _, t := range all {
		until := "it is removed"
		if t.Expires != nil {
			until = t.Expires.Local().Format(time.DateTime)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", t.Name, t.User, t.Role, clean(strings.Join(t.Scope, ","), maxScopeShown), t.Created.Local().Format(time.DateTime), until)
	}
	return table.Flush()
}

func there(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func removeTokens(ctx context.Context, p *program, args []string) error {
	f := p.flags("token rm", "[flags] NAME…", "End tokens. Connections that were opened with them are closed.", "harness token rm laptop")
	w := f.where()
	if err := f.parse(args, 1, -1); err != nil {
		return err
	}
	r, err := w.ring(ctx, false)
	if err != nil {
		return err
	}
	defer r.close()
	for _, name := range f.args {
		if err := r.remove(ctx, name); err != nil {
			return err
		}
		fmt.Fprintln(p.stdout, clean(name, harness.MaxID), "removed")
	}
	return nil
}

// login prints a URL that logs a browser in, once.
func login(ctx context.Context, p *program, args []string) error {
	f := p.flags("login", "[flags]", "Print a URL that logs a browser in to a running server. It is good once, for a minute.",
		"harness login", "harness login --connect https://agents.example.com")
	connect := f.String("connect", "", "`URL` of the server (default the one of your data directory)")
	if err := f.parse(args, 0, 0); err != nil {
		return err
	}
	r, there := p.nearby()
	if *connect != "" {
		var err error
		if r, err = p.remote(*connect); err != nil {
			return err
		}
		there = true
	}
	if !there {
		return harness.ErrNotFound.Saying("no server of " + cmp.Or(p.getenv("HARNESS_DATA"), dataHome(p.getenv)) + " runs; start one with harness serve")
	}
	var answer struct {
		Code string `json:"code"`
	}
	if err := r.post(ctx, "/login/code", &answer); err != nil {
		return fmt.Errorf("%s: %w", r.url, err)
	}
	fmt.Fprintln(p.stdout, r.url+"/login#code="+answer.Code)
	return nil
}
