package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"text/tabwriter"
	"time"

	"harness"
	"harness/protocol/rest"
)

// schedules looks after what a server does by the clock.
func schedules(ctx context.Context, p *program, args []string) error {
	return p.choose(ctx, "schedule", scheduleHelp, verbs{"add": addSchedule, "ls": listSchedules, "rm": removeSchedules, "run": runSchedules}, args)
}

const scheduleHelp = `A schedule has a running server make a background session at each of its times.

Usage:
  harness schedule add [flags] WHEN PROMPT  such as add '0 9 * * mon-fri' 'Look at new issues'
  harness schedule ls  [flags]              list them
  harness schedule rm  [flags] SCHEDULE…    end them; sessions that they made go on
  harness schedule run [flags] SCHEDULE     make a session now

WHEN is cron's five fields, @hourly, @daily, @weekly, @monthly, or every and a duration.
` + "`harness schedule VERB --help` tells more.\n"

func addSchedule(ctx context.Context, p *program, args []string) error {
	f := p.flags("schedule add", "[flags] WHEN PROMPT", "Have a background session made at each time.\n"+
		"WHEN is cron's five fields (minute, hour, day, month, weekday), @hourly, @daily, @weekly, @monthly, or every and a duration.",
		"harness schedule add '0 9 * * mon-fri' --zone Europe/Berlin 'Look at new issues'",
		"harness schedule add 'every 30m' --overlap replace --cwd ~/project 'Run the tests and tell what fails'")
	connect := f.server()
	var n rest.NewSchedule
	f.StringVar(&n.Name, "name", "", "`NAME` of the schedule, which its sessions have as their title")
	f.StringVar(&n.Zone, "zone", "", "time `ZONE` whose clock the fields are read on, such as Europe/Berlin (default UTC)")
	f.StringVar(&n.Overlap, "overlap", "skip", "if the session before still works: skip this time, queue it, or replace the other (`HOW`)")
	f.StringVar(&n.Missed, "missed", "run", "about times while no server ran: run once, or skip (`HOW`)")
	f.StringVar(&n.Engine, "engine", "", "`ENGINE` of its sessions, one that the server has")
	f.StringVar(&n.Model, "model", "", "`MODEL` of its sessions")
	f.Int64Var(&n.MaxRetries, "retries", 0, "how often a session is tried again after an error that may pass, `N`")
	expires := f.Duration("expires-after", 0, "a session that could not begin or go on so long after its time is given up; 0 is never")
	mode := f.String("mode", "", "permission `MODE`: normal, accept_edits or full_auto")
	cwd := f.String("cwd", "", "`DIR` that its sessions work in, on the server (default the server's)")
	if err := f.parse(args, 2, 2); err != nil {
		return err
	}
	n.ExpiresAfterS = int64(*expires / time.Second)
	n.When, n.Prompt, n.PermissionMode = f.args[0], f.args[1], harness.Mode(*mode)
	if *cwd != "" {
		dir, err := filepath.Abs(*cwd)
		if err != nil {
			return err
		}
		n.Directory = dir
	}
	r, err := p.serverAt(*connect)
	if err != nil {
		return err
	}
	var made rest.Schedule
	if err := r.tell(ctx, http.MethodPost, "/schedules", n, &made); err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "%s\n", made.ScheduleID)
	if made.NextAt != nil {
		fmt.Fprintf(p.stderr, "next at %s\n", made.NextAt.Local().Format(time.RFC1123))
	}
	return nil
}

func listSchedules(ctx context.Context, p *program, args []string) error {
	f := p.flags("schedule ls", "[flags]", "List schedules.", "harness schedule ls", "harness schedule ls --json | jq -r .schedule_id")
	connect := f.server()
	asJSON := f.Bool("json", false, "one JSON object a line")
	if err := f.parse(args, 0, 0); err != nil {
		return err
	}
	r, err := p.serverAt(*connect)
	if err != nil {
		return err
	}
	var list struct{ Schedules []rest.Schedule }
	if err := r.tell(ctx, http.MethodGet, "/schedules", nil, &list); err != nil {
		return err
	}
	if *asJSON {
		enc := json.NewEncoder(p.stdout)
		for _, c := range list.Schedules {
			if err := enc.Encode(c); err != nil {
				return err
			}
		}
		return nil
	}
	if len(list.Schedules) == 0 {
		fmt.Fprintln(p.stderr, "no schedules")
		return nil
	}
	table := tabwriter.NewWriter(p.stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(table, "SCHEDULE\tWHEN\tZONE\tOVERLAP\tNEXT\tLATEST\tSESSION\tNAME")
	for _, c := range list.Schedules {
		next := "never"
		if c.NextAt != nil {
			next = c.NextAt.Local().Format(time.DateTime)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", clean(c.ScheduleID, harness.MaxID), clean(c.When, 40), clean(c.Zone, 40), clean(c.Overlap, 10), next,
			cmp.Or(clean(c.LastOutcome, 40), "-"), cmp.Or(clean(string(c.LastSessionID), harness.MaxID), "-"), clean(c.Name, 60))
	}
	return table.Flush()
}

func removeSchedules(ctx context.Context, p *program, args []string) error {
	f := p.flags("schedule rm", "[flags] SCHEDULE…", "End schedules. Sessions that they have made go on.", "harness schedule rm sch_01…")
	connect := f.server()
	if err := f.parse(args, 1, -1); err != nil {
		return err
	}
	r, err := p.serverAt(*connect)
	if err != nil {
		return err
	}
	for _, id := range f.args {
		if err := r.tell(ctx, http.MethodDelete, "/schedules/"+url.PathEscape(id), nil, nil); err != nil {
			return fmt.Errorf("%s: %w", id, err)
		}
		fmt.Fprintln(p.stdout, id, "removed")
	}
	return nil
}

func runSchedules(ctx context.Context, p *program, args []string) error {
	f := p.flags("schedule run", "[flags] SCHEDULE", "Make a session of a schedule now, and print its id.", "harness schedule run sch_01…", "harness attach $(harness schedule run sch_01…)")
	connect := f.server()
	if err := f.parse(args, 1, 1); err != nil {
		return err
	}
	r, err := p.serverAt(*connect)
	if err != nil {
		return err
	}
	var made struct {
		SessionID string `json:"session_id"`
	}
	if err := r.tell(ctx, http.MethodPost, "/schedules/"+url.PathEscape(f.args[0])+"/run", nil, &made); err != nil {
		return err
	}
	fmt.Fprintln(p.stdout, made.SessionID)
	return nil
}

// tell makes one request with a JSON body, if there is one, and reads the JSON
// answer, if one is wanted. A refusal is told in the server's words.
func (r remote) tell(ctx context.Context, method, path string, body, answer any) error {
	a, err := r.exchange(ctx, method, path, body)
	switch {
	case err != nil:
		return err
	case a.code/100 != 2:
		if why := a.problem(); why != "" && a.code != http.StatusUnauthorized {
			return fmt.Errorf("the server says: %s", why)
		}
		return refusal(a.code, a.status, "")
	case answer == nil:
		return nil
	}
	return json.Unmarshal(a.text, answer)
}
