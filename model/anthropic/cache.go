package anthropic

import (
	sdk "github.com/anthropics/anthropic-sdk-go"
)

// mark says where prefixes worth keeping end: after the tools, after the
// system prompt, and after the last two things the user's side said. The second
// to last was the last of the request before, so its cache is found; the last
// is for the request after. Four is what the protocol allows.
func mark(p *sdk.MessageNewParams) {
	here := sdk.NewCacheControlEphemeralParam()
	if n := len(p.Tools); n > 0 {
		p.Tools[n-1].OfTool.CacheControl = here
	}
	if n := len(p.System); n > 0 {
		p.System[n-1].CacheControl = here
	}
	left := 2
	for i := len(p.Messages) - 1; i >= 0 && left > 0; i-- {
		m := &p.Messages[i]
		if m.Role != sdk.MessageParamRoleUser {
			continue
		}
		if cc := m.Content[len(m.Content)-1].GetCacheControl(); cc != nil {
			*cc = here
			left--
		}
	}
}
