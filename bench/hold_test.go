package bench

func holdHarness() error { return nil }
func holdCoder() error { return nil }
func holdCentrifuge() error { return nil }
type shelfT struct{}
func (shelfT) close() {}
var shelf shelfT
