package gemini_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

func opaque(kind, data string) *provider.Opaque {
	return &provider.Opaque{Provider: "gemini", Kind: kind, Data: data}
}

// answer decodes a hand-written exchange.
func answer(t testing.TB, file string, req *provider.Request) (*provider.Response, error) {
	t.Helper()
	body, err := os.ReadFile("testdata/" + file)
	require.NoError(t, err)
	return provider.Generate(t.Context(), offline(t, body), req)
}

func whole(t testing.TB, file string) *provider.Response {
	t.Helper()
	r, err := answer(t, file, ask("hello"))
	require.NoError(t, err)
	require.True(t, r.Complete)
	return r
}

func ask(text string) *provider.Request {
	return &provider.Request{Messages: []provider.Message{provider.User(text)}}
}

func TestThoughtsTextAndCallsAreSeparateWithTheirSignatures(t *testing.T) {
	req := ask("hello")
	req.Tools = []provider.Tool{{Name: "cms.createPage"}, {Name: "weather"}}
	r, err := answer(t, "hello.sse", req)
	require.NoError(t, err)
	require.Equal(t, []provider.Part{
		{Kind: provider.PartReasoning, Text: "The user greets me."},
		{Kind: provider.PartText, Text: "Grüß Gott, Zoë!", Opaque: opaque("thoughtSignature", "c2lnLXRleHQ=")},
		{Kind: provider.PartToolCall,
			Call:   &provider.ToolCall{Name: "cms.createPage", Input: json.RawMessage(`{"city":"Oslo","days":2}`)},
			Opaque: opaque("thoughtSignature", "c2lnLWNhbGw=")},
		{Kind: provider.PartToolCall,
			Call: &provider.ToolCall{ID: "fc-7", Name: "weather", Input: json.RawMessage(`{"city":"Bergen"}`)}},
	}, r.Parts)
	require.Equal(t, "answer-1", r.ID)
	require.Equal(t, "gemini-test-001", r.Model)
	require.Equal(t, provider.StopToolCalls, r.Stop)
	require.Equal(t, "STOP", r.StopRaw)
}

func TestOutputCountsThoughtsAndInputCountsTheCache(t *testing.T) {
	u := whole(t, "hello.sse").Usage
	require.JSONEq(t,
		`{"promptTokenCount":12,"candidatesTokenCount":30,"totalTokenCount":51,"thoughtsTokenCount":9,"cachedContentTokenCount":4}`, u.Raw)
	u.Raw = ""
	require.Equal(t, provider.Usage{Input: 12, Output: 39, CacheRead: 4, Reasoning: 9}, u)
}

func TestInputCountsResultsOfTheProvidersTools(t *testing.T) {
	u := whole(t, "code.sse").Usage
	require.Equal(t, int64(28), u.Input)
	require.Equal(t, int64(20), u.Output)
}

func TestACallThatTheProviderRanIsNotRun(t *testing.T) {
	r := whole(t, "code.sse")
	require.Empty(t, r.Calls())
	require.Equal(t, provider.StopDone, r.Stop)
	require.Len(t, r.Parts, 5)
	require.Equal(t, provider.PartProviderCall, r.Parts[0].Kind)
	require.Equal(t, "code_execution", r.Parts[0].Call.Name)
	require.JSONEq(t, `{"language":"PYTHON","code":"print(6 * 7)"}`, string(r.Parts[0].Call.Input))
	require.Equal(t, "42\n", r.Parts[1].Result.Text())
	require.False(t, r.Parts[1].Result.Error)
	require.Equal(t, &provider.ToolCall{ID: "s1", Name: "FILE_SEARCH", Input: json.RawMessage(`{"query":"answer"}`)},
		r.Parts[2].Call)
	require.JSONEq(t,
		`{"toolCall":{"id":"s1","toolType":"FILE_SEARCH","args":{"query":"answer"}},"thoughtSignature":"c2lnLXRvb2w="}`,
		r.Parts[2].Opaque.Data)
	require.Equal(t, "s1", r.Parts[3].Result.CallID)
	require.Equal(t, `{"found":1}`, r.Parts[3].Result.Text())
}

func TestEachPieceOfTextWithASourceCitesIt(t *testing.T) {
	r := whole(t, "search.sse")
	var sources []provider.Source
	for _, p := range r.Parts {
		if p.Source != nil {
			sources = append(sources, *p.Source)
		}
	}
	require.Equal(t, []provider.Source{
		{URL: "https://example.org/ruby", Title: "Ruby", End: 15},
		{URL: "https://example.org/ruby", Title: "Ruby", Start: 16, End: 38},
		{ID: "doc-1", Text: "notes", Start: 16, End: 38},
		{URL: "https://example.org/unused"},
		{URL: "https://example.org/copied", End: 4},
	}, sources)
	last := r.Parts[len(r.Parts)-1]
	require.Equal(t, "groundingMetadata", last.Opaque.Kind)
	require.Contains(t, last.Opaque.Data, `"searchEntryPoint":{"renderedContent":"<div>"}`)
}

