package delta

import "context"

// sealAfter is how many messages a lane gathers before it asks which of them
// the store has: enough that asking costs nothing beside making them.
const sealAfter = 64

// seal lets the lanes forget messages that the store keeps by now, so that a
// session that is awake for days does not stay in memory whole.
func (r *room) seal(ctx context.Context) {
	r.mu.Lock()
	s := r.show
	due := s != nil && len(s.lanes[0].state().Messages) >= s.sealAt
	r.mu.Unlock()
	if !due {
		return
	}
	st, err := r.hub.k.At(ctx, r.id, 0)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.show != s {
		return
	}
	if err == nil { // else it is asked again later
		for _, l := range s.lanes {
			own := l.state()
			if n := min(st.Sealed-own.Sealed, own.Sealable()); n > 0 {
				own.Seal(n)
			}
		}
	}
	s.sealAt = 2*len(s.lanes[0].state().Messages) + sealAfter // twice: a store may never take any
}
