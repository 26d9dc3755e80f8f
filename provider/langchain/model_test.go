//lint:file-ignore SA1019 Call is deprecated, but a part of the interface

package langchain

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/llms"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/stream"
)

func human(text string) []llms.MessageContent {
	return []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, text)}
}

func TestAProviderAnswersAsALangchaingoModel(t *testing.T) {
	script := providertest.Script(
		providertest.WithUsage(provider.Usage{Input: 10, Output: 5, CacheRead: 4, Reasoning: 2},
			providertest.Reply(providertest.Think("Hm."), providertest.Say("Let me see."),
				providertest.Call("weather", map[string]any{"city": "Oslo"}))))
	res, err := Model(script).GenerateContent(t.Context(), human("How cold is it?"),
		llms.WithTools([]llms.Tool{{Type: "function", Function: &llms.FunctionDefinition{Name: "weather"}}}))
	require.NoError(t, err)
	require.Len(t, res.Choices, 1)
	c := res.Choices[0]
	require.Equal(t, "Let me see.", c.Content)
	require.Equal(t, "Hm.", c.ReasoningContent)
	require.Equal(t, "tool_calls", c.StopReason)
	require.Len(t, c.ToolCalls, 1)
	require.NotEmpty(t, c.ToolCalls[0].ID)
	require.Equal(t, &llms.FunctionCall{Name: "weather", Arguments: `{"city":"Oslo"}`}, c.ToolCalls[0].FunctionCall)
	require.Same(t, c.ToolCalls[0].FunctionCall, c.FuncCall)
	require.Equal(t, 10, c.GenerationInfo["PromptTokens"])
	require.Equal(t, 15, c.GenerationInfo["TotalTokens"])

	text, err := Model(providertest.Script(providertest.Say("Cold."))).Call(t.Context(), "How cold is it?")
	require.NoError(t, err)
	require.Equal(t, "Cold.", text)
}

func TestCallsWithoutIDsGetThem(t *testing.T) {
	call := func(id string) provider.Part {
		return provider.Part{Kind: provider.PartToolCall, Call: &provider.ToolCall{ID: id, Name: "f"}}
	}
	res := choiceOf(&provider.Response{Parts: []provider.Part{call(""), call("x"), call("x")}})
	var ids []string
	for _, c := range res.Choices[0].ToolCalls {
		ids = append(ids, c.ID)
		require.Equal(t, "{}", c.FunctionCall.Arguments)
	}
	require.Equal(t, []string{"call_0", "x", "call_2"}, ids)
	res = choiceOf(&provider.Response{Parts: []provider.Part{{Kind: provider.PartRefusal, Text: "I won't."}}})
	require.Equal(t, "I won't.", res.Choices[0].Content)
}

func TestStreamingFunctionsSeeTheAnswerAsItComes(t *testing.T) {
	reply := providertest.Reply(providertest.Think("Hm."), providertest.Say("It is cold."))
	var text, both string
	_, err := Model(providertest.Script(reply)).GenerateContent(t.Context(), human("?"),
		llms.WithStreamingFunc(func(_ context.Context, chunk []byte) error { text += string(chunk); return nil }),
		llms.WithStreamingReasoningFunc(func(_ context.Context, r, chunk []byte) error {
			both += "r:" + string(r) + string(chunk)
			return nil
		}))
	require.NoError(t, err)
	require.Equal(t, "It is cold.", text)
	require.Contains(t, both, "r:Hm.")

	enough := errors.New("enough")
	_, err = Model(providertest.Script(reply)).GenerateContent(t.Context(), human("?"),
		llms.WithStreamingFunc(func(context.Context, []byte) error { return enough }))
	require.ErrorIs(t, err, enough)
	_, err = Model(providertest.Script(reply)).GenerateContent(t.Context(), human("?"),
		llms.WithStreamingReasoningFunc(func(context.Context, []byte, []byte) error { return enough }))
	require.ErrorIs(t, err, enough)
}

func TestARestartedAnswerIsAnErrorOnceItWasStreamed(t *testing.T) {
	p := provider.Func(func(context.Context, *provider.Request) stream.Seq {
		return func(yield func(provider.Chunk, error) bool) {
			for _, c := range []provider.Chunk{provider.Start("m"), provider.Text("a"), provider.Reset("again"),
				provider.Start("m"), provider.Text("b"), provider.End(provider.StopDone, provider.Usage{})} {
				if !yield(c, nil) {
					return
				}
			}
		}
	})
	text, err := Model(p).Call(t.Context(), "?")
	require.NoError(t, err)
	require.Equal(t, "b", text)
	_, err = Model(p).Call(t.Context(), "?", llms.WithStreamingFunc(func(context.Context, []byte) error { return nil }))
	require.ErrorContains(t, err, "started again")
}

