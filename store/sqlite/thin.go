package sqlite

import (
	"database/sql/driver"

	"harness"
)

// Which heads are kept.
const (
	thinKeep  = 8   // the newest ones, always
	thinPart  = 8   // a gap that thinning made is at most this part of its distance from the newest
	thinLimit = 256 // how many are looked at; the place of each is in the index, its state is not read
)

// thin deletes heads of a session that its others make needless, so that they
// grow with the logarithm of the log and a position is still near one. The
// oldest of those looked at always stays.
func (w *writer) thin(session int64) error {
	var have []harness.Seq // newest first
	err := w.query(func(r []driver.Value) bool {
		have = append(have, harness.Seq(whole(r[0])))
		return true
	}, "SELECT seq FROM snapshots WHERE session = ? ORDER BY seq DESC LIMIT ?", session, int64(thinLimit))
	if err != nil {
		return err
	}
	for _, seq := range needless(have) {
		if _, err := w.exec("DELETE FROM snapshots WHERE session = ? AND seq = ?", session, int64(seq)); err != nil {
			return err
		}
	}
	return nil
}

// needless picks from positions, newest first, those to delete: whose
// neighbours are no further from each other than an eighth of the distance to
// the newest. Whoever looks for a position d before the newest then finds a head
// at most d/7 before it, or the one that was there before thinning.
func needless(have []harness.Seq) (gone []harness.Seq) {
	if len(have) <= thinKeep {
		return nil
	}
	newest, newer := have[0], have[thinKeep-1]
	for i := thinKeep; i < len(have)-1; i++ {
		if (newer-have[i+1])*thinPart <= newest-have[i] {
			gone = append(gone, have[i])
		} else {
			newer = have[i]
		}
	}
	return gone
}
