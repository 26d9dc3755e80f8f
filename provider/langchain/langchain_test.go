package langchain

import (
	"context"
	"errors"
	"net/http"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/llms"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/stream"
)

func over(t *testing.T, m llms.Model, cfg Config) *Provider {
	t.Helper()
	p, err := New(m, cfg)
	require.NoError(t, err)
	return p
}

func question() *provider.Request {
	return &provider.Request{Messages: []provider.Message{provider.User("How cold is it?")},
		Tools: []provider.Tool{{Name: "weather"}}}
}

// kinds returns the kinds of the chunks of a call, and the error that ended it.
func kinds(ctx context.Context, p provider.Provider, req *provider.Request) (out []string, err error) {
	for c, e := range p.Stream(ctx, req) {
		if e != nil {
			return out, e
		}
		out = append(out, c.Kind.String()+" "+c.Text)
	}
	return out, nil
}

func TestALangchaingoModelConforms(t *testing.T) {
	providertest.Conformance(t, func() provider.Provider {
		return over(t, &fakeModel{pieces: []string{"~Hm.", "It is", " cold."},
			choices: []*llms.ContentChoice{{Content: "It is cold.",
				ReasoningContent: "Hm.", StopReason: "tool_calls",
				GenerationInfo: map[string]any{"PromptTokens": 10, "CompletionTokens": 3},
				ToolCalls: []llms.ToolCall{{ID: "c1", Type: "function",
					FunctionCall: &llms.FunctionCall{Name: "weather", Arguments: `{"city":"Oslo"}`}}}}}}, Config{})
	}, providertest.Strict())
}

func TestStreamedPiecesComeAtOnceAndTheRestAtTheEnd(t *testing.T) {
	m := &fakeModel{pieces: []string{"~Hm.", "It is", ""}, choices: said("It is cold.", "stop")}
	got, err := kinds(t.Context(), over(t, m, Config{Model: "m"}), question())
	require.NoError(t, err)
	require.Equal(t, []string{"start ", "reasoning Hm.", "text It is", "text  cold.", "end "}, got)
	require.Equal(t, "m", m.opts.Model)
}

func TestStreamedPiecesOfToolCallsAreNoText(t *testing.T) {
	call := llms.ToolCall{ID: "c1", FunctionCall: &llms.FunctionCall{Name: "weather", Arguments: `{"city":"Oslo"}`}}
	m := &fakeModel{pieces: []string{"Let me see.",
		`[{"id":"c1","type":"function","function":{"name":"weather","arguments":""}}]`,
		`[{"function":{"arguments":"{\"city\""}}]`},
		choices: []*llms.ContentChoice{{Content: "Let me see.", ToolCalls: []llms.ToolCall{call}, StopReason: "stop"}}}
	got, err := kinds(t.Context(), over(t, m, Config{}), question())
	require.NoError(t, err)
	require.Equal(t,
		[]string{"start ", "text Let me see.", "tool_start ", `tool_delta {"city":"Oslo"}`, "tool_end ", "end "}, got)
}

func TestStreamedTextThatDiffersFromTheAnswerIsReset(t *testing.T) {
	m := &fakeModel{pieces: []string{`{"partial":`}, choices: said("It is cold.", "stop")}
	got, err := kinds(t.Context(), over(t, m, Config{}), question())
	require.NoError(t, err)
	require.Equal(t, []string{"start ", `text {"partial":`, "reset the streamed text differs from the answer", "start ",
		"text It is cold.", "end "}, got)

	req := question()
	req.NoRestart = true
	got, err = kinds(t.Context(), over(t, m, Config{}), req)
	require.NoError(t, err)
	require.Equal(t, []string{"start ", "text It is cold.", "end "}, got)
	require.Nil(t, m.opts.StreamingFunc)
}

func TestAnAnswerThatWasOnlyStreamedIsAccepted(t *testing.T) {
	m := &fakeModel{pieces: []string{"It is cold."}, choices: said("", "stop")}
	res, err := provider.Generate(t.Context(), over(t, m, Config{}), question())
	require.NoError(t, err)
	require.Equal(t, "It is cold.", res.Text())
}

