package guard_test

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/guard"
	"github.com/pawlkit/pawl/ratelimit"
	"github.com/pawlkit/pawl/ratelimit/budget"
	"github.com/pawlkit/pawl/stream"
)

var backupStart = provider.Start("fake-2")

// another answers as good does, and can be told from it.
func another() *fake {
	return &fake{scripts: []script{{say(backupStart, provider.Text("from the backup"), end)}}}
}

// events collects what a hook is told.
type events struct {
	mu  sync.Mutex
	all []guard.Event
}

func (e *events) add(_ context.Context, ev guard.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, ev)
}

func newChain(t testing.TB, cfg guard.ChainConfig, ps ...provider.Provider) *guard.Chain {
	c, err := guard.NewChain(cfg, ps...)
	require.NoError(t, err)
	return c
}

func TestTheFirstThatAnswersIsTheOnlyOneAsked(t *testing.T) {
	first, second := &fake{scripts: []script{good}}, another()
	p, err := guard.Failover(first, second)
	require.NoError(t, err)
	got := watch(p.Stream(t.Context(), ask))
	require.NoError(t, got.err)
	require.Equal(t, []provider.ChunkKind{provider.KindStart, provider.KindText, provider.KindEnd}, got.kinds)
	require.Equal(t, "fine", got.text)
	require.Zero(t, second.calls.Load())
	require.Equal(t, []provider.Provider{first, second}, p.(*guard.Chain).Unwrap())
}

func TestWhatMovesOnAndWhatDoesNot(t *testing.T) {
	open := &circuit.OpenError{Name: "llm", RetryAfter: 30 * s}
	for name, tc := range map[string]struct {
		err   error
		moves bool
	}{
		"transient":    {failure(fault.Transient), true},
		"rate limited": {failure(fault.RateLimited), true},
		"degraded":     {failure(fault.Degraded), true},
		"user-fixable": {failure(fault.UserFixable), true},
		"open breaker": {open, true},
		"long retry-after": {&guard.GaveUpError{Class: fault.RateLimited,
			Err: fault.WithRetryAfter(failure(fault.RateLimited), time.Hour)}, true},
		"given up":           {&guard.GaveUpError{Class: fault.Transient, Err: failure(fault.Transient)}, true},
		"given up for good":  {&guard.GaveUpError{Class: fault.Permanent, Err: failure(fault.Permanent)}, false},
		"permanent":          {failure(fault.Permanent), false},
		"invalid":            {failure(fault.Invalid), false},
		"not found":          {failure(fault.NotFound), false},
		"denied":             {failure(fault.Denied), false},
		"canceled":           {context.Canceled, false},
		"preempted":          {ratelimit.ErrPreempted, false},
		"budget":             {&budget.Error{Limit: 1}, false},
		"given up by budget": {&guard.GaveUpError{Class: fault.UserFixable, Err: &budget.Error{Limit: 1}}, false},
		"incomplete":         {provider.ErrIncomplete, true},
	} {
		t.Run(name, func(t *testing.T) {
			for _, before := range []script{nil, {say(start)},
				{say(provider.Waiting(provider.Wait{Reason: provider.WaitQueued}), start)},
				{say(start, provider.Text("void"), provider.Reset("again"), start)}} {
				first, second := &fake{scripts: []script{append(before[:len(before):len(before)], fail(tc.err))}},
					another()
				var told events
				got := watch(newChain(t, guard.ChainConfig{Name: "c", OnEvent: told.add}, first,
					second).Stream(t.Context(), ask))
				if !tc.moves {
					require.Equal(t, tc.err, got.err, "as it came")
					require.Zero(t, second.calls.Load())
					require.Empty(t, got.text)
					continue
				}
				require.NoError(t, got.err)
				require.Equal(t, "from the backup", got.text)
				require.Equal(t, []guard.Event{guard.MovedOn{From: "provider 1", To: "provider 2", Err: tc.err}},
					told.all)
			}
		})
	}
}

func TestAChainIsCommittedToWhatItHasShown(t *testing.T) {
	ran := provider.ProviderCall(provider.ToolCall{Name: "search"})
	for name, tc := range map[string]struct {
		shown script
		moves bool
	}{
		"start alone":                  {script{say(start)}, true},
		"text":                         {script{say(start, provider.Text("half"))}, false},
		"reasoning":                    {script{say(start, provider.Reasoning("hm"))}, false},
		"a call":                       {script{say(start, provider.ToolStart(0, "", "f"))}, false},
		"text, taken back":             {script{say(start, provider.Text("half"), provider.Reset("x"))}, true},
		"a provider's call":            {script{say(start, ran)}, false},
		"a provider's call, then void": {script{say(start, ran, provider.Reset("x"))}, false},
	} {
		t.Run(name, func(t *testing.T) {
			cut := failure(fault.Degraded)
			first, second := &fake{scripts: []script{append(tc.shown[:len(tc.shown):len(tc.shown)], fail(cut))}},
				another()
			c := newChain(t, guard.ChainConfig{}, first, second)
			res, err := stream.Collect(stream.Check(c.Stream(t.Context(), ask)))
			if !tc.moves {
				require.Equal(t, cut, err)
				require.Zero(t, second.calls.Load())
				return
			}
			require.NoError(t, err)
			require.Equal(t, "from the backup", res.Text())
		})
	}
}

