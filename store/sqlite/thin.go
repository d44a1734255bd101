package sqlite

import (
	"database/sql/driver"
	"fmt"

	"harness"
	"harness/internal/thin"
)

// thinLimit is how many heads are looked at; the place of each is in the index,
// its state is not read.
const thinLimit = 256

// thin deletes heads of a session that its others make needless. The oldest of
// those looked at always stays.
func (w *writer) thin(session int64) error {
	var have []harness.Seq // newest first
	err := w.query(func(r []driver.Value) bool {
		have = append(have, harness.Seq(whole(r[0])))
		return true
	}, fmt.Sprintf("SELECT seq FROM snapshots WHERE session = ? ORDER BY seq DESC LIMIT %d", thinLimit), session) // a bound limit would be compiled anew each time
	if err != nil {
		return err
	}
	for _, seq := range thin.Out(have) {
		if _, err := w.exec("DELETE FROM snapshots WHERE session = ? AND seq = ?", session, int64(seq)); err != nil {
			return err
		}
	}
	return nil
}
