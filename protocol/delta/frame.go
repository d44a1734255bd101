package delta

import (
	"errors"
	"strconv"
	"time"

	"harness"
	"harness/internal/object"
)

// appendState appends {"type":"state",…} with the view of st; see appendView.
func appendState(dst []byte, st *harness.State, sealed [][]byte, first int) []byte {
	dst = appendSeq(append(dst, `{"type":"state"`...), st.Seq)
	dst = appendView(append(dst, `,"state":`...), st, sealed, first)
	return append(dst, '}')
}

// appendDelta appends {"type":"delta",…} with ops, which lead to seq.
func appendDelta(dst []byte, seq harness.Seq, ops *object.Pending) []byte {
	dst = appendSeq(append(dst, `{"type":"delta"`...), seq)
	dst = ops.AppendJSON(append(dst, `,"operations":`...))
	return append(dst, '}')
}

// appendText appends the delta whose one operation adds text at path.
func appendText(dst []byte, seq harness.Seq, enc *object.Encoder, path []string, text string) []byte {
	dst = appendSeq(append(dst, `{"type":"delta"`...), seq)
	dst = enc.AppendText(append(dst, `,"operations":[`...), path, text)
	return append(dst, ']', '}')
}

// appendError appends {"type":"error",…}: what a client may know of err. id is
// the command's, if it has one; a refusal brings its own.
func appendError(dst []byte, id string, err error) []byte {
	dst = object.AppendString(append(dst, `{"type":"error","message":`...), harness.ClientText(err))
	dst = object.AppendString(append(dst, `,"code":`...), errorCode(err))
	if r, ok := errors.AsType[*refusal](err); ok {
		id = r.ID
	}
	if id != "" {
		dst = object.AppendString(append(dst, `,"commandId":`...), id)
	}
	return append(dst, '}')
}

// appendAck appends {"type":"ack",…}: the command id is durable, and a client
// that has seen seq has seen its effect.
func appendAck(dst []byte, id string, seq harness.Seq) []byte {
	dst = object.AppendString(append(dst, `{"type":"ack","commandId":`...), id)
	return append(appendSeq(dst, seq), '}')
}

// appendHeartbeat appends {"type":"hb",…}: the line is alive and the log ends
// at seq.
func appendHeartbeat(dst []byte, seq harness.Seq, now time.Time) []byte {
	dst = appendSeq(append(dst, `{"type":"hb"`...), seq)
	dst = now.UTC().AppendFormat(append(dst, `,"ts":"`...), timeForm)
	return append(dst, `"}`...)
}

func appendSeq(dst []byte, seq harness.Seq) []byte {
	return strconv.AppendUint(append(dst, `,"seq":`...), uint64(seq), 10)
}
