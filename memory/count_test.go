package memory_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"iter"
	"math"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
)

// tally is a Counter that remembers what it was asked.
type tally struct {
	memory.Estimator
	messages, tools, texts int
}

func (c *tally) CountText(s string) int { c.texts++; return c.Estimator.CountText(s) }
func (c *tally) CountMessage(m *provider.Message) int {
	c.messages++
	return c.Estimator.CountMessage(m)
}
func (c *tally) CountTool(t *provider.Tool) int { c.tools++; return c.Estimator.CountTool(t) }

// picture is the beginning of a PNG file, which says how large it is.
func picture(w, h uint32) *provider.Media {
	header := []byte("IHDR")
	header = binary.BigEndian.AppendUint32(header, w)
	header = binary.BigEndian.AppendUint32(header, h)
	header = append(header, 8, 0, 0, 0, 0)
	data := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0d"), header...)
	return &provider.Media{Type: "image/png", Data: binary.BigEndian.AppendUint32(data, crc32.ChecksumIEEE(header))}
}

// TestImagesAreCountedAsProvidersDocument takes the examples of their documentation.
func TestImagesAreCountedAsProvidersDocument(t *testing.T) {
	for _, c := range []struct {
		family memory.Family
		model  string
		w, h   uint32
		want   int
	}{
		{memory.FamilyOpenAI, "gpt-4o", 1024, 1024, 765},
		{memory.FamilyOpenAI, "gpt-4o", 2048, 4096, 1105},
		{memory.FamilyOpenAI, "gpt-4o", 128, 64, 255},
		{memory.FamilyOpenAI, "gpt-4o-mini", 128, 64, 8500},
		{memory.FamilyOpenAI, "gpt-4.1-mini", 1024, 1024, 1659},
		{memory.FamilyOpenAI, "gpt-4.1-mini", 4000, 1474, 2489},
		{memory.FamilyGemini, "gemini-2.5-flash", 384, 384, 258},
		{memory.FamilyGemini, "gemini-2.5-flash", 960, 540, 516},
		{memory.FamilyAnthropic, "claude-3-7-sonnet", 200, 200, 64},
		{memory.FamilyAnthropic, "claude-sonnet-4-5", 1092, 1092, 1521},
		{memory.FamilyAnthropic, "claude-sonnet-4-5", 3000, 3000, 1568},
		{memory.FamilyAnthropic, "claude-opus-4-7", 3000, 3000, 4784},
	} {
		e := &memory.Estimator{Family: c.family, Model: c.model}
		m := provider.Message{Parts: []provider.Part{provider.MediaPart(*picture(c.w, c.h))}}
		require.Equal(t, c.want, e.CountMessage(&m)-4, "%s, %d × %d", c.model, c.w, c.h)
	}
}

func TestMediaWithoutASizeCountAsTheLargest(t *testing.T) {
	e := &memory.Estimator{Family: memory.FamilyAnthropic, Model: "claude-sonnet-4-5"}
	count := func(m provider.Media) int {
		return e.CountMessage(&provider.Message{Parts: []provider.Part{provider.MediaPart(m)}}) - 4
	}
	require.Equal(t, 1568, count(provider.Media{Type: "image/webp", Data: []byte("RIFF")}))
	require.Equal(t, 1568, count(provider.Media{Type: "image/png", URL: "https://example.com/a.png"}))
	require.Equal(t, 3*4600,
		count(provider.Media{Type: "application/pdf",
			Data: []byte("<</Type /Pages>> <</Type /Page>> <</Type/Page>> <</Type /Page>>")}))
	require.Equal(t, 4*4600, count(provider.Media{Type: "application/pdf", Data: make([]byte, 100_000)}),
		"packed: by its size")
	require.Equal(t, 8_000, count(provider.Media{Type: "application/pdf", FileID: "file_1"}))
	require.Equal(t, 11*32, count(provider.Media{Type: "audio/mpeg", Data: make([]byte, 40_000)}))
	require.Equal(t, e.CountText("a,b"), count(provider.Media{Type: "text/csv", Data: []byte("a,b")}))
}

func TestFamiliesAreKnownByTheirNames(t *testing.T) {
	for id, want := range map[string]memory.Family{
		"claude-sonnet-4-5": memory.FamilyAnthropic, "anthropic/claude-3-opus": memory.FamilyAnthropic,
		"gpt-4o":  memory.FamilyOpenAI,
		"o3-mini": memory.FamilyOpenAI, "gpt-4-turbo": memory.FamilyUnknown, "openai/gpt-4": memory.FamilyUnknown,
		"gemini-2.5-flash":     memory.FamilyGemini,
		"meta-llama/llama-3.3": memory.FamilyLlama, "deepseek-r1-distill-llama": memory.FamilyDeepSeek,
		"qwen3": memory.FamilyQwen, "phi": memory.FamilyUnknown,
	} {
		require.Equal(t, want, memory.FamilyOf(provider.ModelInfo{ID: id}), id)
	}
	require.Equal(t, memory.FamilyGemini, memory.FamilyOf(provider.ModelInfo{ID: "custom", Provider: "google"}))
}

