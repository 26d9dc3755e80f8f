package guard

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/stream"
)

// Failover returns a provider that calls the first of these providers, and the next one when that
// fails, and so on. It is [NewChain] without events.
//
// It returns [provider.ErrNilProvider] if one of them is nil, and a *[ConfigError] if there is
// none.
func Failover(providers ...provider.Provider) (provider.Provider, error) {
	c, err := NewChain(ChainConfig{}, providers...)
	if err != nil {
		return nil, err // and not a nil *Chain in the interface
	}
	return c, nil
}

// ChainConfig configures a [Chain]. The zero ChainConfig is the documented default.
type ChainConfig struct {
	// Name identifies this chain in errors and events.
	Name string
	// OnEvent, if it isn't nil, is called with each [MovedOn], and with an [Escalation] when the
	// last provider has failed.
	OnEvent func(context.Context, Event)
	// LeaveAfter is how long an interactive call waits for the first byte of an answer, or another
	// sign of life, before the next provider that is free is asked. 0: 8 s, and 20 s if the request
	// asks for reasoning or has more than 50,000 tokens. Less than 0: a provider isn't left before
	// its guard gives up, after Config.FirstChunk.
	LeaveAfter time.Duration
}

// A Chain is a provider that calls others in order until one answers.
//
// It moves on when a provider fails with an error of class transient, rate_limited, degraded or
// user_fixable: when a [Guard] has given up, its breaker is open, the advised wait is too long, or
// a person has to fix the account. It doesn't move on
//
//   - once content is shown. A Reset of the provider itself makes it possible again, unless the
//     content showed a call that the provider ran, whose effects can't be undone
//   - when a budget is exhausted (*[budget.Error]), because the budget is the caller's and not the
//     provider's
//   - after a cancellation, and after an error of any other class, because the next provider would
//     fail, too.
//
// A guard whose provider fails as rate limited or degraded, or is silent for too long, and a guard
// whose gate is in a pause that its provider asked for, doesn't try again if a later provider is
// free: none of the guards around that one waits for a pause or a slot, and no breaker is open. If
// the later ones fail, too, the call comes back to it and is tried there as often as its guard
// allows. An interactive call leaves a silent provider after ChainConfig.LeaveAfter, without the time
// in a gate, once at most; the last provider, and one whose server is in the host's own network
// (such as localhost), have the whole FirstChunk of their guards. What was left is canceled, and its
// usage booked as unknown.
//
// The calls of a run stay with the provider that answered the one before, while that is free.
//
// A Start is held back until another chunk follows it, so that a provider that fails in between
// isn't visible. Each provider gets the request unchanged, except that opaque data of other
// providers of the chain is removed, as far as their names are known ([provider.ModelInfo]). The
// Model is unchanged, too: leave it empty to use each provider's default, or wrap each provider in
// a [provider.Router] with the same aliases.
//
// A Chain doesn't retry: its guards do. A Chain is safe for concurrent use.
type Chain struct {
	// fixed at creation
	cfg     ChainConfig
	members []member

	answered answered
}

type member struct {
	provider provider.Provider
	name     string
	foreign  []string // the names of other members' opaque data
}

// NewChain returns a Chain of these providers. It returns [provider.ErrNilProvider] if one of them
// is nil, and a *[ConfigError] if there is none or a value is invalid.
func NewChain(cfg ChainConfig, providers ...provider.Provider) (*Chain, error) {
	if len(providers) == 0 {
		return nil, wrong(cfg.Name, "providers", "empty", "use at least one provider")
	}
	if cfg.LeaveAfter > maxTime {
		return nil, wrong(cfg.Name, "LeaveAfter", cfg.LeaveAfter, "use at most a year, or 0 for the default")
	}
	c := &Chain{cfg: cfg}
	makers := make([]string, len(providers))
	for i, p := range providers {
		if isNil(p) {
			return nil, fmt.Errorf("guard: provider %d of %d: %w", i+1, len(providers), provider.ErrNilProvider)
		}
		info, _ := provider.Info(p)
		makers[i] = info.Provider
		c.members = append(c.members, member{provider: p, name: nameOf(p, info, i)})
	}
	for i := range c.members {
		for _, maker := range makers {
			if makers[i] != "" && maker != "" && maker != makers[i] && !slices.Contains(c.members[i].foreign, maker) {
				c.members[i].foreign = append(c.members[i].foreign, maker)
			}
		}
	}
	return c, nil
}