func TestBlocksOfAnAnswerAreOneAnswer(t *testing.T) {
	info := map[string]any{"InputTokens": 7, "OutputTokens": 9, "CacheReadInputTokens": 20,
		"CacheCreationInputTokens": 3}
	thinking := map[string]any{"ThinkingContent": "Hm.", "InputTokens": 7, "OutputTokens": 9,
		"CacheReadInputTokens": 20, "CacheCreationInputTokens": 3}
	m := &fakeModel{choices: []*llms.ContentChoice{nil, {GenerationInfo: thinking, StopReason: "tool_use"},
		{Content: "Let me see.", GenerationInfo: info, StopReason: "tool_use"},
		{ToolCalls: []llms.ToolCall{{ID: "c1", FunctionCall: &llms.FunctionCall{Name: "weather", Arguments: "{}"}},
			{ID: "c2"}}, GenerationInfo: info, StopReason: "tool_use"}}}
	res, err := provider.Generate(t.Context(), over(t, m, Config{}), question())
	require.NoError(t, err)
	require.Equal(t, "Let me see.", res.Text())
	require.Equal(t, "Hm.", res.Reasoning())
	require.Len(t, res.Calls(), 1)
	require.Equal(t, provider.StopToolCalls, res.Stop)
	require.Equal(t, "tool_use", res.StopRaw)
	require.Equal(t, provider.Usage{Input: 30, Output: 9, CacheRead: 20, CacheWrite: 3,
		Raw: `{"CacheCreationInputTokens":3,"CacheReadInputTokens":20,"InputTokens":7,"OutputTokens":9}`}, res.Usage)
}

func TestAnAnswerWithoutAnEndIsDetected(t *testing.T) {
	broken := []*llms.ContentChoice{{Content: "x",
		ToolCalls: []llms.ToolCall{{FunctionCall: &llms.FunctionCall{Name: "weather", Arguments: `{"ci`}}}}}
	for _, tt := range []struct {
		what    string
		choices []*llms.ContentChoice
		stated  bool
		stop    provider.StopReason // none: incomplete
	}{
		{"no reason", said("It is cold.", ""), false, provider.StopUnknown},
		{"no reason from a model that states it", said("It is cold.", ""), true, ""},
		{"an odd reason", said("It is cold.", "whim"), true, provider.StopUnknown},
		{"nothing at all", said("", ""), false, ""},
		{"nothing, properly", said("", "FinishReasonStop"), false, provider.StopDone},
		{"no choices", nil, false, ""},
		{"a call that is no JSON", broken, false, ""},
	} {
		p := over(t, &fakeModel{choices: tt.choices}, Config{})
		p.profile.stated = tt.stated
		res, err := provider.Generate(t.Context(), p, question())
		if tt.stop == "" {
			require.ErrorIs(t, err, provider.ErrIncomplete, tt.what)
			continue
		}
		require.NoError(t, err, tt.what)
		require.Equal(t, tt.stop, res.Stop, tt.what)
	}
	require.True(t, profileOfPackage("github.com/tmc/langchaingo/llms/openai").stated)
	require.True(t, profileOfPackage("github.com/tmc/langchaingo/llms/googleai/vertex").stated)
	require.False(t, profileOfPackage("github.com/tmc/langchaingo/llms/ollama").stated)
	require.False(t, profileOfPackage("example.com/llms/openai").stated)
}

