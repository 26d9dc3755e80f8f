package provider_test

import (
	"context"
	"errors"
	"iter"
	"strconv"
	"testing"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/stretchr/testify/require"
)

// answers returns a provider that yields these chunks, and then err if there is one.
func answers(err error, chunks ...provider.Chunk) provider.Provider {
	return provider.Func(func(context.Context, *provider.Request) iter.Seq2[provider.Chunk, error] {
		return func(yield func(provider.Chunk, error) bool) {
			for _, c := range chunks {
				if !yield(c, nil) {
					return
				}
			}
			if err != nil {
				yield(provider.Chunk{}, err)
			}
		}
	})
}

func TestGenerateCollectsAnAnswer(t *testing.T) {
	p := answers(nil, provider.Waiting(provider.Wait{Reason: provider.WaitQueued}), provider.Start("m"),
		provider.Text("It is "), provider.Text("cold."),
		provider.End(provider.StopDone, provider.Usage{Input: 3, Output: 2}))
	r, err := provider.Generate(t.Context(), p, &provider.Request{})
	require.NoError(t, err)
	require.Equal(t, &provider.Response{Model: "m", Parts: []provider.Part{provider.TextPart("It is cold.")},
		Stop:  provider.StopDone,
		Usage: provider.Usage{Input: 3, Output: 2}, Complete: true}, r)
	require.EqualValues(t, 5, r.Usage.Total())
}

func TestATextIsACompleteResponse(t *testing.T) {
	p := answers(nil, provider.Start(""), provider.Text("Hello."), provider.End(provider.StopDone, provider.Usage{}))
	r, err := provider.Generate(t.Context(), p, &provider.Request{})
	require.NoError(t, err)
	require.Equal(t, r, provider.TextResponse("Hello."))
}

func TestAFailedCallGivesWhatHadCome(t *testing.T) {
	boom := fault.New(fault.Degraded, "boom")
	start, text := provider.Start("m"), provider.Text("so far")
	for name, c := range map[string]struct {
		p    provider.Provider
		want error
		text string
	}{
		"error":         {answers(boom, start, text), boom, "so far"},
		"error at once": {answers(boom), boom, ""},
		"no End":        {answers(nil, start, text), provider.ErrIncomplete, "so far"},
		"nothing":       {answers(nil), provider.ErrIncomplete, ""},
		"nil sequence": {provider.Func(func(context.Context, *provider.Request) iter.Seq2[provider.Chunk, error] {
			return nil
		}), provider.ErrIncomplete, ""},
		"nil":           {nil, provider.ErrNilProvider, ""},
		"nil pointer":   {(*wrapper)(nil), provider.ErrNilProvider, ""},
		"nil function":  {provider.Func(nil), provider.ErrNilProvider, ""},
		"reset at last": {answers(boom, start, text, provider.Reset("again")), boom, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := provider.Generate(t.Context(), c.p, &provider.Request{})
			require.ErrorIs(t, err, c.want)
			require.NotNil(t, r)
			require.Equal(t, c.text, r.Text())
			require.False(t, r.Complete)
		})
	}
}

func TestAChunkThatDoesNotFitEndsTheCall(t *testing.T) {
	r, err := provider.Generate(t.Context(), answers(nil, provider.Start("m"), provider.Text("x"), provider.Start("m"),
		provider.Text("y")), &provider.Request{})
	var g *provider.GrammarError
	require.ErrorAs(t, err, &g)
	require.Equal(t, provider.KindStart, g.Kind)
	require.Equal(t, "x", r.Text())
}

func TestANilRequestIsAnError(t *testing.T) {
	_, err := provider.Generate(t.Context(), answers(nil), nil)
	require.ErrorIs(t, err, provider.ErrNilRequest)
	_, err = provider.CountTokens(t.Context(), answers(nil), nil)
	require.ErrorIs(t, err, provider.ErrNilRequest)
	_, err = provider.CollectSeq(nil)
	require.ErrorIs(t, err, provider.ErrIncomplete)
}

// A knower knows its model and can count.
type knower struct {
	provider.Func
	name string
	err  error
}

func (k knower) Info() provider.ModelInfo { return provider.ModelInfo{ID: k.name} }
func (k knower) CountTokens(context.Context, *provider.Request) (int, error) {
	return len(k.name), k.err
}

type wrapper struct {
	provider.Func
	inner provider.Provider
}

func (w *wrapper) Unwrap() provider.Provider { return w.inner }

type several struct {
	provider.Func
	inner []provider.Provider
}