func TestErrorsAreLangchaingosAndTheProviders(t *testing.T) {
	for class, is := range map[fault.Class]func(error) bool{
		fault.RateLimited: llms.IsRateLimitError, fault.Degraded: llms.IsProviderUnavailableError,
		fault.UserFixable: llms.IsAuthenticationError,
		fault.Permanent:   llms.IsInvalidRequestError, fault.None: llms.IsCanceledError,
		fault.NotFound: func(err error) bool { return errors.Is(err, &llms.Error{Code: llms.ErrCodeResourceNotFound}) },
	} {
		_, err := Model(providertest.Script(providertest.Fail(class))).GenerateContent(t.Context(), human("?"))
		require.True(t, is(err), "%s: %v", class, err)
		var e *provider.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, class, fault.Of(err))
	}
	_, err := Model(nil).Call(t.Context(), "?")
	require.ErrorIs(t, err, provider.ErrNilProvider)
	_, err = Model(providertest.Script(providertest.Cut(2, providertest.Say("It is cold.")))).Call(t.Context(), "?")
	require.ErrorIs(t, err, provider.ErrIncomplete)
}

func TestRequestsAreConverted(t *testing.T) {
	script := providertest.Script(providertest.Say("ok"))
	schema := map[string]any{"type": "object"}
	_, err := Model(script).GenerateContent(t.Context(), []llms.MessageContent{
		llms.TextParts(llms.ChatMessageTypeSystem, "Be brief."), llms.TextParts(llms.ChatMessageTypeSystem, "Be kind."),
		{Role: llms.ChatMessageTypeHuman,
			Parts: []llms.ContentPart{llms.WithCacheControl(llms.TextContent{Text: "Look:"}, nil),
				llms.BinaryPart("image/png", []byte{1}),
				llms.ImageURLPart("https://example.com/a.jpg?x=1"), llms.ImageURLPart("data:image/gif;base64,AQI=")}},
		{Role: llms.ChatMessageTypeAI, Parts: []llms.ContentPart{llms.TextPart("I see."),
			llms.ToolCall{ID: "c1", FunctionCall: &llms.FunctionCall{Name: "f", Arguments: `{}`}}}},
		{Role: llms.ChatMessageTypeAI,
			Parts: []llms.ContentPart{llms.ToolCall{ID: "c2",
				FunctionCall: &llms.FunctionCall{Name: "f", Arguments: `{`}}}},
		{Role: llms.ChatMessageTypeTool,
			Parts: []llms.ContentPart{llms.ToolCallResponse{ToolCallID: "c1", Name: "f", Content: "1"}}},
		{Role: llms.ChatMessageTypeTool,
			Parts: []llms.ContentPart{llms.ToolCallResponse{ToolCallID: "c2", Name: "f", Content: "2"}}},
	}, llms.WithModel("m"), llms.WithMaxTokens(9), llms.WithTemperature(0.5), llms.WithSeed(3),
		llms.WithStopWords([]string{"END"}), llms.WithJSONMode(),
		llms.WithTools([]llms.Tool{{Type: "function",
			Function: &llms.FunctionDefinition{Name: "f", Description: "d", Parameters: schema}}}),
		llms.WithToolChoice(llms.ToolChoice{Type: "function", Function: &llms.FunctionReference{Name: "f"}}),
		llms.WithThinkingMode(llms.ThinkingModeHigh))
	require.NoError(t, err)
	req := script.Requests()[0]
	require.Equal(t, "Be brief.\n\nBe kind.", req.System)
	require.Len(t, req.Messages, 3)
	require.True(t, req.Messages[0].Parts[0].Cache)
	require.Equal(t, &provider.Media{Type: "image/jpeg", URL: "https://example.com/a.jpg?x=1"},
		req.Messages[0].Parts[2].Media)
	require.Equal(t, &provider.Media{Type: "image/gif", Data: []byte{1, 2}}, req.Messages[0].Parts[3].Media)
	require.Len(t, req.Messages[1].Calls(), 2)
	require.Equal(t, "{", req.Messages[1].Calls()[1].Invalid)
	require.Equal(t, "2", req.Messages[2].Parts[1].Result.Text())
	require.Equal(t, "m", req.Model)
	require.Equal(t, 9, req.MaxOutput)
	require.InDelta(t, 0.5, *req.Sampling.Temperature, 0)
	require.Nil(t, req.Sampling.TopP)
	require.Equal(t, int64(3), *req.Sampling.Seed)
	require.Equal(t, []provider.Tool{{Name: "f", Description: "d", Schema: json.RawMessage(`{"type":"object"}`)}},
		req.Tools)
	require.Equal(t, provider.ToolChoice{Mode: provider.ChooseTool, Tool: "f"}, req.ToolChoice)
	require.Equal(t, "high", req.Reasoning.Effort)
	require.NotNil(t, req.Output)
	require.False(t, req.NoRestart)
}

