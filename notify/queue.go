package notify

import (
	"container/heap"
	"slices"
	"time"
)

// queue is notices by when they are due, each once.
type queue struct {
	byID  map[string]*item
	order order
}

// order is a heap.
type order []*item

func (o order) Len() int { return len(o) }
func (o order) Less(i, j int) bool {
	if c := o[i].due.Compare(o[j].due); c != 0 {
		return c < 0
	}
	return o[i].notice.Time.Before(o[j].notice.Time)
}
func (o order) Swap(i, j int) { o[i], o[j] = o[j], o[i] }
func (o *order) Push(x any)   { *o = append(*o, x.(*item)) }
func (o *order) Pop() any {
	last := len(*o) - 1
	it := (*o)[last]
	(*o)[last], *o = nil, (*o)[:last]
	return it
}

func newQueue() *queue { return &queue{byID: map[string]*item{}} }

func (q *queue) len() int { return len(q.byID) }

// push adds a notice that is not there.
func (q *queue) push(it item) {
	if q.byID[it.notice.ID] == nil {
		q.byID[it.notice.ID] = &it
		heap.Push(&q.order, &it)
	}
}

// first is the notice that is due next, or nil.
func (q *queue) first() *item {
	if len(q.order) == 0 {
		return nil
	}
	return q.order[0]
}

// pop takes the first one out.
func (q *queue) pop() item {
	it := heap.Pop(&q.order).(*item)
	delete(q.byID, it.notice.ID)
	return *it
}

// trim leaves the newest so many, and says how many are gone.
func (q *queue) trim(most int) int {
	over := len(q.order) - most
	if over <= 0 {
		return 0
	}
	slices.SortFunc(q.order, func(a, b *item) int { return a.notice.Time.Compare(b.notice.Time) })
	for _, it := range q.order[:over] {
		delete(q.byID, it.notice.ID)
	}
	q.order = slices.Clone(q.order[over:])
	heap.Init(&q.order)
	return over
}

// oldest is the time of the oldest notice, or zero.
func (q *queue) oldest() (t time.Time) {
	for _, it := range q.order {
		if t.IsZero() || it.notice.Time.Before(t) {
			t = it.notice.Time
		}
	}
	return t
}
