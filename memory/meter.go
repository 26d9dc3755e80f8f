package memory

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"time"

	"github.com/pawlkit/pawl/provider"
)

// A Meter counts a conversation that grows, and counts each message once: a step costs what is new
// in it. It learns from what a provider counted.
//
// A message is known again by the identity of its parts, since messages are never changed once they
// are shared: a request whose messages begin with those of the request before, in the same array or
// in another one, is counted from there on. In the same array only the last message known is looked
// at, so that the cost doesn't grow with the conversation; who overwrites a message in place calls
// [Meter.Reset].
//
// A Meter is not safe for concurrent use: a session has one of its own.
type Meter struct {
	counter Counter

	// What was learned; scale 0: nothing.
	scale float64 // tokens of the provider per token counted here, in a request of up to at tokens
	at    int     // what the request took, as counted here, of which was learned
	grown float64 // tokens of the provider per token beyond that

	base  *provider.Message // where the known messages are
	known []counted
	sum   int // of the known messages

	system  string
	tools   []countedTool
	output  *provider.OutputFormat
	nOutput int
	nSystem int

	raw Count // of the last request
}

type counted struct {
	parts  *provider.Part
	n      int
	role   provider.Role
	tokens int
}

type countedTool struct {
	tool   provider.Tool
	tokens int
}

// NewMeter returns a Meter; nil stands for an [Estimator] of an unknown model.
func NewMeter(c Counter) *Meter {
	if c == nil {
		c = NewEstimator(provider.ModelInfo{})
	}
	return &Meter{counter: c}
}

// Count counts a request.
func (m *Meter) Count(req *provider.Request) Count {
	if req == nil {
		return Count{}
	}
	m.frame(req)
	m.messages(req.Messages)
	m.raw.Messages = m.sum
	m.raw.sum()
	return m.scaled(m.raw)
}

// Reset forgets what was counted, but not what was learned.
func (m *Meter) Reset() { *m = Meter{counter: m.counter, scale: m.scale, at: m.at, grown: m.grown} }

// frame counts what isn't the conversation, where it isn't what it was.
func (m *Meter) frame(req *provider.Request) {
	if req.System != m.system {
		m.system, m.nSystem = req.System, 0
		if req.System != "" {
			m.nSystem = plus(m.counter.CountText(req.System), perMessage)
		}
	}
	n := 0
	for i := range req.Tools {
		t := &req.Tools[i]
		if i == len(m.tools) {
			m.tools = append(m.tools, countedTool{*t, m.counter.CountTool(t)})
		}
		if known := &m.tools[i]; known.tool.Name != t.Name || known.tool.Description != t.Description ||
			!bytes.Equal(known.tool.Schema, t.Schema) || !maps.EqualFunc(known.tool.Options, t.Options,
			func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }) {
			*known = countedTool{*t, m.counter.CountTool(t)}
		}
		n = plus(n, m.tools[i].tokens)
	}
	if req.Output != m.output {
		m.output, m.nOutput = req.Output, countFrame(m.counter, &provider.Request{Output: req.Output}).Output
	}
	m.raw = Count{System: m.nSystem, Tools: n, Output: m.nOutput}
}

// messages counts what is new in a conversation.
func (m *Meter) messages(messages []provider.Message) {
	if len(messages) == 0 {
		m.forget(0)
		m.base = nil
		return
	}
	last := len(m.known) - 1
	if m.base != &messages[0] || last >= len(messages) || last >= 0 && !m.known[last].is(&messages[last]) {
		same := 0
		for same < len(m.known) && same < len(messages) && m.known[same].is(&messages[same]) {
			same++
		}
		m.forget(same)
	}
	m.base = &messages[0]
	for i := len(m.known); i < len(messages); i++ {
		m.add(&messages[i], max(m.counter.CountMessage(&messages[i]), 0))
	}
}

func (m *Meter) add(msg *provider.Message, tokens int) {
	c := counted{n: len(msg.Parts), role: msg.Role, tokens: tokens}
	if c.n > 0 {
		c.parts = &msg.Parts[0]
	}
	m.known = append(m.known, c)
	m.sum = plus(m.sum, tokens)
}

