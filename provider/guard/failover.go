package guard

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

// Failover returns a provider that asks the first of these, and when that can't answer the next, and so on. It is
// [NewChain] without a Hedge and events.
//
// It returns [provider.ErrNilProvider] if one of them is nil, and a *[ConfigError] if there is none.
func Failover(providers ...provider.Provider) (provider.Provider, error) {
	c, err := NewChain(ChainConfig{}, providers...)
	if err != nil {
		return nil, err // and not a nil *Chain in the interface
	}
	return c, nil
}

// ChainConfig is what a [Chain] can be told. The zero ChainConfig is the documented default.
type ChainConfig struct {
	// Name tells this chain from others, in errors and events.
	Name string
	// Hedge makes a call a second time, with the next provider or, if there is none, with the same one, when nothing of
	// an answer has come by then: no content, whatever the reason, waiting for a slot among them. What comes first is
	// taken, and the other call is canceled, which costs what it had used by then. It is not for requests whose
	// provider runs tools that have effects, because both may run them. A call with a Hedge has a goroutine for each
	// attempt under way, and a hand-over for each chunk; none is left when the loop over the answer is over. 0: never.
	Hedge time.Duration
	// OnEvent, if it isn't nil, is told of each [MovedOn] and [Hedged], and of an [Escalation] when the last provider has
	// failed.
	OnEvent func(context.Context, Event)
}

// A Chain is a provider that asks others in turn until one answers.
//
// It moves on when a provider fails with an error of class transient, rate_limited, degraded or user_fixable: that is
// when a [Guard] has given up, its breaker is open, the wait that is asked for is too long, or somebody has to see to
// the account. It doesn't move on
//
//   - once content is shown. A Reset of the provider itself takes that back, unless the content showed a call that the provider
//     ran: its effects can't be taken back
//   - when a budget is exhausted (*[ratelimit.BudgetError]): that is the caller's, not the provider's
//   - after what was canceled, and after an error of any other class, with which the next provider would fail, too.
//
// A Start is held back until something follows it, so that a provider that fails in between leaves no trace. A provider
// is asked with the request as it is, without the opaque data that others of the chain have made, as far as their names
// are known ([provider.ModelInfo]). It is asked for the request's Model: leave that empty to have each provider's own,
// or put a [provider.Router] with the same aliases in front of each.
//
// It tries nothing again by itself: the attempts of a call are those of its guards. A Chain is safe for concurrent use.
type Chain struct {
	// fixed at creation
	cfg     ChainConfig
	members []member
}

type member struct {
	provider provider.Provider
	name     string
	foreign  []string // the names of other members' opaque data
}

