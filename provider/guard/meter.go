package guard

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/ratelimit"
	"github.com/pawlkit/pawl/ratelimit/budget"
)

// How tokens are estimated if there is no count. Most text has 4 bytes a token or more; JSON, code
// and other scripts have about 3, so 3 estimates on the high side.
const (
	bytesPerToken    = 3
	tokensPerMessage = 4
	tokensPerMedia   = 2000
	outputStep       = 4096
	mostTokens       = 1 << 40
)

// A meter measures what a call uses.
type meter struct {
	input int64               // estimate of the request's tokens; 0: not made yet
	info  *provider.ModelInfo // nil: not looked up yet
	// models are those that may answer, as far as they are known; nil: not looked up yet
	models []provider.ModelInfo

	// of the attempt
	again    int64 // how often the provider took its answer back
	started  bool
	answered string // the name of the model in the answer
	reported provider.Usage
	began    time.Time
	quota    *ratelimit.Quota // as the provider's headers say
}

const noLimit = int64(1) << 62

// measure begins an attempt.
func (c *call) measure() {
	c.written, c.room, c.voided, c.again, c.started, c.reported = 0, noLimit, 0, 0, false, provider.Usage{}
	c.quota, c.answered = nil, ""
	if c.guard.budget != nil {
		c.room = c.outputAsked() * bytesPerToken
		if c.req.MaxOutput > 0 {
			c.room *= 2
		}
	}
}

// outputAsked returns how many output tokens are reserved before an attempt.
func (c *call) outputAsked() int64 {
	if c.req.MaxOutput > 0 {
		return min(int64(c.req.MaxOutput), mostTokens)
	}
	return outputStep
}

// estimate returns the tokens of the request.
func (c *call) estimate() int64 {
	if c.input == 0 {
		c.input = min(max(c.counted(), 1), mostTokens)
	}
	return c.input
}

func (c *call) counted() (n int64) {
	if c.guard.count == nil {
		return estimate(c.req)
	}
	defer func() {
		if recover() != nil {
			n = estimate(c.req)
		}
	}()
	return c.guard.count(c.req)
}

// Estimate returns an estimate on the high side of a call's usage, at three bytes a token: of its
// request, and of the answer so far.
func Estimate(req *provider.Request, written []provider.Part) provider.Usage {
	u := provider.Usage{Estimated: true}
	if req != nil {
		u.Input = estimate(req)
	}
	var bytes int
	var more int64
	for i := range written {
		b, m := partSize(&written[i])
		bytes, more = bytes+b, more+m*tokensPerMedia
	}
	u.Output = tokens(int64(bytes)) + more
	return u
}

// estimate returns an estimate on the high side of a request's tokens.
func estimate(req *provider.Request) int64 {
	bytes := len(req.System)
	var more int64
	for i := range req.Messages {
		more += tokensPerMessage
		for j := range req.Messages[i].Parts {
			b, m := partSize(&req.Messages[i].Parts[j])
			bytes, more = bytes+b, more+m*tokensPerMedia
		}
	}
	for i := range req.Tools {
		t := &req.Tools[i]
		bytes += len(t.Name) + len(t.Description) + len(t.Schema) + largest(t.Options)
		more += tokensPerMessage
	}
	if req.Output != nil {
		bytes += len(req.Output.Schema)
	}
	return tokens(int64(bytes)) + more
}

// largest returns the bytes of the largest of a tool's options: a call sends those for one
// provider.
func largest(options map[string]json.RawMessage) (bytes int) {
	for _, raw := range options {
		bytes = max(bytes, len(raw))
	}
	return bytes
}

func tokens(bytes int64) int64 { return (bytes + bytesPerToken - 1) / bytesPerToken }

// partSize returns the bytes of text in a part, and its pieces of media.
func partSize(p *provider.Part) (bytes int, media int64) {
	bytes = len(p.Text)
	if p.Call != nil {
		bytes += len(p.Call.ID) + len(p.Call.Name) + len(p.Call.Input) + len(p.Call.Invalid)
	}
	if p.Result != nil {
		bytes += len(p.Result.CallID) + len(p.Result.Name)
		for i := range p.Result.Parts {
			b, m := partSize(&p.Result.Parts[i])
			bytes, media = bytes+b, media+m
		}
	}
	if p.Source != nil {
		bytes += len(p.Source.Text) + len(p.Source.Title) + len(p.Source.URL)
	}
	if p.Opaque != nil {
		bytes += len(p.Opaque.Data)
	}
	if p.Media != nil {
		media++
	}
	return bytes, media
}

// weigh measures a chunk that isn't text.
func (c *call) weigh(chunk *provider.Chunk) {
	switch chunk.Kind {
	case provider.KindStart:
		c.started, c.answered = true, chunk.Name
		if c.leased {
			c.lease.Began()
		}
		if chunk.Extra != nil {
			c.learn(chunk.Extra.RateLimits)
		}
	case provider.KindReset:
		c.written -= int64(len(chunk.Text)) // why isn't of the answer
		if c.room != noLimit {
			c.room -= c.written // what was reserved is used up
		}
		c.voided, c.written, c.again = c.voided+c.written, 0, c.again+1
	case provider.KindToolStart:
		c.written += int64(len(chunk.Name))
	case provider.KindEnd:
		if chunk.Extra.Usage == nil { // the provider hasn't reported it
			extra := *chunk.Extra
			extra.Usage = &provider.Usage{Input: c.estimate(), Output: tokens(c.written), Estimated: true}
			chunk.Extra = &extra
		}
	}
	if chunk.Extra == nil {
		return
	}
	if chunk.Extra.Usage != nil && chunk.Extra.Usage.Total() > 0 {
		c.reported = *chunk.Extra.Usage
	}
	if chunk.Extra.Part != nil {
		bytes, media := partSize(chunk.Extra.Part)
		c.written += int64(bytes) + media*tokensPerMedia*bytesPerToken
	}
}

