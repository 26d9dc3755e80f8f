package providertest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/stretchr/testify/require"
)

type City struct {
	Name string `json:"city"`
}

// ask returns a request that offers the tools of the tests.
func ask(text string) *provider.Request {
	r := &provider.Request{Messages: []provider.Message{provider.User(text)}}
	for _, name := range []string{"weather", "t", "a", "b", "c"} {
		r.Tools = append(r.Tools, provider.Tool{Name: name})
	}
	return r
}

// play ranges over the answer to the end.
func play(ctx context.Context, p provider.Provider) (chunks []provider.Chunk, err error) {
	for c, e := range p.Stream(ctx, ask("hi")) {
		if e != nil {
			return chunks, e
		}
		chunks = append(chunks, c)
	}
	return chunks, nil
}

func kinds(chunks []provider.Chunk) (out []string) {
	for _, c := range chunks {
		out = append(out, c.Kind.String())
	}
	return out
}

func TestAScriptAnswersStepByStep(t *testing.T) {
	m := providertest.Script(
		providertest.Call("weather", City{"<Oslo> & Zürich"}),
		providertest.Say("It is 3 °C in Oslo."),
	)
	first, err := provider.Generate(t.Context(), m, ask("How cold?"))
	require.NoError(t, err)
	require.Equal(t, provider.StopToolCalls, first.Stop)
	require.Len(t, first.Calls(), 1)
	require.Equal(t, provider.ToolCall{ID: "call-1", Name: "weather",
		Input: json.RawMessage(`{"city":"<Oslo> & Zürich"}`)}, *first.Calls()[0])

	chunks, err := play(t.Context(), m)
	require.NoError(t, err)
	require.Equal(t, []string{"start", "text", "text", "text", "text", "text", "text", "end"}, kinds(chunks))
	second, err := provider.CollectSeq(replay(chunks))
	require.NoError(t, err)
	require.Equal(t, "It is 3 °C in Oslo.", second.Text())
	require.Equal(t, provider.StopDone, second.Stop)
	require.Equal(t, provider.Usage{Input: 10, Output: 5}, second.Usage)
	require.NotEqual(t, first.ID, second.ID)
	m.AssertDone(t)
}

func replay(chunks []provider.Chunk) func(func(provider.Chunk, error) bool) {
	return func(yield func(provider.Chunk, error) bool) {
		for _, c := range chunks {
			if !yield(c, nil) {
				return
			}
		}
	}
}

func TestACallBeyondTheScriptFailsAndSaysSo(t *testing.T) {
	m := providertest.Script(providertest.Empty())
	_, err := provider.Generate(t.Context(), m, ask("one"))
	require.NoError(t, err)
	_, err = provider.Generate(t.Context(), m, ask("and another"))
	require.Equal(t, fault.Permanent, fault.Of(err))
	require.ErrorContains(t, err, "the script has 1 step, and this is call 2")
	require.ErrorContains(t, err, `"and another"`)
	m.AssertCalls(t, 2)
}

