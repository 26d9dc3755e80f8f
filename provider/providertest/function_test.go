package providertest_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/stretchr/testify/require"
)

func always(r *provider.Response, err error) provider.Provider {
	return providertest.Func(func(context.Context, *provider.Request) (*provider.Response, error) { return r, err })
}

// randomPart returns a part of any kind that an answer may have.
func randomPart(r *rand.Rand) provider.Part {
	texts := []string{"", "x", "It is 3 °C in <Oslo> & elsewhere.", "Donaudampfschifffahrtsgesellschaftskapitänsmütze"}
	inputs := []string{"", `{}`, `{"a":"<b>","c":[1,2,3]}`, `"s"`}
	text := texts[r.IntN(len(texts))]
	call := &provider.ToolCall{ID: texts[r.IntN(2)], Name: "tool", Input: json.RawMessage(inputs[r.IntN(len(inputs))])}
	if len(call.Input) == 0 {
		call.Input = nil
		if r.IntN(2) == 0 {
			call.Invalid = `{"cut":`
		}
	}
	parts := []provider.Part{
		{Kind: provider.PartText, Text: text},
		{Kind: provider.PartReasoning, Text: text},
		{Kind: provider.PartRefusal, Text: text},
		{Kind: provider.PartToolCall, Call: call},
		{Kind: provider.PartProviderCall, Call: call},
		{Kind: provider.PartProviderResult,
			Result: &provider.ToolResult{CallID: "1", Name: "tool", Parts: []provider.Part{provider.TextPart(text)}}},
		{Kind: provider.PartMedia, Media: &provider.Media{Type: "image/png", Data: []byte(text)}},
		{Kind: provider.PartSource, Source: &provider.Source{URL: "u", Text: text}},
		{Kind: provider.PartOpaque, Opaque: &provider.Opaque{Provider: "p", Data: "redacted"}},
	}
	p := parts[r.IntN(len(parts))]
	if r.IntN(3) == 0 {
		p.Opaque = &provider.Opaque{Provider: "p", Kind: "signature", Data: text}
	}
	return p
}

func TestAFunctionsAnswerArrivesWhole(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		want := &provider.Response{ID: "r-1", Model: "m", Stop: provider.StopUnknown, StopRaw: "?",
			Usage: provider.Usage{Input: 1, Output: 2}, Complete: true}
		if r.IntN(2) == 0 {
			want.Details = map[string]json.RawMessage{"service_tier": json.RawMessage(`"flex"`)}
		}
		for range r.IntN(6) {
			want.Parts = append(want.Parts, randomPart(r))
		}
		got, err := provider.Generate(t.Context(), always(want, nil), ask("x"))
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

func TestAFunctionsStopReasonFollowsFromItsCalls(t *testing.T) {
	r, err := provider.Generate(t.Context(),
		always(&provider.Response{Parts: []provider.Part{provider.TextPart("x")}}, nil), ask("x"))
	require.NoError(t, err)
	require.Equal(t, provider.StopDone, r.Stop)
	r, err = provider.Generate(t.Context(),
		always(&provider.Response{
			Parts: []provider.Part{{Kind: provider.PartToolCall, Call: &provider.ToolCall{Name: "t"}}}}, nil), ask("x"))
	require.NoError(t, err)
	require.Equal(t, provider.StopToolCalls, r.Stop)
}

func TestAFunctionMayFail(t *testing.T) {
	boom := fault.New(fault.Transient, "boom")
	r, err := provider.Generate(t.Context(), always(nil, boom), ask("x"))
	require.ErrorIs(t, err, boom)
	require.Empty(t, r.Parts)
	r, err = provider.Generate(t.Context(), always(providertest.Say("so far").Response(), boom), ask("x"))
	require.ErrorIs(t, err, boom)
	require.Equal(t, "so far", r.Text())
	require.False(t, r.Complete)
	_, err = provider.Generate(t.Context(), always(nil, nil), ask("x"))
	require.ErrorContains(t, err, "neither")
	_, err = provider.Generate(t.Context(), providertest.Func(nil), ask("x"))
	require.ErrorContains(t, err, "no function")
}

func TestAPartThatNoAnswerHasIsAnError(t *testing.T) {
	for name, p := range map[string]provider.Part{
		"a result":               provider.ResultPart(provider.ToolResult{Name: "t"}),
		"no kind":                {},
		"a call without a call":  {Kind: provider.PartToolCall},
		"a call without a name":  {Kind: provider.PartToolCall, Call: &provider.ToolCall{}},
		"media without media":    {Kind: provider.PartMedia},
		"opaque without data":    {Kind: provider.PartOpaque},
		"a source without one":   {Kind: provider.PartSource},
		"a provider call's lack": {Kind: provider.PartProviderCall},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := provider.Generate(t.Context(),
				always(&provider.Response{Parts: []provider.Part{provider.TextPart("x"), p}}, nil), ask("x"))
			require.ErrorContains(t, err, "part 1 of the Response")
			require.Equal(t, fault.Permanent, fault.Of(err))
			require.Equal(t, "x", r.Text())
			var grammar *provider.GrammarError
			require.True(t, errors.As(err, &grammar))
		})
	}
}