func TestTheErrorOfAChainNamesEveryProvider(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := fault.WithRetryAfter(failure(fault.Degraded), 40*s)
		key := fault.NewFixable("no key", "set BACKUP_KEY", nil)
		named := newGuard(t, &fake{scripts: []script{{fail(down)}}},
			guard.Config{Name: "primary", MaxRetryAfter: s})
		var told events
		c := newChain(t, guard.ChainConfig{Name: "llm", OnEvent: told.add}, named,
			&fake{scripts: []script{{fail(key)}}})
		got := watch(c.Stream(t.Context(), ask))
		var all *guard.FailoverError
		require.ErrorAs(t, got.err, &all)
		require.Equal(t, []string{"primary", "provider 2"}, []string{all.Attempts[0].Name, all.Attempts[1].Name})
		require.ErrorIs(t, got.err, down)
		require.ErrorIs(t, got.err, key)
		require.Equal(t, fault.Degraded, fault.Of(got.err), "the failure that is most likely to pass")
		wait, ok := fault.RetryAfter(got.err)
		require.True(t, ok)
		require.Equal(t, 40*s, wait)
		require.EqualError(t, got.err,
			"failover llm: no provider has answered: primary: guard primary: gave up after 1 attempt "+
				"(it asks for a wait of 40s, longer than 1s): fake: degraded; provider 2: no key (remedy: set "+
				"BACKUP_KEY)")
		var gaveUp *guard.GaveUpError
		require.ErrorAs(t, got.err, &gaveUp, "so that no guard around the chain tries again")
		require.Len(t, told.all, 2)
		e := told.all[1].(guard.Escalation)
		require.Equal(t, got.err, e.Err)
		require.Equal(t, []error{all.Attempts[0].Err, all.Attempts[1].Err}, e.Errors)
		require.Equal(t, "set BACKUP_KEY", e.Remedies[0])
	})
}

func TestTheClassOfAChainsErrorIsThatOfWhatStoppedIt(t *testing.T) {
	c := newChain(t, guard.ChainConfig{}, &fake{scripts: []script{{fail(failure(fault.Degraded))}}},
		&fake{scripts: []script{{fail(failure(fault.Invalid))}}}, another())
	got := watch(c.Stream(t.Context(), ask))
	var all *guard.FailoverError
	require.ErrorAs(t, got.err, &all)
	require.Len(t, all.Attempts, 2)
	require.Equal(t, fault.Invalid, fault.Of(got.err))
	_, told := fault.RetryAfter(got.err)
	require.False(t, told)
}

func TestAChainDoesNotMultiplyAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := &fake{scripts: []script{{fail(failure(fault.Degraded))}}},
			&fake{scripts: []script{{fail(failure(fault.Transient))}}}
		chain := newChain(t, guard.ChainConfig{}, newGuard(t, first, guard.Config{Name: "a"}),
			newGuard(t, second, guard.Config{Name: "b"}))
		outer := newGuard(t, chain, guard.Config{Name: "outer"})
		got := watch(outer.Stream(t.Context(), ask))
		var all *guard.FailoverError
		require.ErrorAs(t, got.err, &all)
		require.EqualValues(t, 3, first.calls.Load())
		require.EqualValues(t, 5, second.calls.Load())
	})
}

func TestACanceledCallOfAChainMovesNowhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stop := errors.New("the user left")
		ctx, cancel := context.WithCancelCause(t.Context())
		spoiled := func(ctx context.Context, yield func(provider.Chunk, error) bool) bool {
			<-ctx.Done()
			yield(provider.Chunk{}, failure(fault.Transient)) // what some make of it
			return false
		}
		first, second := &fake{scripts: []script{{spoiled}}}, another()
		var told events
		time.AfterFunc(s, func() { cancel(stop) })
		got := watch(newChain(t, guard.ChainConfig{OnEvent: told.add}, first, second).Stream(ctx,
			ask))
		require.ErrorIs(t, got.err, stop)
		require.ErrorIs(t, got.err, context.Canceled)
		require.Zero(t, second.calls.Load())
		require.Empty(t, told.all)
	})
}

// maker is a provider with a name, as adapters have one, that keeps the requests it gets.
type maker struct {
	*fake
	name string
	got  *provider.Request
}

func (m *maker) Info() provider.ModelInfo { return provider.ModelInfo{Provider: m.name} }

func (m *maker) Stream(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
	m.got = req
	return m.fake.Stream(ctx, req)
}

