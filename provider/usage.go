package provider

// Usage is what a call consumed, in tokens.
//
// Input counts every token of the prompt, those read from and written to a cache included; CacheRead and CacheWrite say
// how many of them. Output counts every token made, reasoning included; Reasoning says how many of them. A figure that
// the provider doesn't report is 0.
type Usage struct {
	Input      int64 `json:"input"`
	Output     int64 `json:"output"`
	CacheRead  int64 `json:"cache_read,omitempty"`
	CacheWrite int64 `json:"cache_write,omitempty"`
	Reasoning  int64 `json:"reasoning,omitempty"`
	// Estimated says that at least a part was not counted by the provider.
	Estimated bool `json:"estimated,omitempty"`
	// Raw is the provider's own figures, as JSON text.
	Raw string `json:"raw,omitempty"`
}

// Total returns Input plus Output.
func (u Usage) Total() int64 { return u.Input + u.Output }

// Add returns the sum of u and v. Raw figures aren't added: the sum has none.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Input:      u.Input + v.Input,
		Output:     u.Output + v.Output,
		CacheRead:  u.CacheRead + v.CacheRead,
		CacheWrite: u.CacheWrite + v.CacheWrite,
		Reasoning:  u.Reasoning + v.Reasoning,
		Estimated:  u.Estimated || v.Estimated,
	}
}