func TestEveryPartOfARequestCounts(t *testing.T) {
	base := func() *provider.Request {
		return &provider.Request{System: "be good", Messages: []provider.Message{provider.User("hi")}}
	}
	least := memory.CountRequest(nil, base()).Total
	for name, change := range map[string]func(*provider.Request){
		"tools": func(r *provider.Request) { r.Tools = []provider.Tool{{Name: "a", Schema: json.RawMessage(`{}`)}} },
		"schema": func(r *provider.Request) {
			r.Output = &provider.OutputFormat{Schema: json.RawMessage(`{"type":"object"}`)}
		},
		"call": func(r *provider.Request) {
			r.Messages[0].Parts = append(r.Messages[0].Parts,
				provider.Part{Kind: provider.PartToolCall, Call: &provider.ToolCall{Name: "a"}})
		},
		"result": func(r *provider.Request) {
			r.Messages[0].Parts = append(r.Messages[0].Parts,
				provider.ResultPart(provider.ToolResult{Parts: []provider.Part{provider.TextPart("x")}}))
		},
		"source": func(r *provider.Request) {
			r.Messages[0].Parts = append(r.Messages[0].Parts,
				provider.Part{Kind: provider.PartSource, Source: &provider.Source{Title: "x"}})
		},
		"opaque": func(r *provider.Request) {
			r.Messages[0].Parts = append(r.Messages[0].Parts,
				provider.Part{Kind: provider.PartOpaque, Opaque: &provider.Opaque{Provider: "x", Data: "sig"}})
		},
	} {
		r := base()
		change(r)
		require.Greater(t, memory.CountRequest(nil, r).Total, least, name)
	}
	require.Zero(t, memory.CountRequest(nil, nil))
	var none *memory.Estimator
	require.Positive(t, none.CountText("a"), "a nil Estimator is one of an unknown model")
	require.Zero(t, none.CountMessage(nil)+none.CountTool(nil))
	with := &provider.Tool{Name: "a", Options: map[string]json.RawMessage{"x": json.RawMessage(`{"a":1}`),
		"y": json.RawMessage(`{}`)}}
	require.Equal(t, none.CountTool(&provider.Tool{Name: "a"})+none.CountText(`{"a":1}`), none.CountTool(with))
}

func TestACounterThatMakesUpFiguresOverflowsNothing(t *testing.T) {
	for _, n := range []int{math.MaxInt, math.MinInt} {
		c := &memory.Estimator{Tokenize: func(string) int { return n }}
		req := &provider.Request{System: "a", Messages: []provider.Message{provider.User("a"), provider.User("b")}}
		require.GreaterOrEqual(t, memory.CountRequest(c, req).Total, 0)
		comp, err := memory.New(memory.Config{Counter: c})
		require.NoError(t, err)
		_, err = comp.Prepare(t.Context(), req, memory.Context{})
		if n > 0 {
			require.ErrorIs(t, err, memory.ErrContextTooLarge)
		} else {
			require.NoError(t, err)
		}
	}
}

// TestAStepCountsOnlyWhatIsNew appends, in the same array and in others.
func TestAStepCountsOnlyWhatIsNew(t *testing.T) {
	c := &tally{}
	m := memory.NewMeter(c)
	req := &provider.Request{System: "s", Tools: []provider.Tool{{Name: "a"}, {Name: "b"}}}
	for i := range 200 {
		req.Messages = append(req.Messages, provider.User(fmt.Sprint(i)))
		if i%50 == 0 {
			req.Messages = append([]provider.Message(nil), req.Messages...)
		}
		got := m.Count(req)
		require.Equal(t, i+1, c.messages, "one message was new")
		require.Equal(t, memory.CountRequest(&memory.Estimator{}, req), got)
	}
	require.Equal(t, 2, c.tools)
	require.Equal(t, 1, c.texts)

	req.Messages = append(append([]provider.Message(nil), req.Messages[:100]...), provider.User("another"))
	require.Equal(t, memory.CountRequest(&memory.Estimator{}, req), m.Count(req), "another end is counted anew")
	require.Equal(t, 201, c.messages, "and only that")
	req.Messages = append(req.Messages[:3], req.Messages[50:]...)
	require.Equal(t, memory.CountRequest(&memory.Estimator{}, req), m.Count(req), "a hole in the same array is seen")
	req.Messages = append(req.Messages[:3], req.Messages[10:]...)
	for range 20 { // as long as before, in the same array
		req.Messages = append(req.Messages, provider.User("one more"))
	}
	require.Equal(t, memory.CountRequest(&memory.Estimator{}, req), m.Count(req),
		"and so is one that was filled up behind")
	req.Tools = []provider.Tool{{Name: "b"}}
	require.Equal(t, memory.CountRequest(&memory.Estimator{}, req), m.Count(req))
	req.Tools = []provider.Tool{{Name: "b", Options: map[string]json.RawMessage{"x": json.RawMessage(`{"a":1}`)}}}
	req.System = "t"
	require.Equal(t, memory.CountRequest(&memory.Estimator{}, req), m.Count(req))
	req.Messages = nil
	require.Equal(t, memory.CountRequest(&memory.Estimator{}, req), m.Count(req))
}

