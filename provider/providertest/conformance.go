package providertest

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"runtime/debug"
	"testing"
	"time"

	"github.com/pawlkit/pawl/provider"
)

// An Option changes what [Conformance] expects, or how it asks.
type Option func(*suite)

// Strict adds what an adapter must keep and a short answer from memory needn't: a second range of
// one sequence yields [provider.ErrConsumed]; a nil request is an error; once the context is done
// no further chunk comes, only an error of class [fault.None].
func Strict() Option { return func(s *suite) { s.strict = true } }

// WithRequest has the suite ask with requests that ask makes, instead of its own: a short one with
// two tools. Each call of ask returns a new one; the user's text is up to it.
func WithRequest(ask func() *provider.Request) Option {
	return func(s *suite) { s.ask = func(string) *provider.Request { return ask() } }
}

// WithHanging has the suite call providers whose server hangs, too: before the answer, in its
// middle, or wherever else. Each function returns a new one. Once nothing comes any more, the suite
// cancels the call, which must end. A provider that declares that it ends with its context
// ([provider.Cancelable]) should be checked in this way.
func WithHanging(fresh ...func() provider.Provider) Option {
	return func(s *suite) { s.hanging = append(s.hanging, fresh...) }
}

// Conformance is the suite that every [provider.Provider] passes. Each check is a subtest that
// calls fresh for a provider of its own, which must answer the first call, and the second, in the
// same way each time: from a script, a recording or a server on loopback. What it checks:
//
//   - the grammar holds; the answer ends with End or an error, its text is valid UTF-8, its usage
//     is plausible
//   - an error comes alone and last
//   - the request isn't changed
//   - the collected answer survives JSON unchanged
//   - leaving the loop at any chunk leaves no goroutine behind (net/http's own that hold an idle
//     connection apart)
//   - a context canceled before the call, or in the middle of the answer, ends it soon, as an error
//     of class [fault.None] or as the rest of a short answer
//   - if the provider declares that it ends with its context ([provider.Cancelable]): canceling at
//     any chunk, or while the provider is at work, ends the call
//   - two calls at once don't mix
//
// An adapter asks for more with [Strict]:
//
//	func TestConformance(t *testing.T) {
//		providertest.Conformance(t, func() provider.Provider { return newAdapter(t, server.URL) },
//			providertest.Strict())
//	}
//
// Run it with the race detector on, and not in parallel with other tests, whose goroutines it would
// count.
func Conformance(t *testing.T, fresh func() provider.Provider, opts ...Option) {
	t.Helper()
	s := newSuite(fresh, opts)
	for _, c := range checks {
		if !c.strict || s.strict {
			t.Run(c.name, func(t *testing.T) { c.run(s, t) })
		}
	}
}

// A suite is what the checks work with.
type suite struct {
	fresh   func() provider.Provider
	ask     func(text string) *provider.Request
	hanging []func() provider.Provider
	strict  bool
	timeout time.Duration // for what must end
	settle  time.Duration // for goroutines that are about to end
}

func newSuite(fresh func() provider.Provider, opts []Option) *suite {
	s := &suite{fresh: fresh, ask: question, timeout: 10 * time.Second, settle: 2 * time.Second}
	for _, opt := range opts {
		opt(s)
	}
	return s
}

type check struct {
	name   string
	strict bool
	run    func(*suite, testing.TB)
}

var checks = []check{
	{"the grammar holds", false, answered((*record).grammar)},
	{"text is valid UTF-8", false, answered((*record).utf8)},
	{"usage is plausible", false, answered((*record).usage)},
	{"an error comes alone and last", false, (*suite).errorLast},
	{"the request is not changed", false, (*suite).requestKept},
	{"the answer survives JSON", false, answered((*record).roundTrip)},
	{"leaving at any chunk leaves nothing behind", false, (*suite).leave},
	{"a call of a canceled context ends", false, (*suite).canceledBefore},
	{"canceling in mid-stream ends the answer", false, (*suite).canceledAmid},
	{"a call that declares it ends with its context", false, (*suite).endsWithContext},
	{"a call of a hanging server ends with its context", false, (*suite).hangs},
	{"two calls at once do not mix", false, (*suite).twoAtOnce},
	{"a sequence is ranged over once", true, (*suite).singleUse},
	{"a nil request is an error", true, (*suite).nilRequest},
}