func TestContentsComeAsWritten(t *testing.T) {
	text := func(s string) provider.Part { return provider.TextPart(s) }
	call := func(id, name, input string) provider.Part {
		p := provider.Part{Kind: provider.PartToolCall, Call: &provider.ToolCall{ID: id, Name: name}}
		if json.Valid([]byte(input)) {
			p.Call.Input = json.RawMessage(input)
		} else {
			p.Call.Invalid = input
		}
		return p
	}
	source, media := provider.Source{URL: "u"}, provider.Media{Type: "image/png", Data: []byte{1}}
	ran, result := provider.ToolCall{ID: "s", Name: "search"}, provider.ToolResult{CallID: "s", Name: "search"}
	for name, c := range map[string]struct {
		step providertest.Step
		stop provider.StopReason
		want []provider.Part
	}{
		"nothing":   {providertest.Empty(), provider.StopDone, nil},
		"zero step": {providertest.Step{}, provider.StopDone, nil},
		"chunks":    {providertest.SayChunks("a", "", "b c"), provider.StopDone, []provider.Part{text("ab c")}},
		"long word": {providertest.Say("Donaudampfschifffahrtsgesellschaftskapitän€€€€€€€€€€€"), provider.StopDone,
			[]provider.Part{text("Donaudampfschifffahrtsgesellschaftskapitän€€€€€€€€€€€")}},
		"refusal": {providertest.Refuse("No way."), provider.StopFiltered,
			[]provider.Part{{Kind: provider.PartRefusal, Text: "No way."}}},
		"stop": {providertest.Stop(provider.StopLength, providertest.Say("cut")), provider.StopLength,
			[]provider.Part{text("cut")}},
		"source": {providertest.Source(source), provider.StopDone,
			[]provider.Part{{Kind: provider.PartSource, Source: &source}}},
		"file": {providertest.File(media), provider.StopDone, []provider.Part{provider.MediaPart(media)}},
		"provider ran": {providertest.ProviderRan(ran, result), provider.StopDone,
			[]provider.Part{{Kind: provider.PartProviderCall, Call: &ran},
				{Kind: provider.PartProviderResult, Result: &result}}},
		"raw input": {providertest.Call("t", `{"a": 1}`), provider.StopToolCalls,
			[]provider.Part{call("call-1", "t", `{"a":1}`)}},
		"raw bytes": {providertest.Call("t", []byte(`[1]`)), provider.StopToolCalls,
			[]provider.Part{call("call-1", "t", `[1]`)}},
		"cut input": {providertest.Unfit(providertest.Call("t", json.RawMessage(`{"a":`))), provider.StopToolCalls,
			[]provider.Part{call("call-1", "t", `{"a":`)}},
		"no input": {providertest.Call("t", nil), provider.StopToolCalls,
			[]provider.Part{{Kind: provider.PartToolCall, Call: &provider.ToolCall{ID: "call-1", Name: "t"}}}},
		"two calls": {providertest.Calls(providertest.CallSpec{"a", 1}, providertest.CallSpec{"b", 2}),
			provider.StopToolCalls,
			[]provider.Part{call("call-1", "a", `1`), call("call-2", "b", `2`)}},
		"interleaved": {providertest.Interleaved(providertest.CallSpec{"a", "[1,2,3,4,5,6,7,8,9,10]"},
			providertest.CallSpec{"b", 2}), provider.StopToolCalls,
			[]provider.Part{call("call-1", "a", `[1,2,3,4,5,6,7,8,9,10]`), call("call-2", "b", `2`)}},
		"same ids": {providertest.WithIDs(providertest.Calls(providertest.CallSpec{"a", 1},
			providertest.CallSpec{"b", 2}), "x"), provider.StopToolCalls,
			[]provider.Part{call("x", "a", `1`), call("x", "b", `2`)}},
		"no ids": {providertest.WithIDs(providertest.Calls(providertest.CallSpec{"a", 1},
			providertest.CallSpec{"b", 2}), "x", ""), provider.StopToolCalls,
			[]provider.Part{call("x", "a", `1`), call("", "b", `2`)}},
		"reply": {providertest.Reply(providertest.Think("Hm."), providertest.Say("Let me see."),
			providertest.Call("a", 1),
			providertest.Interleaved(providertest.CallSpec{"b", 2}, providertest.CallSpec{"c", 3})),
			provider.StopToolCalls,
			[]provider.Part{{Kind: provider.PartReasoning, Text: "Hm."}, text("Let me see."), call("call-1", "a", `1`),
				call("call-2", "b", `2`), call("call-3", "c", `3`)}},
		"signed": {providertest.Reply(providertest.Call("a", 1),
			providertest.Reply(providertest.Call("b", 2),
				providertest.Chunks(provider.AttachTo(0, provider.Opaque{Provider: "p", Data: "s"})))),
			provider.StopToolCalls,
			[]provider.Part{call("call-1", "a", `1`), func() provider.Part {
				p := call("call-2", "b", `2`)
				p.Opaque = &provider.Opaque{Provider: "p", Data: "s"}
				return p
			}()}},
		"stop inside": {providertest.Reply(providertest.Stop(provider.StopPaused, providertest.Say("a")),
			providertest.Say("b")), provider.StopPaused, []provider.Part{text("ab")}},
		"signed calls": {providertest.Reply(providertest.Call("a", 1),
			providertest.Chunks(provider.ToolStart(0, "x", "b"), provider.ToolEnd(0),
				provider.AttachTo(0, provider.Opaque{Provider: "p", Data: "s"}))), provider.StopToolCalls,
			[]provider.Part{call("call-1", "a", `1`), {Kind: provider.PartToolCall,
				Call: &provider.ToolCall{ID: "x", Name: "b"}, Opaque: &provider.Opaque{Provider: "p", Data: "s"}}}},
		"whole stream": {providertest.Chunks(provider.Start("other"), provider.Text("x"), provider.Reset("again"),
			provider.Start("other"), provider.End(provider.StopUnknown, provider.Usage{})), provider.StopUnknown, nil},
	} {
		t.Run(name, func(t *testing.T) {
			m := providertest.Script(c.step)
			chunks, err := play(t.Context(), m)
			require.NoError(t, err)
			for _, chunk := range chunks {
				require.True(t, utf8.ValidString(chunk.Text), chunk.Text)
				require.LessOrEqual(t, len(chunk.Text), 24)
			}
			r, err := provider.CollectSeq(replay(chunks))
			require.NoError(t, err)
			require.Equal(t, c.want, r.Parts)
			require.Equal(t, c.stop, r.Stop)
			require.Equal(t, c.want, c.step.Response().Parts)
		})
	}
}