func TestAMeterLearnsFromWhatTheProviderCounted(t *testing.T) {
	m := memory.NewMeter(nil)
	req := &provider.Request{Messages: []provider.Message{provider.User(strings.Repeat("word ", 1000))}}
	own := m.Count(req).Total
	m.Learn(own * 8 / 10)
	require.InEpsilon(t, float64(own)*.8*1.03, float64(m.Count(req).Total), .01)
	m.Learn(own * 100)
	require.InEpsilon(t, 2.06, m.Scale(), .001, "a figure that can't be is bounded")
	m.Learn(0)
	require.InEpsilon(t, 2.06, m.Scale(), .001)
	m.Reset()
	require.InEpsilon(t, float64(own)*2.06, float64(m.Count(req).Total), .01, "what was learned stays")
}

// counting is a provider that counts.
type counting struct {
	provider.Func
	count func(context.Context) (int, error)
	asked int
}

func (c *counting) CountTokens(ctx context.Context, _ *provider.Request) (int, error) {
	c.asked++
	return c.count(ctx)
}

func TestTheProviderIsAskedRarely(t *testing.T) {
	p := &counting{count: func(context.Context) (int, error) { return 0, errors.New("down") }}
	c, err := memory.New(memory.Config{Window: memory.Window{Size: 20_000}, Asks: p, Rules: []memory.Rule{}})
	require.NoError(t, err)
	req := &provider.Request{}
	for len(req.Messages) < 60 {
		req.Messages = append(req.Messages, provider.User(strings.Repeat("word ", 150)))
		_, err := c.Prepare(t.Context(), req, memory.Context{})
		require.NoError(t, err)
	}
	require.Positive(t, p.asked)
	require.LessOrEqual(t, p.asked, 4, "at half of the budget, and at each quarter more")
}

func TestAProviderThatCountsCorrectsTheEstimate(t *testing.T) {
	p := &counting{count: func(context.Context) (int, error) { return 9_000, nil }}
	c, err := memory.New(memory.Config{Window: memory.Window{Size: 20_000}, Asks: p})
	require.NoError(t, err)
	req := &provider.Request{Messages: []provider.Message{provider.User(strings.Repeat("word ", 9_000))}}
	out, err := c.Prepare(t.Context(), req, memory.Context{})
	require.NoError(t, err)
	require.Nil(t, out.Report, "by the estimate it would be due")
	require.InEpsilon(t, 9_270, out.Count.Total, .01)
}

func TestAProviderThatHangsOrPanicsWhileItCountsDoesNoHarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		req := &provider.Request{Messages: []provider.Message{provider.User("hi")}}
		m := memory.NewMeter(nil)
		own := m.Count(req).Total
		n, err := m.Ask(t.Context(),
			&counting{count: func(ctx context.Context) (int, error) { <-ctx.Done(); return 0, ctx.Err() }}, req)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, own, n)
		n, err = m.Ask(t.Context(), &counting{count: func(context.Context) (int, error) { panic("no") }}, req)
		require.Error(t, err)
		require.Equal(t, own, n)
		n, err = m.Ask(t.Context(),
			provider.Func(func(context.Context, *provider.Request) iter.Seq2[provider.Chunk, error] { return nil }),
			req)
		require.ErrorIs(t, err, provider.ErrNoCount)
		require.Equal(t, own, n)
	})
}

func TestWhatIsLearnedIsOfTheRequestWithItsContext(t *testing.T) {
	c, err := memory.New(memory.Config{})
	require.NoError(t, err)
	req := &provider.Request{Messages: []provider.Message{provider.User("hi")}}
	out, err := c.Prepare(t.Context(), req, memory.Context{Screen: strings.Repeat("button ", 1_000)})
	require.NoError(t, err)
	c.Meter().Learn(out.Count.Total)
	require.InEpsilon(t, 1.03, c.Meter().Scale(), .001)
}
