package rpc

import (
	"fmt"

	"harness"
)

// Limits lists the bounds of this protocol that a client can meet.
func Limits() []harness.Limit {
	return []harness.Limit{
		{Name: "line of JSON-RPC", Value: harness.ByteSize(maxLine), Reason: "the largest prompt several times over, escaped", Answer: "−32600"},
		{Name: "batch of JSON-RPC", Value: fmt.Sprint(maxBatch), Reason: "the work of one line", Answer: "−32600"},
		{Name: "threads that a connection follows", Value: fmt.Sprint(maxFollowed), Reason: "a goroutine and the thread's state each", Answer: "`too_large`: −32602"},
		{Name: "threads of a page", Value: fmt.Sprint(maxListed), Reason: "there is a cursor for more", Answer: "as many, and `nextCursor`"},
		{Name: "output that a client has not taken", Value: harness.ByteSize(maxWaiting), Reason: "the answers to some thousand requests", Answer: "its next requests are not read"},
	}
}