func TestInterleavedCallsAreOpenAtOnce(t *testing.T) {
	chunks, err := play(t.Context(),
		providertest.Script(providertest.Interleaved(providertest.CallSpec{"a", 1}, providertest.CallSpec{"b", 2})))
	require.NoError(t, err)
	require.Equal(t, []string{"start", "tool_start", "tool_start", "tool_delta", "tool_delta", "tool_end", "tool_end",
		"end"}, kinds(chunks))
	require.Equal(t, []int32{1, 0}, []int32{chunks[5].Index, chunks[6].Index})
}

func TestIDsAreCountedThroughTheScript(t *testing.T) {
	m := providertest.Script(providertest.Call("a", nil), providertest.Call("a", nil))
	for _, want := range []string{"call-1", "call-2"} {
		r, err := provider.Generate(t.Context(), m, ask("x"))
		require.NoError(t, err)
		require.Equal(t, want, r.Calls()[0].ID)
	}
}

func TestHugeHasTheSizeAskedFor(t *testing.T) {
	for _, n := range []int{-1, 0, 1, 4096, 100_000} {
		require.Len(t, providertest.Huge(n).Response().Text(), max(n, 0))
	}
}

func TestUsageMayBeGiven(t *testing.T) {
	want := provider.Usage{Input: 7, Output: 8, CacheRead: 3}
	step := providertest.WithUsage(want, providertest.Say("x"))
	require.Equal(t, want, step.Response().Usage)
	require.Equal(t, want, providertest.Reply(providertest.Say("y"), step, providertest.Say("z")).Response().Usage)
}

func TestAFailureSaysWhatItWasTold(t *testing.T) {
	boom := errors.New("boom")
	m := providertest.Script(
		providertest.Fail(fault.RateLimited, providertest.RetryAfter(0)),
		providertest.Fail(fault.UserFixable, providertest.Status(402), providertest.Message("pay"),
			providertest.Cause(boom)),
		providertest.FailWith(boom),
		providertest.Fail(fault.None),
		providertest.FailWith(nil),
		providertest.Call("t", make(chan int)),
		providertest.Interleaved(providertest.CallSpec{"t", func() {}}),
	)
	chunks, err := play(t.Context(), m)
	require.Empty(t, chunks)
	require.Equal(t, fault.RateLimited, fault.Of(err))
	wait, ok := fault.RetryAfter(err)
	require.True(t, ok)
	require.Zero(t, wait)

	_, err = play(t.Context(), m)
	var e *provider.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, 402, e.Status)
	require.Equal(t, "pay", e.Message)
	require.ErrorIs(t, err, boom)

	_, err = play(t.Context(), m)
	require.Equal(t, boom, err)
	_, err = play(t.Context(), m)
	require.True(t, provider.Canceled(err))
	_, err = play(t.Context(), m)
	require.ErrorContains(t, err, "no error")
	for range 2 {
		_, err = play(t.Context(), m)
		require.Equal(t, fault.Permanent, fault.Of(err))
		require.ErrorContains(t, err, `call of "t" is no JSON`)
	}
}

func TestEveryClassCanBeScripted(t *testing.T) {
	for class := fault.None; class <= fault.Denied; class++ {
		_, err := play(t.Context(), providertest.Script(providertest.Fail(class)))
		require.Error(t, err)
		require.Equal(t, class, fault.Of(err))
	}
}

func TestAStepEndsEarly(t *testing.T) {
	say := providertest.SayChunks("a", "b", "c")
	for name, c := range map[string]struct {
		step  providertest.Step
		kinds []string
		fails bool
	}{
		"cut at once":     {providertest.Cut(0, say), nil, false},
		"cut after Start": {providertest.Cut(1, say), []string{"start"}, false},
		"cut before End":  {providertest.Cut(99, say), []string{"start", "text", "text", "text"}, false},
		"cut below zero":  {providertest.Cut(-1, say), nil, false},
		"fails after two": {providertest.FailAfter(2, say, fault.Transient), []string{"start", "text"}, true},
		"fails at the end": {providertest.FailAfter(4, say, fault.Transient),
			[]string{"start", "text", "text", "text"}, true},
		"cut in a reply": {providertest.Reply(say, providertest.Cut(2, providertest.Think("x y z")), say),
			[]string{"start", "text", "text", "text", "reasoning"}, false},
		"fails in a reply": {providertest.Reply(say, providertest.Fail(fault.Degraded)),
			[]string{"start", "text", "text", "text"}, true},
		"cut of the stream": {providertest.Cut(1, providertest.Chunks(provider.Start("m"),
			provider.End(provider.StopDone, provider.Usage{}))), []string{"start"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			chunks, err := play(t.Context(), providertest.Script(c.step))
			require.Equal(t, c.fails, err != nil)
			require.Equal(t, c.kinds, kinds(chunks))
			require.False(t, c.step.Response().Complete)
		})
	}
}

