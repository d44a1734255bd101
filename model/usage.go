package model

// Usage counts tokens. The four kinds are disjoint, because they have
// different prices; Reasoning is a part of Output.
type Usage struct {
	Input      int64 // read afresh
	CacheRead  int64
	CacheWrite int64 // read and put into the cache
	Output     int64
	Reasoning  int64
}

// Prompt is everything the model read: what fills its window.
func (u Usage) Prompt() int64 { return u.Input + u.CacheRead + u.CacheWrite }

// Total is everything that was read or written.
func (u Usage) Total() int64 { return u.Prompt() + u.Output }

// Add is the usage of two answers together.
func (u Usage) Add(v Usage) Usage {
	return Usage{u.Input + v.Input, u.CacheRead + v.CacheRead, u.CacheWrite + v.CacheWrite, u.Output + v.Output, u.Reasoning + v.Reasoning}
}
