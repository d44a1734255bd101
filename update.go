package harness

// Update is what a watcher is told. Updates arrive in order and without a gap;
// everything in them is durable.
type Update struct {
	State  *State  // if not nil, replace everything you had; it is yours, but its sealed messages are in the store
	Events []Event // then apply these, in order; they are shared and must not be changed
}