// learn reads the rate limits in the provider's headers, for the gate.
func (c *call) learn(headers http.Header) {
	if headers == nil || c.guard.gate == nil {
		return
	}
	if q, ok := ratelimit.ParseQuota(headers, time.Now()); ok {
		c.quota = &q
	}
}

// topUp reserves for the growth of the answer.
func (c *call) topUp() error {
	if c.reservation == nil {
		c.room = noLimit
		return nil
	}
	for c.written > c.room {
		if err := c.reservation.TopUp(outputStep, c.cost(provider.Usage{Output: outputStep})); err != nil {
			explain(err, fmt.Sprintf("%d tokens of output, because the answer is longer than what was reserved for it",
				outputStep))
			return err
		}
		c.room += outputStep * bytesPerToken
	}
	return nil
}

// model returns the description of the requested model.
func (c *call) model() *provider.ModelInfo {
	if c.info != nil {
		return c.info
	}
	g, m := c.guard, c.req.Model
	if m == "" || m == g.info.ID || m == g.info.Name {
		c.info = &g.info
		return c.info
	}
	info, ok := provider.InfoOf(g.provider, m)
	if !ok {
		info = provider.ModelInfo{Provider: g.info.Provider, ID: m}
	}
	c.info = &info
	return c.info
}

// names returns what the call is booked on.
func (c *call) names() budget.Names {
	l, m := &c.req.Labels, c.model()
	return budget.Names{Session: l.Session, User: l.User, Tenant: l.Tenant, Pipeline: l.Pipeline, Task: l.Task,
		Agent: l.Agent, Kind: l.Kind,
		Provider: cmp.Or(m.Provider, c.guard.name), Model: m.ID, Extra: string(l.Extra)}
}

// cost returns the cost of u in millionths of a dollar, less than 0 if no price is known. Input
// that may be written to a cache is counted at the higher price.
func (c *call) cost(u provider.Usage) int64 {
	if c.models == nil {
		if c.models = c.guard.models; c.req.Model != "" {
			c.models = provider.InfosOf(c.guard.provider, c.req.Model)
		}
	}
	cost, known := provider.CostOf(c.models, c.answered, u)
	if !known {
		return -1
	}
	if u.CacheRead == 0 && u.CacheWrite == 0 && u.Estimated {
		u.CacheWrite = u.Input
		written, _ := provider.CostOf(c.models, c.answered, u)
		cost = max(cost, written)
	}
	return int64(cost)
}

// charge books the usage of the attempt, and returns its tokens.
func (c *call) charge(result error) int64 {
	u := c.usage(result)
	micros := c.cost(u)
	c.reservation.Settle(u.Total(), micros)
	if c.guard.ledger != nil {
		c.record(u, micros, result)
	}
	return u.Total()
}

// record adds an entry to the ledger. Its sink is foreign code: a panic there must not leak a slot.
func (c *call) record(u provider.Usage, micros int64, result error) {
	defer func() { _ = recover() }()
	took := time.Since(c.began) // quicker than the time
	c.guard.ledger.Record(budget.Entry{
		Time: c.began.Add(took), Names: c.names(), Latency: took, Outcome: c.outcomeOf(result),
		Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Reasoning: u.Reasoning,
		Estimated: u.Estimated, Micros: max(micros, 0), Priced: micros >= 0,
	})
}

// usage returns the usage of the attempt: what the provider has reported, else an estimate on the
// high side. If an answer broke off, the reported figures are from its beginning.
func (c *call) usage(result error) provider.Usage {
	u := c.reported
	switch {
	case u.Total() > 0 && c.ended:
	case u.Total() > 0:
		u.Output = max(u.Output, tokens(c.written))
		if u.Estimated = true; u.Input == 0 {
			u.Input = c.estimate()
		}
	case c.ended || c.started || !unbilled(result):
		u = provider.Usage{Input: c.estimate(), Output: tokens(c.written), Estimated: true}
	}
	if c.again > 0 {
		u.Input += c.again * c.estimate()
		u.Output += tokens(c.voided)
		u.Estimated = true
	}
	return u
}

// unbilled reports whether a provider that failed so, before its answer began, has done nothing
// that it is paid for. A call that was cut, or canceled, may have been at work.
func unbilled(err error) bool {
	var e *provider.Error
	if errors.As(err, &e) && e.Status >= 400 {
		return true
	}
	switch fault.Of(err) {
	case fault.RateLimited, fault.Degraded, fault.UserFixable, fault.Invalid, fault.NotFound, fault.Denied:
		return true
	}
	return false
}

// outcomeOf returns the ledger's word for how an attempt ended.
func (c *call) outcomeOf(result error) string {
	switch {
	case result == nil:
		return budget.CallDone
	case c.pre:
		return budget.CallPreempted
	case fault.Of(result) == fault.None, exhausted(result):
		return budget.CallAborted
	}
	return budget.CallFailed
}