func TestArgumentsInPiecesAreOneCall(t *testing.T) {
	calls := whole(t, "pieces.sse").Calls()
	require.Len(t, calls, 2)
	require.Equal(t, `{"draft":false,"parent":null,"tags":["x",{"a.b":12345678901234567890}],"title":"A \"quote\""}`,
		string(calls[0].Input))
	require.Equal(t, "stop", calls[1].Name)
	require.Empty(t, calls[1].Input)
}

func TestACallWithIncompleteArgumentsIsNotRun(t *testing.T) {
	r := whole(t, "pieces_unfinished.sse")
	require.Equal(t, provider.StopError, r.Stop)
	require.False(t, r.Stop.RunsCalls())
}

func TestPiecesOfArgumentsWithAnInvalidPathAreAnError(t *testing.T) {
	for _, path := range []string{"title", "$[1]", "$.a[", "$.a['b", "$..a", "$.", "$.s.x", "$.l.x", "$.o[0]", "$.o",
		"$" + strings.Repeat(".a", 200)} {
		body := `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","willContinue":true,"partialArgs":[
			{"jsonPath":"$.s","stringValue":"x"},{"jsonPath":"$.l[0]","boolValue":true},{"jsonPath":"$.o.k","boolValue":true},
			{"jsonPath":"` + path + `","stringValue":"y"}]}}]},"finishReason":"STOP"}]}`
		_, err := provider.Generate(t.Context(), offline(t, []byte(body)), ask("hello"))
		require.Equal(t, fault.Transient, fault.Of(err), path)
	}
}

func TestEveryKindOfPartIsKept(t *testing.T) {
	r := whole(t, "odd.sse")
	require.Equal(t, provider.StopLength, r.Stop)
	require.Equal(t, []provider.Part{
		{Kind: provider.PartReasoning, Text: "a sketch", Opaque: opaque("thoughtSignature", "czE=")},
		{Kind: provider.PartText, Text: "Here: ", Opaque: opaque("thoughtSignature", "czI=")},
		provider.TextPart("look."),
		{Kind: provider.PartMedia, Media: &provider.Media{Type: "image/png", Data: []byte("image")},
			Opaque: opaque("thoughtSignature", "czM=")},
		provider.MediaPart(provider.Media{Type: "video/mp4", URL: "https://example.org/film"}),
		{Kind: provider.PartOpaque, Opaque: opaque("part", `{"hologram":{"depth":3},"thoughtSignature":"czQ="}`)},
		{Kind: provider.PartOpaque, Opaque: opaque("thoughtSignature", "czU=")},
	}, r.Parts)
}

func TestAFinishReasonSaysWhetherCallsMayRun(t *testing.T) {
	for reason, want := range map[string]provider.StopReason{
		"STOP": provider.StopDone, "MAX_TOKENS": provider.StopLength, "SAFETY": provider.StopFiltered,
		"RECITATION": provider.StopFiltered,
		"BLOCKLIST":  provider.StopFiltered, "PROHIBITED_CONTENT": provider.StopFiltered, "SPII": provider.StopFiltered,
		"IMAGE_SAFETY": provider.StopFiltered, "CONTINUATION": provider.StopPaused,
		"UNEXPECTED_TOOL_CALL": provider.StopError,
		"OTHER":                provider.StopError, "A_NEW_ONE": provider.StopError, "": provider.StopUnknown,
	} {
		body := `{"candidates":[{"content":{"parts":[{"text":"Hm."}]},"finishReason":"` + reason + `"}]}`
		r, err := provider.Generate(t.Context(), offline(t, []byte(body)), ask("hello"))
		require.NoError(t, err)
		require.Equal(t, want, r.Stop, reason)
		require.Equal(t, reason, r.StopRaw)
	}
}

func TestAStoppedAnswerHasItsReason(t *testing.T) {
	for file, want := range map[string]*provider.Opaque{
		"safety.sse":   opaque("finishMessage", "It was harmful."),
		"blocked.json": opaque("promptFeedback", `{"blockReason":"PROHIBITED_CONTENT","safetyRatings":[]}`),
	} {
		r := whole(t, file)
		require.Equal(t, want, r.Parts[len(r.Parts)-1].Opaque, file)
	}
	blocked := whole(t, "blocked.json")
	require.Equal(t, provider.StopFiltered, blocked.Stop)
	require.Equal(t, "PROHIBITED_CONTENT", blocked.StopRaw)
	require.Equal(t, int64(7), blocked.Usage.Input)
}

// The next attempt at a malformed call usually works, so that it is an error that is tried again.
func TestAMalformedCallIsAnError(t *testing.T) {
	_, err := answer(t, "malformed.sse", ask("hello"))
	var e *provider.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, fault.Degraded, e.Class)
	require.Equal(t, "MALFORMED_FUNCTION_CALL", e.Code)
	require.Equal(t, "Malformed function call: print(weather(", e.Message)
}