func TestErrorsAreClassified(t *testing.T) {
	for _, tt := range []struct {
		err    error
		class  fault.Class
		status int
	}{
		{llms.NewError(llms.ErrCodeRateLimit, "x", "slow"), fault.RateLimited, 0},
		{llms.NewError(llms.ErrCodeAuthentication, "x", "no"), fault.UserFixable, 0},
		{llms.NewError(llms.ErrCodeUnknown, "x", "?").WithCause(http.ErrHandlerTimeout), fault.Transient, 0},
		{errors.New("API returned unexpected status code: 503: overloaded"), fault.Degraded, 503},
		{errors.New("API returned unexpected status code: 401: no"), fault.UserFixable, 401},
		{errors.New("googleapi: Error 429: slow down"), fault.RateLimited, 429},
		{errors.New("whatever"), fault.Permanent, 0},
		{context.DeadlineExceeded, fault.Transient, 0},
		{context.Canceled, fault.Transient, 0}, // not by the caller
	} {
		_, err := provider.Generate(t.Context(), over(t, &fakeModel{err: tt.err}, Config{Model: "m"}), question())
		require.ErrorIs(t, err, tt.err)
		require.Equal(t, tt.class, fault.Of(err), "%v", tt.err)
		var e *provider.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, tt.status, e.Status)
		if tt.class == fault.UserFixable {
			require.NotEmpty(t, e.Remedy)
		}
	}
}

func TestErrorsDoNotShowKeys(t *testing.T) {
	secret := errors.New(
		`Post "https://api.example.com/v1?key=topsecret&x=1": refused, Authorization: Bearer topsecret`)
	_, err := provider.Generate(t.Context(), over(t, &fakeModel{err: secret}, Config{}), question())
	require.NotContains(t, err.Error(), "topsecret")
	require.ErrorContains(t, err, "key=[redacted]&x=1")
}

func TestTextStreamedBeforeAnErrorIsKept(t *testing.T) {
	res, err := provider.Generate(t.Context(),
		over(t, &fakeModel{pieces: []string{"It is"}, err: errors.New("broken")}, Config{}), question())
	require.ErrorContains(t, err, "broken")
	require.Equal(t, "It is", res.Text())
	require.False(t, res.Complete)
}

func TestAPanicOfTheModelIsAnError(t *testing.T) {
	_, err := provider.Generate(t.Context(), over(t,
		modelFunc(func(context.Context) (*llms.ContentResponse, error) { panic("oops") }), Config{}), question())
	var p *stream.PanicError
	require.ErrorAs(t, err, &p)
	_, err = provider.Generate(t.Context(), over(t, modelFunc(func(context.Context) (*llms.ContentResponse, error) {
		runtime.Goexit()
		return nil, nil
	}), Config{}), question())
	require.ErrorContains(t, err, "ended its goroutine")
}

func TestALoopBodyThatPanicsLeavesNothingBehind(t *testing.T) {
	ended := make(chan struct{})
	m := modelFunc(nil)
	m = func(ctx context.Context) (*llms.ContentResponse, error) {
		defer close(ended)
		<-ctx.Done()
		return nil, ctx.Err()
	}
	p := over(t, &streaming{m}, Config{})
	require.PanicsWithValue(t, "body", func() {
		for range p.Stream(t.Context(), question()) {
			panic("body")
		}
	})
	<-ended
}

// streaming streams a word before it answers.
type streaming struct{ modelFunc }

func (s *streaming) GenerateContent(ctx context.Context, _ []llms.MessageContent,
	options ...llms.CallOption) (*llms.ContentResponse, error) {
	var o llms.CallOptions
	for _, opt := range options {
		opt(&o)
	}
	if err := o.StreamingFunc(ctx, []byte("word")); err != nil {
		<-ctx.Done()
	}
	return s.modelFunc(ctx)
}

func TestACallEndsWithItsContext(t *testing.T) {
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	m := modelFunc(func(ctx context.Context) (*llms.ContentResponse, error) {
		cancel(enough)
		<-ctx.Done()
		return nil, ctx.Err()
	})
	_, err := provider.Generate(ctx, over(t, m, Config{}), question())
	require.ErrorIs(t, err, enough)
	require.True(t, provider.Canceled(err))
}

func TestNewSaysWhatIsWrong(t *testing.T) {
	_, err := New(nil, Config{})
	require.EqualError(t, err, "langchain: the model is nil")
	_, err = New((*fakeModel)(nil), Config{})
	require.EqualError(t, err, "langchain: the model is nil")
	p := over(t, &fakeModel{}, Config{Model: "m", Info: provider.ModelInfo{Window: 8}})
	require.Equal(t, provider.ModelInfo{Provider: "langchain", ID: "m", Window: 8}, p.Info())
}