func TestAFailureAtTheBeginOfAReplyComesAlone(t *testing.T) {
	chunks, err := play(t.Context(),
		providertest.Script(providertest.Reply(providertest.Fail(fault.Degraded), providertest.Say("x"))))
	require.Error(t, err)
	require.Empty(t, chunks)
}

func TestAHangEndsWithTheCauseOfItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stop := errors.New("enough")
		m := providertest.Script(providertest.Hang(), providertest.HangAfter(2, providertest.SayChunks("a", "b")))
		for _, n := range []int{0, 2} {
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Hour, stop)
			begun := time.Now()
			chunks, err := play(ctx, m)
			require.ErrorIs(t, err, stop)
			require.Len(t, chunks, n)
			require.Equal(t, time.Hour, time.Since(begun))
			cancel()
		}
	})
}

func TestASlowStepTakesItsTimeAndCanBeCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := providertest.Slow(time.Second, providertest.SayChunks("a", "b"))
		m := providertest.Script(slow, slow, providertest.Slow(time.Minute, providertest.Fail(fault.Transient)))
		begun := time.Now()
		chunks, err := play(t.Context(), m)
		require.NoError(t, err)
		require.Len(t, chunks, 4)
		require.Equal(t, 4*time.Second, time.Since(begun))

		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		begun = time.Now()
		chunks, err = play(ctx, m)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Len(t, chunks, 2)
		require.Equal(t, 2500*time.Millisecond, time.Since(begun))

		begun = time.Now()
		_, err = play(t.Context(), m)
		require.Equal(t, fault.Transient, fault.Of(err))
		require.Equal(t, time.Minute, time.Since(begun))
	})
}

func TestACanceledContextTakesNoStep(t *testing.T) {
	m := providertest.Script(providertest.Say("x"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := play(ctx, m)
	require.ErrorIs(t, err, context.Canceled)
	m.AssertCalls(t, 0)
}

func TestAStepIsTakenWhenTheRangeBegins(t *testing.T) {
	m := providertest.Script(providertest.Say("first"), providertest.Say("second"))
	//lint:ignore SA1012 nil is taken as Background
	a, b := m.Stream(t.Context(), ask("a")), m.Stream(nil, ask("b"))
	rb, err := provider.CollectSeq(b)
	require.NoError(t, err)
	require.Equal(t, "first", rb.Text())
	ra, err := provider.CollectSeq(a)
	require.NoError(t, err)
	require.Equal(t, "second", ra.Text())
}

func TestRequestsAreKeptAsTheyWere(t *testing.T) {
	m := providertest.Script(providertest.Say("x"))
	req := ask("before")
	_, err := provider.Generate(t.Context(), m, req)
	require.NoError(t, err)
	req.Messages[0] = provider.User("after")
	got := m.Requests()
	require.Equal(t, "before", got[0].LastUserText())
	got[0].Messages[0] = provider.User("changed")
	require.Equal(t, "before", m.Requests()[0].LastUserText())
}

func TestARewoundScriptStartsOver(t *testing.T) {
	m := providertest.Script(providertest.Say("x"))
	for range 3 {
		r, err := provider.Generate(t.Context(), m, ask("x"))
		require.NoError(t, err)
		require.Equal(t, "x", r.Text())
		m.AssertDone(t)
		m.Rewind()
	}
	m.AssertCalls(t, 0)
}

func TestConcurrentCallsTakeOneStepEach(t *testing.T) {
	const n = 50
	var steps []providertest.Step
	for i := range n {
		steps = append(steps, providertest.Say(fmt.Sprint("answer ", i)))
	}
	m := providertest.Script(steps...)
	var wg sync.WaitGroup
	var mu sync.Mutex
	seen := map[string]bool{}
	for range n {
		wg.Go(func() {
			r, err := provider.Generate(context.Background(), m, ask("x"))
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				seen[r.Text()] = true
			}
		})
	}
	wg.Wait()
	require.Len(t, seen, n)
	m.AssertDone(t)
}

func TestAStepMayStandInManyScripts(t *testing.T) {
	call := providertest.Call("t", 1)
	ids := providertest.WithIDs(call, "mine")
	require.Equal(t, "call-1", call.Response().Calls()[0].ID)
	require.Equal(t, "mine", ids.Response().Calls()[0].ID)
	for range 2 {
		r, err := provider.Generate(t.Context(), providertest.Script(call), ask("x"))
		require.NoError(t, err)
		require.Equal(t, "call-1", r.Calls()[0].ID)
	}
}
