package provider

import (
	"fmt"
	"math"
	"math/bits"
)

// ModelInfo describes a model.
type ModelInfo struct {
	Provider  string   `json:"provider,omitempty"`
	ID        string   `json:"id,omitempty"`
	Name      string   `json:"name,omitempty"`
	Window    int      `json:"window,omitempty"`     // tokens of input and output together; 0: unknown
	MaxOutput int      `json:"max_output,omitempty"` // tokens; 0: unknown
	Inputs    []string `json:"inputs,omitempty"`     // text, image, audio, video, document
	Outputs   []string `json:"outputs,omitempty"`
	Reasoning bool     `json:"reasoning,omitempty"`
	Prices    *Prices  `json:"prices,omitempty"` // nil: unknown
}

// Money is an amount in millionths of a US dollar.
type Money int64

// USD is one US dollar.
const USD Money = 1_000_000

// Add returns the sum of m and n. A negative amount counts as 0, and a sum that overflows is the
// greatest Money.
func (m Money) Add(n Money) Money { return Money(plus(int64(m), int64(n))) }

// String returns the amount in dollars, for example "$0.004200".
func (m Money) String() string {
	sign, v := "", uint64(m)
	if m < 0 {
		sign, v = "-", -v
	}
	return fmt.Sprintf("%s$%d.%06d", sign, v/uint64(USD), v%uint64(USD))
}

// Prices are a model's prices per million tokens, such as 2 * [USD]. A price of 0 is free of
// charge; if cached tokens are priced like other input, set CacheRead and CacheWrite to Input.
type Prices struct {
	Input      Money  `json:"input"`
	Output     Money  `json:"output"`
	CacheRead  Money  `json:"cache_read"`
	CacheWrite Money  `json:"cache_write"`
	Date       string `json:"date,omitempty"`   // the day on which they were looked up, YYYY-MM-DD
	Source     string `json:"source,omitempty"` // where
}

// Cost returns the cost of u, rounded up to a millionth of a dollar. Figures below 0 count as 0; an
// amount that overflows is the greatest Money.
func (p Prices) Cost(u Usage) Money {
	u.Input, u.CacheRead, u.CacheWrite = max(u.Input, 0), max(u.CacheRead, 0), max(u.CacheWrite, 0)
	plain := max(u.Input-u.CacheRead, 0) - u.CacheWrite
	var hi, lo uint64 // money times a million
	for _, item := range [...]struct {
		tokens int64
		price  Money
	}{{plain, p.Input}, {u.CacheRead, p.CacheRead}, {u.CacheWrite, p.CacheWrite}, {u.Output, p.Output}} {
		h, l := bits.Mul64(uint64(max(item.tokens, 0)), uint64(max(item.price, 0)))
		var carry uint64
		lo, carry = bits.Add64(lo, l, 0)
		hi, _ = bits.Add64(hi, h, carry)
	}
	const million = 1_000_000
	if hi >= million {
		return math.MaxInt64
	}
	q, rest := bits.Div64(hi, lo, million)
	if rest > 0 {
		q++
	}
	if q > math.MaxInt64 {
		return math.MaxInt64
	}
	return Money(q)
}