func (c *counted) is(msg *provider.Message) bool {
	return c.role == msg.Role && c.n == len(msg.Parts) && (c.n == 0 || c.parts == &msg.Parts[0])
}

// forget keeps the first n messages.
func (m *Meter) forget(n int) {
	if n == len(m.known) {
		return
	}
	gone := m.known[n:]
	if m.sum == math.MaxInt { // the sum doesn't say what it is made of
		m.sum, gone = 0, nil
		for i := range m.known[:n] {
			m.sum = plus(m.sum, m.known[i].tokens)
		}
	}
	for i := range gone {
		m.sum -= gone[i].tokens
	}
	clear(m.known[n:])
	m.known = m.known[:n]
}

// adopt takes a conversation as counted already.
func (m *Meter) adopt(groups []Group) {
	m.forget(0)
	m.base = nil
	for i := range groups {
		for j := range groups[i].Messages {
			m.add(&groups[i].Messages[j], groups[i].tokens[j])
		}
	}
}

// Learn tells what the provider counted for the request that was counted last, for example the
// input of its usage. A request of that size, or a smaller one, is then counted on that scale, and
// 3 % above it. A figure that is less than half or more than double of what was counted counts as
// half or double; 0 and less teach nothing. Learning the same again changes nothing.
//
// What is beyond that size is other text than what was learned of: it isn't scaled down, since
// images may have counted too high, and scaled up only as far as the request was large, since a
// provider adds texts of its own to small ones, too.
func (m *Meter) Learn(tokens int) {
	raw := m.raw.Total
	if tokens <= 0 || raw <= 0 {
		return
	}
	m.at = raw
	m.scale = min(max(float64(tokens)/float64(raw), .5), 2) * 1.03
	m.grown = min(max((float64(tokens)+smallRequest)/(float64(raw)+smallRequest), 1), 2)
}

// smallRequest is the size in tokens up to which more of what a provider counts is its own than the
// conversation's: what providers put before tools are some hundred tokens.
const smallRequest = 2_000

// Scale is what the request counted last was multiplied by since the last [Meter.Learn]: 1 before.
func (m *Meter) Scale() float64 {
	switch {
	case m.scale == 0:
		return 1
	case m.raw.Total <= m.at:
		return m.scale
	}
	return (float64(m.at)*m.scale + float64(m.raw.Total-m.at)*m.grown) / float64(m.raw.Total)
}

// askTimeout bounds a request to count.
const askTimeout = 10 * time.Second

// Ask counts a request, has the provider count it, and learns from that. It is a call over the
// network with providers that have one: ask rarely. The count of the provider is returned; on an
// error (provider.ErrNoCount if nobody can count) the Meter's own. It takes at most 10 s of a
// provider that respects its context.
func (m *Meter) Ask(ctx context.Context, p provider.Provider, req *provider.Request) (total int, err error) {
	own := m.Count(req)
	defer func() {
		if v := recover(); v != nil {
			total, err = own.Total, errors.New("memory: the provider panicked while it counted tokens")
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	n, err := provider.CountTokens(ctx, p, req)
	if err != nil {
		return own.Total, err
	}
	m.Learn(n)
	return n, nil
}

// scaled brings a count to the provider's scale.
func (m *Meter) scaled(n Count) Count {
	if m.scale == 0 {
		return n
	}
	n.System, n.Tools, n.Output, n.Total = m.up(n.System), m.up(n.Tools), m.up(n.Output), m.up(n.Total)
	n.Messages = max(n.Total-n.System-n.Tools-n.Output, 0)
	return n
}

// up brings what was counted here to the provider's scale, rounded up; down brings a limit of the
// provider to what is counted here, rounded down, so that up(down(n)) is never more than n.
func (m *Meter) up(n int) int {
	switch {
	case m.scale == 0 || n > mostTokens:
		return n
	case n <= m.at:
		return int(math.Ceil(float64(n) * m.scale))
	}
	return int(math.Ceil(float64(m.at)*m.scale + float64(n-m.at)*m.grown))
}

func (m *Meter) down(n int) int {
	if m.scale == 0 {
		return n
	}
	out := float64(n) / m.scale
	if known := float64(m.at) * m.scale; float64(n) > known {
		out = float64(m.at) + (float64(n)-known)/m.grown
	}
	return max(int(out)-1, 0)
}
