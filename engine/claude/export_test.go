package claude

import "harness"

// Prepare makes the home of a session that goes on with a conversation of
// another.
func Prepare(state string, id, from harness.SessionID, conversation string) error {
	_, err := (&Options{State: state}).prepare(launch{session: id, from: from, resume: conversation})
	return err
}