func TestEveryFramingIsDecoded(t *testing.T) {
	one := `{"candidates":[{"content":{"parts":[{"text":"One, "}]}}]}`
	two := `{"candidates":[{"content":{"parts":[{"text":"two."}]},"finishReason":"STOP"}]}`
	for name, body := range map[string]string{
		"events":                     "data: " + one + "\n\ndata: " + two + "\n\n",
		"events with carriage feeds": "data: " + one + "\r\n\r\ndata: " + two + "\r\n\r\n",
		"events without blanks":      "data:" + one + "\n\ndata:" + two + "\n\n",
		"no blank line at the end":   "data: " + one + "\n\ndata: " + two,
		"an event of several lines": "data: " + one + "\n\ndata: " + strings.Replace(two, ",", ",\ndata: ", 1) +
			"\n\n",
		"an array":             "[" + one + ",\r\n" + two + "]",
		"an array in an event": "data: [" + one + "," + two + "]\n\n",
		"lines":                one + "\n" + two + "\n",
		"events, then JSON":    "data: " + one + "\n\n" + two + "\n",
		"byte order mark":      "\uFEFFdata: " + one + "\n\ndata: " + two + "\n\n",
		"done":                 "data: " + one + "\n\ndata: " + two + "\n\ndata: [DONE]\n\n",
	} {
		for _, split := range []bool{false, true} {
			m := offline(t, []byte(body))
			if split {
				m = offlineReader(t, iotest.OneByteReader(strings.NewReader(body)))
			}
			r, err := provider.Generate(t.Context(), m, ask("hello"))
			require.NoError(t, err, name)
			require.Equal(t, "One, two.", r.Text(), name)
		}
	}
}

func TestAnAnswerThatDoesNotEndIsIncomplete(t *testing.T) {
	half := `{"candidates":[{"content":{"parts":[{"text":"Hal"}]}}]}`
	for _, body := range []string{"", " \n", "data: " + half + "\n\n", "data: " + half[:30], "[" + half, "[" + half +
		",", half[:30], half + half,
		"data: " + half + "\n\n[" + half} {
		r, err := provider.Generate(t.Context(), offline(t, []byte(body)), ask("hello"))
		require.ErrorIs(t, err, provider.ErrIncomplete, body)
		require.False(t, r.Complete)
	}
}

func TestABrokenConnectionIsIncomplete(t *testing.T) {
	gone := errors.New("the wire is gone")
	body := []byte(
		"data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"Hal\"}]},\"finishReason\":\"STOP\"}]}\n\n")
	r, err := provider.Generate(t.Context(), offlineReader(t, &failing{bytes.NewReader(body), gone}), ask("hello"))
	require.ErrorIs(t, err, provider.ErrIncomplete)
	require.ErrorIs(t, err, gone)
	require.Equal(t, fault.Transient, fault.Of(err))
	require.Equal(t, "Hal", r.Text())
}

// A failing reader ends with an error.
type failing struct {
	r   *bytes.Reader
	err error
}

func (f *failing) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if err != nil {
		err = f.err
	}
	return n, err
}

func TestGarbageIsARetryableError(t *testing.T) {
	for _, body := range []string{"data: {\"a\"\n\ndata: {}\n\n", `{"candidates":1}`,
		`{"candidates":[{"content":{"parts":[1]}}]}`, "{nonsense}", "{}", "[]", "[1]",
		`{"candidates":[{"content":{"parts":[{"functionCall":{"args":{"a":1}}}]}}]}`} {
		_, err := provider.Generate(t.Context(), offline(t, []byte(body)), ask("hello"))
		require.Equal(t, fault.Transient, fault.Of(err), body)
	}
}

func TestAnEndlessLineIsAnError(t *testing.T) {
	_, err := provider.Generate(t.Context(), offlineReader(t, io.MultiReader(strings.NewReader("data: "), endless{})),
		ask("hello"))
	require.Equal(t, fault.Permanent, fault.Of(err))
}

// An endless reader repeats one letter.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// Later figures replace earlier ones, each by itself, and an answer without any has unknown usage.
func TestFiguresThatALaterChunkLacksStay(t *testing.T) {
	object := func(usage string) string {
		return `data: {"candidates":[{"content":{"parts":[{"text":"x"}]},"finishReason":"STOP"}]` + usage + "}\n\n"
	}
	end := func(body string) (last provider.Chunk) {
		for c, err := range offline(t, []byte(body)).Stream(t.Context(), ask("hello")) {
			require.NoError(t, err)
			last = c
		}
		require.Equal(t, provider.KindEnd, last.Kind)
		return last
	}
	u := end(object(`,"usageMetadata":{"promptTokenCount":7,"cachedContentTokenCount":3,"thoughtsTokenCount":2}`) +
		object(`,"usageMetadata":{"candidatesTokenCount":1}`) +
		object(`,"usageMetadata":{"promptTokenCount":7,"candidatesTokenCount":5,"thoughtsTokenCount":null}`)).Extra.Usage
	require.Equal(t, []int64{7, 7, 3, 2}, []int64{u.Input, u.Output, u.CacheRead, u.Reasoning})
	require.Nil(t, end(object("")).Extra.Usage)
	require.Nil(t, end(object(`,"usageMetadata":{"promptTokenCount":0,"candidatesTokenCount":0}`)).Extra.Usage)
}
