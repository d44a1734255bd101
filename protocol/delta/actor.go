package delta

import "harness"

// by is the request's command with the name of who sent it.
func (q request) by(user string) harness.Command {
	switch c := q.Cmd.(type) {
	case harness.Submit:
		c.Actor = user
		return c
	case harness.Steer:
		c.Actor = user
		return c
	case harness.Cancel:
		c.Actor = user
		return c
	case harness.Answer:
		c.Decision.Actor = user
		return c
	case harness.Configure:
		c.Actor = user
		return c
	case harness.Rewind:
		c.Actor = user
		return c
	}
	return q.Cmd
}
