// Package egress is the only way out of a sandbox, and where keys stay.
//
// A [Proxy] runs outside, in the process that starts agents. An agent gets an
// address on its own loopback and a token that is good for one run. The proxy
// lets through what the token's [Grant] allows (a provider's few paths, listed
// models, so many tokens), puts the provider's key in place of the token, and
// streams the answer back with the key taken out of it, should it be there. It
// follows no redirect and connects to no address of this machine or its networks.
// [Forward] adds tunnels to listed domains, for package managers.
//
// In a sandbox without a network, [Shim] is what makes the loopback address: the
// program itself, started again in front of the agent, joins a port to the
// proxy's Unix socket ([Relay]).
//
// It guarantees that a key never leaves the process but to its provider, that a
// request is judged by the bytes that are sent on, and that a budget is not
// passed by more than one request. It does not judge what a request says: what an
// agent tells a model, or has the provider fetch for it, is not looked at.
package egress