func TestOpaqueDataGoesBackToItsMakerAlone(t *testing.T) {
	made := func(by string) *provider.Opaque { return &provider.Opaque{Provider: by, Data: "sealed"} }
	reply := provider.Message{Role: provider.RoleAssistant, Parts: []provider.Part{
		{Kind: provider.PartReasoning, Text: "hm", Opaque: made("a")},
		{Kind: provider.PartOpaque, Opaque: made("a")},
		{Kind: provider.PartText, Text: "so", Opaque: made("b")},
		{Kind: provider.PartText, Text: "far", Opaque: made("somebody else")},
	}}
	sealed := provider.Message{Role: provider.RoleAssistant,
		Parts: []provider.Part{{Kind: provider.PartOpaque, Opaque: made("a")}}}
	req := &provider.Request{Messages: []provider.Message{provider.User("x"), reply, sealed, provider.User("y")}}
	before := req.Clone()
	before.Messages[1].Parts = append([]provider.Part(nil), reply.Parts...)

	a := &maker{fake: &fake{scripts: []script{{fail(failure(fault.Degraded))}}}, name: "a"}
	b := &maker{fake: another(), name: "b"}
	unknown := provider.Func(a.Stream)
	require.NoError(t, watch(newChain(t, guard.ChainConfig{}, a, b).Stream(t.Context(), req)).err)
	require.Equal(t, before, req, "the caller's request stays as it was")
	require.Equal(t, []provider.Part{
		{Kind: provider.PartReasoning, Text: "hm", Opaque: made("a")},
		{Kind: provider.PartOpaque, Opaque: made("a")},
		{Kind: provider.PartText, Text: "so"},
		{Kind: provider.PartText, Text: "far", Opaque: made("somebody else")},
	}, a.got.Messages[1].Parts)
	require.Len(t, b.got.Messages, 3, "a message without a part is none")
	require.Equal(t, []provider.Part{
		{Kind: provider.PartReasoning, Text: "hm"},
		{Kind: provider.PartText, Text: "so", Opaque: made("b")},
		{Kind: provider.PartText, Text: "far", Opaque: made("somebody else")},
	}, b.got.Messages[1].Parts)
	require.Equal(t, "y", b.got.Messages[2].Text())

	require.NoError(t, watch(newChain(t, guard.ChainConfig{}, unknown, b).Stream(t.Context(), req)).err)
	require.Same(t, req, b.got, "nobody knows what is foreign")
	plain := &provider.Request{Messages: []provider.Message{provider.User("x")}}
	require.NoError(t, watch(newChain(t, guard.ChainConfig{}, a, b).Stream(t.Context(), plain)).err)
	require.Same(t, plain, b.got, "nothing is copied without need")
}

func TestLeavingAChainAtAnyChunkLeavesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for at := range 5 {
			for _, how := range []string{"break", "panic", "goexit"} {
				var ctx context.Context
				spy := func(c context.Context, _ func(provider.Chunk, error) bool) bool { ctx = c; return true }
				first := &fake{scripts: []script{{say(provider.Waiting(provider.Wait{}),
					provider.Waiting(provider.Wait{}), start), fail(failure(fault.Degraded))}}}
				second := &fake{scripts: []script{{spy, say(start, provider.Text("x")), wait(s), say(end)}}}
				n := leaveAt(newChain(t, guard.ChainConfig{}, newGuard(t, first, guard.Config{}),
					newGuard(t, second, guard.Config{})).Stream(t.Context(), ask), at, how)
				require.Equal(t, at+1, n, "%s at %d", how, at)
				synctest.Wait()
				if ctx != nil {
					require.Error(t, ctx.Err())
				}
			}
		}
	})
}

// leaveAt ranges over seq up to the chunk of that number, leaves in that way, and returns how many
// chunks it has seen.
func leaveAt(seq stream.Seq, at int, how string) int {
	n, gone := 0, make(chan struct{})
	go func() {
		defer close(gone)
		defer func() { _ = recover() }()
		for range seq {
			if n++; n <= at {
				continue
			}
			switch how {
			case "break":
				return
			case "panic":
				panic("mine")
			case "goexit":
				runtime.Goexit()
			}
		}
	}()
	<-gone
	return n
}

func TestAChainOfNothingIsRefused(t *testing.T) {
	var bad *guard.ConfigError
	p, err := guard.Failover()
	require.ErrorAs(t, err, &bad)
	require.Nil(t, p)
	p, err = guard.Failover(another(), nil)
	require.ErrorIs(t, err, provider.ErrNilProvider)
	require.Nil(t, p)

	c := newChain(t, guard.ChainConfig{Name: "c"}, another())
	require.Equal(t, "c", c.Name())
	require.ErrorIs(t, watch(c.Stream(t.Context(), nil)).err, provider.ErrNilRequest)
	var noContext context.Context
	seq := c.Stream(noContext, ask)
	require.NoError(t, watch(seq).err)
	require.ErrorIs(t, watch(seq).err, provider.ErrConsumed)
	var none *guard.Chain
	require.ErrorIs(t, watch(none.Stream(t.Context(), ask)).err, provider.ErrNilProvider)
	require.Empty(t, none.Unwrap())
}
