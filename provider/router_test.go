package provider_test

import (
	"context"
	"fmt"
	"iter"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

// A shelf is a provider of one model that answers with the model that it was asked for.
type shelf struct {
	info  provider.ModelInfo
	count int
}

func (s *shelf) Info() provider.ModelInfo { return s.info }

func (s *shelf) CountTokens(_ context.Context, req *provider.Request) (int, error) {
	return s.count + len(req.Model), nil
}

func (s *shelf) Stream(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
	return answers(nil, provider.Start(s.info.ID), provider.Text(s.info.ID+"/"+req.Model),
		provider.End(provider.StopDone, provider.Usage{})).Stream(ctx, req)
}

func newRouter(t *testing.T) (r *provider.Router, small, big *shelf) {
	small = &shelf{info: provider.ModelInfo{Provider: "a", ID: "small-1", Name: "Small"}, count: 10}
	big = &shelf{info: provider.ModelInfo{Provider: "b", ID: "big-1"}, count: 20}
	r, err := provider.NewRouter(map[string]provider.Route{
		provider.AliasFast:    {Provider: small},
		provider.AliasDefault: {Provider: big, Model: "big-1"},
		provider.AliasStrong:  {Provider: big, Model: "big-2"},
	})
	require.NoError(t, err)
	return r, small, big
}

func TestAnAliasChoosesTheProviderAndTheModel(t *testing.T) {
	r, _, _ := newRouter(t)
	for alias, want := range map[string]string{"fast": "small-1/", "strong": "big-1/big-2", "default": "big-1/big-1",
		"": "big-1/big-1"} {
		req := &provider.Request{Model: alias}
		res, err := provider.Generate(t.Context(), r, req)
		require.NoError(t, err)
		require.Equal(t, want, res.Text())
		require.Equal(t, alias, req.Model, "the caller's request stays as it was")
	}
}

func TestAnUnknownAliasIsToldWithTheKnownOnes(t *testing.T) {
	r, _, _ := newRouter(t)
	_, err := provider.Generate(t.Context(), r, &provider.Request{Model: "gigantic"})
	var unknown *provider.UnknownModelError
	require.ErrorAs(t, err, &unknown)
	require.Equal(t, []string{"default", "fast", "strong"}, unknown.Known)
	require.EqualError(t, err,
		`provider: there is no route for the model "gigantic"; use one of: default, fast, strong`)
	require.Equal(t, fault.NotFound, fault.Of(err))
	_, err = provider.CountTokens(t.Context(), r, &provider.Request{Model: "gigantic"})
	require.ErrorAs(t, err, &unknown)

	only, err := provider.NewRouter(map[string]provider.Route{"fast": {Provider: answers(nil)}})
	require.NoError(t, err)
	_, err = provider.Generate(t.Context(), only, &provider.Request{})
	require.ErrorAs(t, err, &unknown, "there is no default")
	require.Equal(t, "default", unknown.Model)
}

func TestARouterKnowsEachModel(t *testing.T) {
	r, small, big := newRouter(t)
	info, ok := provider.InfoOf(r, "fast")
	require.True(t, ok)
	require.Equal(t, small.info, info)
	info, ok = provider.Info(r)
	require.True(t, ok)
	require.Equal(t, big.info, info)
	info, ok = provider.InfoOf(r, "")
	require.True(t, ok)
	require.Equal(t, big.info, info)
	_, ok = provider.InfoOf(r, "strong")
	require.False(t, ok, "nothing is known of big-2")
	_, ok = provider.InfoOf(r, "gigantic")
	require.False(t, ok)
	require.Equal(t, []provider.Provider{big, small, big}, r.Unwrap())

	n, err := provider.CountTokens(t.Context(), r, &provider.Request{Model: "strong"})
	require.NoError(t, err)
	require.Equal(t, 20+len("big-2"), n)
	n, err = provider.CountTokens(t.Context(), r, &provider.Request{Model: "fast"})
	require.NoError(t, err)
	require.Equal(t, 10, n)
}

func TestInfoOfOneModelIsAboutThatModel(t *testing.T) {
	p := &shelf{info: provider.ModelInfo{ID: "small-1", Name: "Small"}}
	for model, want := range map[string]bool{"": true, "small-1": true, "Small": true, "other": false} {
		info, ok := provider.InfoOf(p, model)
		require.Equal(t, want, ok, model)
		require.Equal(t, want, info.ID == "small-1", model)
	}
	_, ok := provider.InfoOf(answers(nil), "")
	require.False(t, ok)
}

func TestARouterOfNothingIsRefused(t *testing.T) {
	var nilShelf *shelf
	for name, routes := range map[string]map[string]provider.Route{
		"none":        nil,
		"nil":         {"fast": {}},
		"nil pointer": {"fast": {Provider: nilShelf}},
		"no name":     {"": {Provider: &shelf{}}},
	} {
		r, err := provider.NewRouter(routes)
		require.Error(t, err, name)
		require.Nil(t, r, name)
	}
	_, err := provider.NewRouter(map[string]provider.Route{"": {Provider: &shelf{}}, "fast": {}})
	require.ErrorIs(t, err, provider.ErrNilProvider)
	require.ErrorContains(t, err, "empty", "all that is wrong")

	var none *provider.Router
	_, err = provider.Generate(t.Context(), none, &provider.Request{})
	require.ErrorIs(t, err, provider.ErrNilProvider)
	require.Empty(t, none.Unwrap())
	r, _, _ := newRouter(t)
	for _, err := range r.Stream(t.Context(), nil) {
		require.ErrorIs(t, err, provider.ErrNilRequest)
	}
	_, err = r.CountTokens(t.Context(), nil)
	require.ErrorIs(t, err, provider.ErrNilRequest)
}

func TestARouterKeepsTheRoutesThatItWasGiven(t *testing.T) {
	routes := map[string]provider.Route{"default": {Provider: &shelf{info: provider.ModelInfo{ID: "one"}}}}
	r, err := provider.NewRouter(routes)
	require.NoError(t, err)
	routes["default"] = provider.Route{}
	delete(routes, "default")
	res, err := provider.Generate(t.Context(), r, &provider.Request{})
	require.NoError(t, err)
	require.Equal(t, "one/", res.Text())
	r.Aliases()[0] = "changed"
	require.Equal(t, []string{"default"}, r.Aliases())
}

func ExampleRouter() {
	model := func(name string) provider.Provider {
		return provider.Func(func(_ context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
			return answers(nil, provider.Start(name), provider.Text(name+" was asked for "+req.Model),
				provider.End(provider.StopDone, provider.Usage{})).Stream(context.Background(), req)
		})
	}
	r, err := provider.NewRouter(map[string]provider.Route{
		provider.AliasDefault: {Provider: model("house"), Model: "house-9b"},
		provider.AliasStrong:  {Provider: model("cloud"), Model: "cloud-xl"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, alias := range []string{"", provider.AliasStrong, provider.AliasFast} {
		res, err := provider.Generate(context.Background(), r, &provider.Request{Model: alias})
		fmt.Println(res.Text(), err)
	}
	// Output:
	// house was asked for house-9b <nil>
	// cloud was asked for cloud-xl <nil>
	//  provider: there is no route for the model "fast"; use one of: default, strong
}
