package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"harness"
)

// offer is what an agent lets its client choose, in each of the protocol's ways.
type offer struct {
	Options []option `json:"configOptions"`
	Modes   *struct {
		Current string `json:"currentModeId"`
		All     []mode `json:"availableModes"`
	} `json:"modes"`
	Models *struct { // of agents that are older than the options
		Current string  `json:"currentModelId"`
		All     []model `json:"availableModels"`
	} `json:"models"`
}

type (
	mode struct {
		ID string `json:"id"`
	}
	model struct {
		ID string `json:"modelId"`
	}
)

type option struct {
	ID       string          `json:"id"`
	Category string          `json:"category"`
	Current  json.RawMessage `json:"currentValue"`
	Values   []value         `json:"options"`
}

type value struct {
	Value  string  `json:"value"`
	Values []value `json:"options"` // of a group
}

// Categories of options.
const (
	ofModel  = "model"
	ofMode   = "mode"
	ofEffort = "thought_level"
)

func (o *option) has(want string) bool {
	return slices.ContainsFunc(o.Values, func(v value) bool {
		return v.Value == want || slices.ContainsFunc(v.Values, func(in value) bool { return in.Value == want })
	})
}

func (o *option) current() (s string) {
	_ = json.Unmarshal(o.Current, &s) // one that is no word is none of ours
	return s
}

// chosen is what is chosen now, by category.
func (o *offer) chosen() map[string]string {
	now := make(map[string]string)
	if o.Modes != nil {
		now[ofMode] = o.Modes.Current
	}
	if o.Models != nil {
		now[ofModel] = o.Models.Current
	}
	for _, one := range o.Options {
		now[one.Category] = one.current()
	}
	return now
}

// configure makes the agent follow the session's configuration, as far as it
// lets itself. What it does not offer is told.
func (r *run) configure(ctx context.Context) error {
	c := r.host.Config()
	for _, w := range []struct{ category, want string }{
		{ofModel, c.Model}, {ofMode, cmp.Or(c.Agent, r.opts.Mode)}, {ofEffort, string(c.Effort)},
	} {
		want := cmp.Or(w.want, r.kept.first[w.category])
		now := r.kept.offer.chosen()
		if want == "" || want == now[w.category] {
			continue
		}
		told, err := r.choose(ctx, w.category, want)
		if why, ok := refusal(err); ok {
			told, err = why, nil
		}
		if err == nil && told != "" && w.want != "" { // somebody asked for it
			err = r.talk.Emit(ctx, &harness.TransportDiagnostic{Status: "degraded", Kind: "control_refused", Reason: w.category + " " + want + ": " + told})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// choose makes one choice. why says that it is not there to be made.
func (r *run) choose(ctx context.Context, category, want string) (why string, err error) {
	o := &r.kept.offer
	for i := range o.Options {
		if one := &o.Options[i]; one.Category == category && one.has(want) {
			var got struct {
				Options []option `json:"configOptions"`
			}
			err := r.talk.Call(ctx, "session/set_config_option", map[string]string{"sessionId": r.kept.session, "configId": one.ID, "value": want}, &got)
			if err == nil && got.Options != nil {
				o.Options = got.Options
			}
			return "", err
		}
	}
	ask := map[string]string{"sessionId": r.kept.session}
	if m := o.Modes; category == ofMode && m != nil && slices.ContainsFunc(m.All, func(one mode) bool { return one.ID == want }) {
		ask["modeId"] = want
		if err = r.talk.Call(ctx, "session/set_mode", ask, nil); err == nil {
			m.Current = want
		}
		return "", err
	}
	if m := o.Models; category == ofModel && m != nil && slices.ContainsFunc(m.All, func(one model) bool { return one.ID == want }) {
		ask["modelId"] = want
		if err = r.talk.Call(ctx, "session/set_model", ask, nil); err == nil {
			m.Current = want
		}
		return "", err
	}
	return "the agent does not offer it", nil
}