// question is the suite's own request. The spare room behind its slices isn't the provider's
// either; see requestKept.
func question(text string) *provider.Request {
	schema := json.RawMessage(
		`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"],"additionalProperties":false}`)
	return &provider.Request{
		System: "You are in a test. Answer briefly.",
		Messages: []provider.Message{
			provider.User("Hello. <b>Is anybody there?</b>"),
			provider.Assistant("Yes."),
			provider.User(text),
		},
		Tools: []provider.Tool{
			{Name: "weather", Description: "The weather in a city.", Schema: schema},
			{Name: "cms.createPage", Description: "Makes a page.", Schema: schema},
		},
		MaxOutput: 256,
		Labels:    provider.Labels{Session: "conformance", Kind: "step"},
	}
}

// A record is what came of one range.
type record struct {
	chunks []provider.Chunk
	err    error  // the first
	fault  string // what was wrong with how the error came
}

// play makes a call and ranges over all of its answer. each, if it isn't nil, is called with every
// chunk. It returns nil, and fails the test, if the call doesn't end in time or panics; its
// goroutine is left behind then.
func (s *suite) play(t testing.TB, ctx context.Context, p provider.Provider, req *provider.Request,
	each func(n int)) *record {
	t.Helper()
	if p == nil {
		t.Errorf("there is no provider: nil")
		return nil
	}
	return s.within(t, func() *record { return watch(p.Stream(ctx, req), each) })
}

// within runs f in a goroutine of its own, and returns nil if it doesn't end in time.
func (s *suite) within(t testing.TB, f func() *record) *record {
	t.Helper()
	type outcome struct {
		r        *record
		panicked any
		stack    []byte
		returned bool
	}
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			if o.panicked = recover(); o.panicked != nil {
				o.stack = debug.Stack()
			}
			done <- o
		}()
		o.r = f()
		o.returned = true
	}()
	timer := time.NewTimer(s.timeout)
	defer timer.Stop()
	select {
	case o := <-done:
		if !o.returned {
			t.Errorf("the provider panicked: %v\n%s", o.panicked, o.stack)
		}
		return o.r
	case <-timer.C:
		t.Errorf("the call didn't end within %v", s.timeout)
		return nil
	}
}

func watch(seq iter.Seq2[provider.Chunk, error], each func(n int)) *record {
	r := &record{}
	if seq == nil {
		r.fault = "Stream returned a nil sequence"
		return r
	}
	for c, err := range seq {
		switch {
		case r.err != nil:
			r.fault = "something was yielded after the error"
			return r
		case err != nil:
			r.err = err
			if c != (provider.Chunk{}) {
				r.fault = "the error came together with a chunk of kind " + c.Kind.String()
			}
		default:
			r.chunks = append(r.chunks, c)
			if each != nil {
				each(len(r.chunks))
			}
		}
	}
	return r
}

// ends returns what is wrong with the order of the chunks and how they end, or nil.
func (r *record) ends() error {
	var g provider.Grammar
	for i := range r.chunks {
		if err := g.Next(&r.chunks[i]); err != nil {
			return err
		}
	}
	switch {
	case r.err != nil && g.Complete():
		return errors.New("an error came after End")
	case r.err == nil && !g.Complete():
		return errors.New("the sequence ended without End and without an error")
	}
	return nil
}

// answer collects what came.
func (r *record) answer() *provider.Response {
	var c provider.Collector
	for _, chunk := range r.chunks {
		if c.Add(chunk) != nil {
			break
		}
	}
	return c.Response()
}