// NewChain returns a Chain of these providers. It returns [provider.ErrNilProvider] if one of them is nil, and a
// *[ConfigError] if there is none or a figure makes no sense.
func NewChain(cfg ChainConfig, providers ...provider.Provider) (*Chain, error) {
	if len(providers) == 0 {
		return nil, &ConfigError{Name: cfg.Name, Field: "providers", Value: "empty", Want: "use at least one provider"}
	}
	if cfg.Hedge < 0 || cfg.Hedge > maxTime {
		return nil, &ConfigError{cfg.Name, "Hedge", cfg.Hedge, "use more than 0 and at most a year, or 0 for never"}
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

// Stream asks the providers in turn. When none has answered, the error is that of the provider if only one was asked,
// else a *[FailoverError].
func (c *Chain) Stream(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
	if ctx == nil {
		ctx = context.Background()
	}
	r := &relay{chain: c, ctx: ctx, req: req}
	return r.run
}

// A relay is one call of a [Chain].
type relay struct {
	chain    *Chain
	ctx      context.Context
	req      *provider.Request
	used     atomic.Bool
	yield    func(provider.Chunk, error) bool
	attempts []Tried

	showing
	err  error // of the provider under way
	over bool  // it has yielded its error
}

// showing is what the consumer has of an answer.
type showing struct {
	start   provider.Chunk // held back until something follows
	held    bool
	begun   bool // Start was shown
	content bool // and something that stands
	effects bool // a call that the provider ran was shown
	ended   bool
	stopped bool // the consumer is gone
	body    bool // its loop body is running; stays if that panics
}

func (r *relay) run(yield func(provider.Chunk, error) bool) {
	if r.used.Swap(true) {
		yield(provider.Chunk{}, provider.ErrConsumed)
		return
	}
	switch {
	case r.chain == nil || len(r.chain.members) == 0:
		yield(provider.Chunk{}, provider.ErrNilProvider)
		return
	case r.req == nil:
		yield(provider.Chunk{}, provider.ErrNilRequest)
		return
	}
	r.yield = yield
	if r.chain.cfg.Hedge > 0 {
		r.hedged()
		return
	}
	for i := range r.chain.members {
		r.err, r.over, r.held = nil, false, false
		r.ask(i)
		if r.stopped || r.body {
			return
		}
		if r.err == nil && !r.ended {
			r.err = provider.ErrIncomplete
		}
		if r.err == nil {
			return
		}
		if !r.moveOn(i, i+1) {
			return
		}
	}
}

func (r *relay) ask(i int) {
	m := &r.chain.members[i]
	if seq := m.provider.Stream(r.ctx, own(r.req, m.foreign)); seq != nil {
		seq(r.next)
	}
}

// next is the loop body of a call.
func (r *relay) next(chunk provider.Chunk, err error) bool {
	if r.over || r.stopped || r.body {
		return false
	}
	if err != nil {
		r.over, r.err = true, err
		return false
	}
	return r.pass(chunk)
}

// pass shows a chunk of the provider under way, or holds it back.
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

// moveOn notes the error of the provider asked, and reports whether the next is to be asked. If not, it has told the
// consumer.
func (r *relay) moveOn(from, to int) bool {
	if r.ctx.Err() != nil && !r.ended {
		r.fail(canceled(r.ctx))
		return false
	}
	name := r.chain.members[from].name
	r.attempts = append(r.attempts, Tried{Name: name, Err: r.err})
	stays := r.content || r.effects || r.ended || !movesOn(r.err)
	if stays || to >= len(r.chain.members) {
		r.fail(r.chain.failure(r.attempts, stays))
		return false
	}
	tell(r.ctx, r.chain.cfg.OnEvent, MovedOn{From: name, To: r.chain.members[to].name, Err: r.err})
	return true
}

func (r *relay) fail(err error) {
	if class := fault.Of(err); class != fault.None && r.chain.cfg.OnEvent != nil {
		var errs []error
		for _, t := range r.attempts {
			errs = append(errs, t.Err)
		}
		tell(r.ctx, r.chain.cfg.OnEvent, Escalation{Name: r.chain.cfg.Name, Class: class, Err: err, Tried: errs, Remedies: Remedies(err)})
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

// own returns req without what these providers made for themselves.
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

// Tried is a provider that a [Chain] has asked, and why it didn't answer.
type Tried struct {
	Name string
	Err  error
}

// A FailoverError is a call that more than one provider of a [Chain] has failed. errors.Is and errors.As look into the
// errors of all, in the order in which they were asked.
type FailoverError struct {
	Name  string // of the chain
	Tried []Tried
	// Class is that of the last error if it is why no other provider was asked; else that of the failure most likely to
	// pass: transient before rate_limited, degraded and user_fixable.
	Class fault.Class
}

func (c *Chain) failure(attempts []Tried, last bool) error {
	if len(attempts) == 1 {
		return attempts[0].Err
	}
	e := &FailoverError{Name: c.cfg.Name, Tried: attempts, Class: fault.Of(attempts[len(attempts)-1].Err)}
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

// Error says of each provider why it failed.
func (e *FailoverError) Error() string {
	text := "failover"
	if e.Name != "" {
		text += " " + e.Name
	}
	text += ": no provider has answered"
	for i, t := range e.Tried {
		sep := "; "
		if i == 0 {
			sep = ": "
		}
		text += fmt.Sprintf("%s%s: %v", sep, t.Name, t.Err)
	}
	return text
}

// Unwrap returns the errors of the providers.
func (e *FailoverError) Unwrap() []error {
	errs := make([]error, len(e.Tried))
	for i := range e.Tried {
		errs[i] = e.Tried[i].Err
	}
	return errs
}

// Fault returns Class.
func (e *FailoverError) Fault() fault.Class { return e.Class }

// RetryAfter returns the shortest wait that any of the providers has advised.
func (e *FailoverError) RetryAfter() (wait time.Duration, ok bool) {
	for _, t := range e.Tried {
		if d, told := fault.RetryAfter(t.Err); told && (!ok || d < wait) {
			wait, ok = d, true
		}
	}
	return wait, ok
}
