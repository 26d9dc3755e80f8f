package memory

import (
	"math"

	"github.com/pawlkit/pawl/provider"
)

// A Counter says how many input tokens the pieces of a request take. [NewEstimator] makes one that
// needs nothing; a tokenizer makes an exact one (see [Estimator.Tokenize]).
//
// A Counter is safe for concurrent use, and answers the same for the same piece: what was counted
// once isn't counted again. Figures below 0 count as 0. It adds up: a message with a text more
// takes at most CountText of it more.
type Counter interface {
	// CountText counts a text on its own.
	CountText(text string) int
	// CountMessage counts a message with all its parts and what a provider adds around it.
	CountMessage(m *provider.Message) int
	// CountTool counts the definition of a tool.
	CountTool(t *provider.Tool) int
}

// A Count is how many input tokens a request takes, by where they are.
type Count struct {
	System   int `json:"system"`
	Tools    int `json:"tools"`
	Output   int `json:"output,omitempty"` // the schema of a structured answer
	Messages int `json:"messages"`
	Total    int `json:"total"`
}

// CountRequest counts a request from scratch. A conversation that grows is counted by a [Meter],
// which counts only what is new.
func CountRequest(c Counter, req *provider.Request) Count {
	if c == nil {
		c = NewEstimator(provider.ModelInfo{})
	}
	if req == nil {
		return Count{}
	}
	n := countFrame(c, req)
	for i := range req.Messages {
		n.Messages = plus(n.Messages, c.CountMessage(&req.Messages[i]))
	}
	n.sum()
	return n
}

// countFrame counts what isn't the conversation.
func countFrame(c Counter, req *provider.Request) Count {
	var n Count
	if req.System != "" {
		n.System = plus(c.CountText(req.System), perMessage)
	}
	for i := range req.Tools {
		n.Tools = plus(n.Tools, c.CountTool(&req.Tools[i]))
	}
	if req.Output != nil {
		n.Output = plus(c.CountText(string(req.Output.Schema)), c.CountText(req.Output.Name))
	}
	return n
}

func (n *Count) sum() { n.Total = plus(plus(n.System, n.Tools), plus(n.Output, n.Messages)) }

// plus adds figures that a foreign Counter may have made up: never below 0, never past the greatest
// int.
func plus(a, b int) int {
	a, b = max(a, 0), max(b, 0)
	if a > math.MaxInt-b {
		return math.MaxInt
	}
	return a + b
}

// steady is a Counter whose figures can be added up: none is below 0 or above mostTokens, and where
// it panics they are estimated.
type steady struct{ counter Counter }

const mostTokens = min(1<<40, math.MaxInt>>2)

func (s steady) count(by func(Counter) int) (n int) {
	defer func() {
		if recover() != nil {
			n = by(&Estimator{})
		}
		n = min(max(n, 0), mostTokens)
	}()
	return by(s.counter)
}

// CountText counts a text.
func (s steady) CountText(text string) int {
	return s.count(func(c Counter) int { return c.CountText(text) })
}

// CountMessage counts a message.
func (s steady) CountMessage(m *provider.Message) int {
	return s.count(func(c Counter) int { return c.CountMessage(m) })
}

// CountTool counts a tool.
func (s steady) CountTool(t *provider.Tool) int {
	return s.count(func(c Counter) int { return c.CountTool(t) })
}
