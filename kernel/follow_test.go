package kernel

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"harness"
	"harness/internal/redact"
)

// frames is a run with several texts at once, in which secrets are cut anywhere.
func frames(rng *rand.Rand) (all []harness.Payload) {
	text := func() string {
		return strings.Repeat([]string{"word ", canary, canary[:6], "sk-ant-", "é"}[rng.IntN(5)], 1+rng.IntN(2))
	}
	rest := map[string]string{}
	for range 40 {
		k := []string{"say", "think", "out", "err", "usage"}[rng.IntN(5)]
		rest[k] += text()
		part := rest[k]
		if n := rng.IntN(len(part) + 1); n > 0 && n < len(part) && part[n]&0xc0 != 0x80 {
			part = part[:n]
		}
		rest[k] = rest[k][len(part):]
		switch k {
		case "say":
			all = append(all, &harness.Token{Text: part})
		case "think":
			all = append(all, &harness.Thinking{Text: part})
		case "usage":
			all = append(all, &harness.Usage{InputTokens: int64(len(all) + 1)})
		default:
			all = append(all, &harness.ToolLog{ToolCallID: "c", Stream: k, Text: part})
		}
	}
	return append(all, &harness.ToolOutcome{ToolCallID: "c", Status: harness.OutcomeOK}, &harness.Completed{})
}

// sum adds up what reports say, text by text.
func sum(all []report) map[string]string {
	texts := map[string]string{}
	for _, r := range all {
		switch p := r.payload.(type) {
		case *harness.Token:
			texts["say"] += p.Text
		case *harness.Thinking:
			texts["think"] += p.Text
		case *harness.ToolLog:
			texts[p.Stream] += p.Text
		case *harness.Usage:
			texts["usage"] += fmt.Sprint(p.InputTokens, " ")
		default:
			texts["rest"] += string(p.Type()) + " "
		}
	}
	return texts
}

// TestARunThatIsFollowedAgainIsToldOnce cuts a run after every report and
// follows it from its first frame, as after a kill -9: the log holds every
// character once, and no secret.
func TestARunThatIsFollowedAgainIsToldOnce(t *testing.T) {
	t.Parallel()
	r, err := redact.New(canary)
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(seeds(20, 60)) {
		rng := rand.New(rand.NewPCG(seed, 1))
		run := frames(rng)
		for name, red := range map[string]Redactor{"none": nil, "a redactor": redactor{r}} {
			hear := func(c *cleaner) (all []report) {
				for i, p := range run {
					p, err := c.copy(p)
					if err != nil {
						t.Fatal(err)
					}
					before, now := c.take(uint64(i+1), p)
					all = append(all, before...)
					if now.payload != nil {
						all = append(all, now)
					}
					if i%9 == 8 { // somebody speaks to the turn
						all = append(all, c.flush()...)
					}
				}
				return append(all, c.flush()...)
			}
			want := sum(hear(newCleaner(red, nil)))
			for cut := 0; ; cut++ {
				all := hear(newCleaner(red, nil))
				if cut > len(all) {
					break
				}
				var place *harness.Followed
				if cut > 0 {
					place = all[cut-1].followed
				}
				got := sum(append(all[:cut:cut], hear(newCleaner(red, place))...))
				for k := range want {
					if plain(got[k]) != plain(want[k]) {
						t.Fatalf("seed %d, %s, cut after %d at %+v: %s\n got %q\nwant %q", seed, name, cut, place, k, got[k], want[k])
					}
					if red != nil && strings.Contains(got[k], canary) {
						t.Fatalf("seed %d: %s tells the secret: %q", seed, k, got[k])
					}
				}
			}
		}
	}
}

// plain takes out the marks of secrets: where somebody speaks while a secret is
// under way, it may be marked in two parts.
func plain(s string) string { return strings.ReplaceAll(s, redact.Mark, "") }
