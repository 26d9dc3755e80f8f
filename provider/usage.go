package provider

import "math"

// Usage is the number of tokens that a call consumed.
//
// Input counts every token of the prompt, those read from and written to a cache included;
// CacheRead and CacheWrite say how many of them. Output counts every token made, reasoning
// included; Reasoning says how many of them. A figure that the provider doesn't report is 0. If it
// reports none at all, a guard and an agent estimate them.
type Usage struct {
	Input      int64 `json:"input"`
	Output     int64 `json:"output"`
	CacheRead  int64 `json:"cache_read,omitempty"`
	CacheWrite int64 `json:"cache_write,omitempty"`
	Reasoning  int64 `json:"reasoning,omitempty"`
	// Estimated says that at least a part was estimated instead of counted by the provider.
	Estimated bool `json:"estimated,omitempty"`
	// Raw has the provider's original figures, as JSON text.
	Raw string `json:"raw,omitempty"`
}

// Total returns Input plus Output. A negative figure, which only a broken server reports, counts as
// 0, and a sum that overflows is the greatest int64, so that usage compared with a limit never
// shrinks.
func (u Usage) Total() int64 { return plus(u.Input, u.Output) }

// Add returns the sum of u and v; see [Usage.Total] for odd figures. Raw figures aren't added: the
// sum has none.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Input:      plus(u.Input, v.Input),
		Output:     plus(u.Output, v.Output),
		CacheRead:  plus(u.CacheRead, v.CacheRead),
		CacheWrite: plus(u.CacheWrite, v.CacheWrite),
		Reasoning:  plus(u.Reasoning, v.Reasoning),
		Estimated:  u.Estimated || v.Estimated,
	}
}

// plus adds positive figures, up to the greatest int64.
func plus(a, b int64) int64 {
	a, b = max(a, 0), max(b, 0)
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
