package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"harness"
	"harness/gateway"
	"harness/kernel"
	"harness/protocol/delta"
	"harness/protocol/rest"
	"harness/protocol/rpc"
)

// finding is something that a doctor has looked at.
type finding struct {
	grave  bool   // it lets somebody in, or keeps the owner out
	what   string // how it is
	advice string // what to do about it; empty: nothing
}

// doctor says what of a server is exposed, to whom, and what to change, and what
// its engines can do. Its exit code is 1 if something should be.
func doctor(ctx context.Context, p *program, args []string) error {
	f := p.flags("doctor", "[flags]", "Say what of a data directory and its server is exposed, to whom, and what to change, and what one\nmay have and send; and which engines are here, in which versions, and what each cannot do.\n"+
		"The exit code is 1 if something should be changed.",
		"harness doctor", "harness doctor --data /srv/harness")
	data := f.dataDirectory()
	if err := f.parse(args, 0, 0); err != nil {
		return err
	}
	all := append(lookAtFiles(*data), owner(*data))
	all = append(all, lookAtTokens(*data)...)
	all = append(all, lookAtServer(ctx, *data)...)
	all = append(all, lookAtEngines(ctx)...)
	grave := false
	for _, x := range all {
		mark := "ok  "
		if x.advice != "" {
			mark = "note"
		}
		if x.grave {
			grave, mark = true, "BAD "
		}
		fmt.Fprintf(p.stdout, "%s  %s\n", mark, x.what)
		if x.advice != "" {
			fmt.Fprintf(p.stdout, "      → %s\n", x.advice)
		}
	}
	if err := p.printLimits(); err != nil {
		return err
	}
	if grave {
		return exitCode(1)
	}
	return nil
}

// bounds are every limit that a client can meet, by who sets it.
var bounds = []struct {
	whose string
	all   func() []harness.Limit
}{
	{"who asks, and how often", gateway.Limits},
	{"sessions", kernel.Limits},
	{"HTTP", rest.Limits},
	{"WebSocket", delta.Limits},
	{"JSON-RPC", rpc.Limits},
}

// printLimits says what one may have and send, and what one hears who wants
// more.
func (p *program) printLimits() error {
	table := tabwriter.NewWriter(p.stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(p.stdout, "\nLimits: what is bounded, by how much, and what one hears who meets it")
	for _, b := range bounds {
		fmt.Fprintf(table, "\n%s:\n", b.whose)
		for _, l := range b.all() {
			fmt.Fprintf(table, "  %s\t%s\t%s\n", l.Name, strings.ReplaceAll(l.Value, "`", ""), strings.ReplaceAll(l.Answer, "`", ""))
		}
	}
	return table.Flush()
}

// private are the files that nobody else may read.
var private = []string{"", "harness.db", "harness.db-wal", "token", "tokens.json", "server.json", "access.log", "audit.log"}

func lookAtFiles(dir string) (all []finding) {
	if _, err := os.Lstat(dir); errors.Is(err, os.ErrNotExist) {
		return []finding{{what: dir + " does not exist yet", advice: "harness serve makes it"}}
	}
	for _, name := range private {
		path := filepath.Join(dir, name)
		info, err := os.Lstat(path)
		switch {
		case errors.Is(err, os.ErrNotExist):
		case err != nil:
			all = append(all, finding{true, path + ": " + err.Error(), "make it readable for its owner"})
		case info.Mode()&os.ModeSymlink != 0 && name != "":
			all = append(all, finding{true, path + " is a symbolic link", "put the file there itself"})
		case info.Mode().Perm()&0o077 != 0:
			all = append(all, finding{true, fmt.Sprintf("%s can be used by others (%s)", path, info.Mode().Perm()), "chmod go= " + path})
		}
	}
	if len(all) == 0 {
		all = append(all, finding{what: "the files in " + dir + " are for their owner only"})
	}
	return all
}

// owner is whom the first token lets in.
func owner(dir string) finding {
	path := filepath.Join(dir, "token")
	if _, err := os.Lstat(path); err != nil {
		return finding{what: "there is no owner's token yet", advice: "harness serve makes it"}
	}
	return finding{what: "whoever can read " + path + " is an admin: token owner"}
}

func lookAtTokens(dir string) (all []finding) {
	tokens, err := gateway.NamedTokens(dir)
	if err != nil {
		return []finding{{true, "the named tokens cannot be read: " + err.Error(), "the server will not start; mend or remove the file"}}
	}
	for _, t := range tokens {
		who := fmt.Sprintf("token %s: %s", t.Name, t.Role)
		if t.User != "" {
			who += " of " + t.User
		}
		if len(t.Scope) > 0 {
			who += ", only " + clean(strings.Join(t.Scope, ", "), maxScopeShown)
		}
		x := finding{what: who}
		switch {
		case t.Expires != nil && time.Now().After(*t.Expires):
			x.advice = "it has expired: harness token rm " + t.Name
		case t.Role == harness.Admin && t.Expires == nil:
			x.advice = "an admin for ever; --for gives the next one an end"
		}
		all = append(all, x)
	}
	return all
}

func lookAtServer(ctx context.Context, dir string) []finding {
	d, err := gateway.Discover(dir)
	if harness.AsError(err) == harness.ErrNotFound && err != nil {
		return []finding{{what: "no server of " + dir + " runs"}}
	}
	if err != nil {
		return []finding{{true, "server.json: " + err.Error(), "remove it and start the server again"}}
	}
	all := []finding{{what: fmt.Sprintf("a server runs at %s (process %d, since %s)", d.URL, d.PID, d.Started.Local().Format(time.DateTime))}}
	var ready struct {
		OK   bool
		Auth string
	}
	if err := (remote{url: d.URL}).ask(ctx, "GET", "/readyz", &ready); err != nil {
		return append(all, finding{true, "it does not answer: " + err.Error(), "look at its log"})
	}
	if ready.Auth != "on" {
		all = append(all, finding{true, "authentication is off: every program and every user of this machine may run commands through it", "start it without --auth off"})
	} else {
		all = append(all, finding{what: "every request needs a token, a login or a provider's token"})
	}
	u, err := url.Parse(d.URL)
	switch host := u.Hostname(); {
	case err != nil:
	case host == "localhost" || strings.HasPrefix(host, "127.") || host == "::1":
		all = append(all, finding{what: "only programs of this machine reach it"})
	case u.Scheme == "https":
		all = append(all, finding{what: "it is reachable from outside as " + d.URL, advice: "whoever has a token can run commands here: keep tokens short-lived"})
	default:
		all = append(all, finding{true, "it is reachable from outside without TLS", "give it --tls-cert and --tls-key, or put it behind a proxy"})
	}
	return all
}