func (s several) Unwrap() []provider.Provider { return s.inner }

func TestWhatIsWrappedIsAsked(t *testing.T) {
	known := knower{name: "m-1"}
	plainOne := provider.Func(func(context.Context, *provider.Request) iter.Seq2[provider.Chunk, error] { return nil })
	itself := &wrapper{}
	itself.inner = itself
	listed := &several{}
	listed.inner = []provider.Provider{listed}
	deep := provider.Provider(known)
	for range 20 {
		deep = &wrapper{inner: deep}
	}
	for name, c := range map[string]struct {
		p    provider.Provider
		want string
	}{
		"itself":         {known, "m-1"},
		"wrapped":        {&wrapper{inner: known}, "m-1"},
		"deep":           {deep, "m-1"},
		"outermost wins": {struct{ knower }{knower{name: "outer"}}, "outer"},
		"first of many": {
			several{inner: []provider.Provider{nil, plainOne, &wrapper{inner: known}, knower{name: "second"}}}, "m-1"},
		"depth first": {several{inner: []provider.Provider{several{inner: []provider.Provider{known}},
			knower{name: "second"}}}, "m-1"},
		"unknown":       {plainOne, ""},
		"wraps nothing": {&wrapper{}, ""},
		"wraps none":    {several{}, ""},
		"wraps itself":  {itself, ""},
		"lists itself":  {listed, ""},
		"nil":           {nil, ""},
		"nil pointer":   {(*wrapper)(nil), ""},
		"nil inside":    {&wrapper{inner: (*wrapper)(nil)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			info, ok := provider.Info(c.p)
			require.Equal(t, c.want, info.ID)
			require.Equal(t, c.want != "", ok)
			n, err := provider.CountTokens(t.Context(), c.p, &provider.Request{})
			require.Equal(t, len(c.want), n)
			if c.want == "" {
				require.ErrorIs(t, err, provider.ErrNoCount)
			} else {
				require.NoError(t, err)
			}
		})
	}
}

func TestACountThatFailsIsAnErrorOfItsClass(t *testing.T) {
	boom := fault.New(fault.RateLimited, "boom")
	n, err := provider.CountTokens(t.Context(), &wrapper{inner: knower{name: "m", err: boom}}, &provider.Request{})
	require.ErrorIs(t, err, boom)
	require.Equal(t, fault.RateLimited, fault.Of(err))
	require.Zero(t, n)
}

func TestTheSentinelsHaveTheirClass(t *testing.T) {
	for err, class := range map[error]fault.Class{
		provider.ErrConsumed: fault.Permanent, provider.ErrIncomplete: fault.Transient,
		provider.ErrNilProvider: fault.Permanent,
		provider.ErrNilRequest:  fault.Permanent, provider.ErrNoCount: fault.Permanent,
	} {
		require.Equal(t, class, fault.Of(err), err)
		require.False(t, provider.Canceled(err), err)
	}
	require.True(t, provider.Canceled(context.Canceled))
	require.False(t, provider.Canceled(nil))
	require.False(t, provider.Canceled(context.DeadlineExceeded))
	require.False(t, provider.Canceled(errors.New("x")))
}

// A declared Provider says whether it ends with its context.
type declared struct {
	provider.Func
	ends bool
}

func (d *declared) EndsWithContext() bool { return d.ends }

func TestOnlyADeclarationOfTheProviderItselfSaysThatItEndsWithItsContext(t *testing.T) {
	ends, not := &declared{ends: true}, &declared{}
	route := func(ps ...provider.Provider) provider.Provider {
		routes := make(map[string]provider.Route)
		for i, p := range ps {
			routes[strconv.Itoa(i)] = provider.Route{Provider: p}
		}
		r, err := provider.NewRouter(routes)
		require.NoError(t, err)
		return r
	}
	for name, c := range map[string]struct {
		p    provider.Provider
		want bool
	}{
		"declares it":                  {ends, true},
		"declares that it doesn't":     {not, false},
		"declares nothing":             {knower{}, false},
		"wraps one that declares it":   {&wrapper{inner: ends}, false},
		"nil":                          {nil, false},
		"nil pointer":                  {(*declared)(nil), false},
		"router of ones that declare":  {route(ends, ends), true},
		"router with one that doesn't": {route(ends, &wrapper{inner: ends}), false},
		"nil router":                   {(*provider.Router)(nil), false},
		"empty router":                 {&provider.Router{}, true}, // it fails at once
	} {
		require.Equal(t, c.want, provider.EndsWithContext(c.p), name)
	}
}