func nameOf(p provider.Provider, info provider.ModelInfo, i int) string {
	if n, ok := p.(interface{ Name() string }); ok && n.Name() != "" {
		return n.Name()
	}
	if info.Provider != "" {
		return info.Provider
	}
	return "provider " + strconv.Itoa(i+1)
}

// Name returns the name from the ChainConfig.
func (c *Chain) Name() string { return c.cfg.Name }

// Unwrap returns the providers, in order.
func (c *Chain) Unwrap() []provider.Provider {
	if c == nil {
		return nil
	}
	ps := make([]provider.Provider, len(c.members))
	for i := range c.members {
		ps[i] = c.members[i].provider
	}
	return ps
}

// EndsWithContext reports whether all providers of c declare that they end with their context.
func (c *Chain) EndsWithContext() bool {
	if c == nil {
		return false
	}
	for i := range c.members {
		if !provider.EndsWithContext(c.members[i].provider) {
			return false
		}
	}
	return true
}

// Stream calls the providers in order. If none answers, the error is the provider's if only one was
// called, else a *[FailoverError].
func (c *Chain) Stream(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
	if ctx == nil {
		ctx = context.Background()
	}
	return stream.Once((&relay{chain: c, ctx: ctx, req: req}).run)
}

// A relay is one call of a [Chain].
type relay struct {
	chain    *Chain
	ctx      context.Context
	req      *provider.Request
	yield    func(provider.Chunk, error) bool
	order    []int // of the members
	attempts []Attempt
	again    []int // members that only left the call to a later one; asked once more after all

	showing
	err  error // of the current provider
	over bool  // it has yielded its error
}

// showing is the part of an answer that the consumer has got.
type showing struct {
	start   provider.Chunk // held back until another chunk follows
	held    bool
	begun   bool // Start was shown
	content bool // content that can't be taken back was shown
	effects bool // a call that the provider ran was shown
	ended   bool
	stopped bool // the consumer is gone
	body    bool // its loop body is running; stays if that panics
}

func (r *relay) run(yield func(provider.Chunk, error) bool) {
	switch {
	case r.chain == nil || len(r.chain.members) == 0:
		yield(provider.Chunk{}, provider.ErrNilProvider)
		return
	case r.req == nil:
		yield(provider.Chunk{}, provider.ErrNilRequest)
		return
	}
	r.yield = yield
	r.order = r.chain.order(r.req)
	for i := 0; ; i++ {
		r.err, r.over, r.held = nil, false, false
		r.ask(i)
		if r.stopped || r.body {
			return
		}
		if r.err == nil && !r.ended {
			r.err = provider.ErrIncomplete
		}
		if r.err == nil {
			r.chain.answered.by(r.req.Labels.Run, r.index(i))
			return
		}
		if !r.moveOn(i, i+1) {
			return
		}
	}
}

func (r *relay) ask(i int) {
	m := r.member(i)
	if seq := m.provider.Stream(r.hinted(r.ctx, i), own(r.req, m.foreign)); seq != nil {
		seq(r.next)
	}
}

// next is the loop body of a call.
func (r *relay) next(chunk provider.Chunk, err error) bool {
	if r.over || r.stopped || r.body {
		return false
	}
	if err != nil {
		r.over, r.err = true, usable(err)
		return false
	}
	return r.pass(chunk)
}

// pass yields a chunk of the current provider, or holds it back.
func (r *relay) pass(chunk provider.Chunk) bool {
	switch chunk.Kind {
	case provider.KindWaiting:
		return r.show(chunk)
	case provider.KindStart:
		if !r.held && !r.begun {
			r.start, r.held = chunk, true
			return true
		}
	case provider.KindReset:
		if r.held {
			r.held = false
			return true
		}
		r.begun, r.content = false, false
		return r.show(chunk)
	case provider.KindProviderCall:
		r.effects = true
	case provider.KindEnd:
		r.ended = true
	}
	if r.held {
		r.held = false
		if !r.show(r.start) {
			return false
		}
	}
	r.begun, r.content = true, true
	return r.show(chunk)
}

