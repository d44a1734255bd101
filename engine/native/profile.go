package native

import (
	"context"
	"path"

	"harness"
)

// agentFolder is where a tree keeps profiles of agents: who the model is in
// sessions that name one.
const agentFolder = ".harness/agents"

// ownProfile is what clients call an agent like this one (S4's example does).
const ownProfile = "code"

// assume adds the profile of the session's agent to what the model is told to be.
// One that is not there is told, and the turn runs.
func (r *turn) assume(ctx context.Context) error {
	name := r.h.Config().Agent
	if name == "" {
		return nil
	}
	file := path.Join(agentFolder, name+".md")
	if r.env != nil && !r.e.opts.Plain && path.Dir(file) == agentFolder {
		if text := readText(r.env.Workspace, file, maxInstructions); text != "" {
			r.system += "\n\nWho you are in this session, from " + file + ":\n\n" + text
			return nil
		}
	}
	if name == ownProfile {
		return nil
	}
	return r.h.Emit(ctx, &harness.TransportDiagnostic{Status: "degraded", Kind: "control_refused", Reason: "agent_profile " + name + ": there is no " + file})
}
