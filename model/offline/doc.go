// Package offline is a stand-in for a language model: a model.Client that
// follows rules, needs no key and no network, and does real work with the tools
// it is offered, so that everything else can be tried on a fresh machine.
//
// It is not a language model and says so. It splits a request into steps
// ("write `echo hi` to a.sh, then run it, then tell me what it printed"), calls
// tools for them one after the other, reads the results and reports in plain
// words. It stops at the first step it does not understand, and at the first
// that fails. The same conversation always gets the same answer.
package offline