func TestToolChoicesAreReadInEveryForm(t *testing.T) {
	for _, tt := range []struct {
		given any
		want  provider.ToolChoice
	}{
		{nil, provider.ToolChoice{}}, {"auto", provider.ToolChoice{}},
		{"none", provider.ToolChoice{Mode: provider.ChooseNone}},
		{"required", provider.ToolChoice{Mode: provider.ChooseRequired}},
		{"any", provider.ToolChoice{Mode: provider.ChooseRequired}},
		{map[string]any{"type": "tool", "name": "f"}, provider.ToolChoice{Mode: provider.ChooseTool, Tool: "f"}},
		{&llms.ToolChoice{Function: &llms.FunctionReference{Name: "f"}},
			provider.ToolChoice{Mode: provider.ChooseTool, Tool: "f"}},
	} {
		got, err := choiceOfTools(&llms.CallOptions{ToolChoice: tt.given})
		require.NoError(t, err)
		require.Equal(t, tt.want, got)
	}
	got, err := choiceOfTools(&llms.CallOptions{FunctionCallBehavior: llms.FunctionCallBehaviorNone})
	require.NoError(t, err)
	require.Equal(t, provider.ToolChoice{Mode: provider.ChooseNone}, got)
	_, err = choiceOfTools(&llms.CallOptions{ToolChoice: 7})
	require.ErrorContains(t, err, "the tool choice 7 isn't auto")
}

func TestAnUnsupportedOptionIsAnError(t *testing.T) {
	m := Model(providertest.Script())
	_, err := m.GenerateContent(t.Context(), human("?"), llms.WithN(2))
	require.ErrorContains(t, err, "2 candidates were asked for")
	_, err = m.GenerateContent(t.Context(), []llms.MessageContent{{Role: "robot"}})
	require.ErrorContains(t, err, `unknown role "robot"`)
	_, err = m.GenerateContent(t.Context(),
		[]llms.MessageContent{{Role: llms.ChatMessageTypeHuman, Parts: []llms.ContentPart{nil}}})
	require.ErrorContains(t, err, "unknown type <nil>")
	_, err = m.GenerateContent(t.Context(), human("?"),
		llms.WithTools([]llms.Tool{{Function: &llms.FunctionDefinition{Name: "f", Parameters: func() {}}}}))
	require.ErrorContains(t, err, `the parameters of tool "f"`)
}

// There and back: what both sides support arrives unchanged.
func TestAProviderBehindALangchaingoModelAnswersTheSame(t *testing.T) {
	reply := func(page string) providertest.Step {
		return providertest.WithUsage(
			provider.Usage{Input: 10, Output: 5, CacheRead: 4, CacheWrite: 1, Reasoning: 2},
			providertest.Reply(providertest.Think("Hm."), providertest.Say("Zoë, let me see."),
				providertest.Call(page, map[string]any{"t": 1}), providertest.Call("weather", map[string]any{})))
	}
	direct, err := provider.Generate(t.Context(), providertest.Script(reply("cms.createPage")), conversation())
	require.NoError(t, err)

	script := providertest.Script(reply("cms_createPage")) // the name that it is shown
	p := over(t, Model(script), Config{Model: direct.Model})
	around, err := provider.Generate(t.Context(), p, conversation())
	require.NoError(t, err)
	around.Usage.Raw, around.StopRaw, around.ID = direct.Usage.Raw, direct.StopRaw, direct.ID
	require.Equal(t, direct, around)

	want, got := conversation(), script.Requests()[0]
	require.Equal(t, want.System, got.System)
	require.Len(t, got.Messages, len(want.Messages))
	require.Equal(t, want.Messages[0], got.Messages[0])
	require.Equal(t, "c1", got.Messages[2].Parts[0].Result.CallID, "by the provider's id")
	require.Len(t, got.Tools, 2)

	for _, class := range []fault.Class{fault.RateLimited, fault.Degraded, fault.UserFixable, fault.Permanent} {
		_, err := provider.Generate(t.Context(), over(t,
			Model(providertest.Script(providertest.Fail(class, providertest.RetryAfter(7)))), Config{}), question())
		require.Equal(t, class, fault.Of(err))
		wait, told := fault.RetryAfter(err)
		require.True(t, told)
		require.EqualValues(t, 7, wait)
	}
	_, err = provider.Generate(t.Context(),
		over(t, Model(providertest.Script(providertest.Cut(2, providertest.Say("It is cold.")))), Config{}), question())
	require.ErrorIs(t, err, provider.ErrIncomplete)
}

func TestAProviderBehindALangchaingoModelConforms(t *testing.T) {
	providertest.Conformance(t, func() provider.Provider {
		echo := providertest.Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
			return providertest.Reply(providertest.Think("Hm."), providertest.Say("You said: "+req.LastUserText()),
				providertest.Call("cms.createPage", map[string]any{"city": "Oslo"})).Response(), nil
		})
		return over(t, Model(echo), Config{Model: "m"})
	}, providertest.Strict())
}