func (r *relay) show(chunk provider.Chunk) bool {
	r.body = true
	ok := r.yield(chunk, nil)
	r.body, r.stopped = false, !ok
	return ok
}

// moveOn records the provider's error, and reports whether the next provider is to be called. If
// not, it has yielded the error.
func (r *relay) moveOn(from, to int) bool {
	if r.ctx.Err() != nil && !r.ended {
		r.fail(canceled(r.ctx))
		return false
	}
	r.record(from, r.err)
	stays := r.content || r.effects || r.ended || !movesOn(r.err) || isHalted(r.ctx)
	if stays || to >= len(r.chain.members)+len(r.again) {
		r.fail(r.chain.failure(r.attempts, stays))
		return false
	}
	tell(r.ctx, r.chain.cfg.OnEvent, MovedOn{From: r.member(from).name, To: r.member(to).name, Err: r.err})
	return true
}

// member returns the provider that is asked as number i.
func (r *relay) member(i int) *member { return &r.chain.members[r.index(i)] }

// index returns which provider is asked as number i: all in their order, then those that are asked
// again.
func (r *relay) index(i int) int {
	if n := len(r.order); i >= n {
		return r.again[i-n]
	}
	return r.order[i]
}

// record records why member i hasn't answered.
func (r *relay) record(i int, err error) {
	r.attempts = append(r.attempts, Attempt{Name: r.member(i).name, Err: err, member: r.index(i)})
	if i < len(r.chain.members) && leftFor(err) {
		r.again = append(r.again, r.order[i])
	}
}

func (r *relay) fail(err error) {
	if class := fault.Of(err); class != fault.None && r.chain.cfg.OnEvent != nil {
		var errs []error
		for _, t := range r.attempts {
			errs = append(errs, t.Err)
		}
		tell(r.ctx, r.chain.cfg.OnEvent,
			Escalation{Name: r.chain.cfg.Name, Class: class, Err: err, Errors: errs, Remedies: Remedies(err)})
	}
	r.yield(provider.Chunk{}, err)
}

// movesOn reports whether another provider may succeed where one has failed with err.
func movesOn(err error) bool {
	if exhausted(err) {
		return false
	}
	class := fault.Of(err)
	return fault.Retryable(class) || class == fault.UserFixable
}

// own returns req without the opaque data of these providers.
func own(req *provider.Request, foreign []string) *provider.Request {
	if len(foreign) == 0 {
		return req
	}
	theirs := func(p provider.Part) bool { return p.Opaque != nil && slices.Contains(foreign, p.Opaque.Provider) }
	var out *provider.Request
	for i := range req.Messages {
		if !slices.ContainsFunc(req.Messages[i].Parts, theirs) {
			continue
		}
		if out == nil {
			c := *req
			c.Messages = slices.Clone(req.Messages)
			out = &c
		}
		parts := make([]provider.Part, 0, len(req.Messages[i].Parts))
		for _, p := range req.Messages[i].Parts {
			if theirs(p) {
				if p.Kind == provider.PartOpaque {
					continue
				}
				p.Opaque = nil
			}
			parts = append(parts, p)
		}
		out.Messages[i].Parts = parts
	}
	if out == nil {
		return req
	}
	out.Messages = slices.DeleteFunc(out.Messages, func(m provider.Message) bool { return len(m.Parts) == 0 })
	return out
}

// An Attempt is a provider that a [Chain] has called, and why it didn't answer.
type Attempt struct {
	Name string
	Err  error

	member int
}

func (c *Chain) failure(attempts []Attempt, last bool) error {
	if len(attempts) == 1 {
		return attempts[0].Err
	}
	e := &FailoverError{Name: c.cfg.Name, Attempts: attempts, Class: fault.Of(attempts[len(attempts)-1].Err)}
	if e.Class == fault.None {
		return attempts[len(attempts)-1].Err // it was canceled, and that is no failure of anybody
	}
	for _, t := range attempts {
		if class := fault.Of(t.Err); !last && class < e.Class {
			e.Class = class // movesOn has seen to it that it is one of those four, which are in that order
		}
	}
	return e
}
