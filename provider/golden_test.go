package provider_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files in testdata")

func ptr[T any](v T) *T { return &v }

// full has a value of every type, with every field set.
var full = map[string]any{
	"request": &provider.Request{
		Model:  "m-1",
		System: "Be <brief> & kind.",
		Messages: []provider.Message{
			provider.User("How cold is it in Zürich?"),
			{Role: provider.RoleAssistant, Parts: allParts()},
			{Role: provider.RoleTool,
				Parts: []provider.Part{
					provider.ResultPart(provider.ToolResult{CallID: "c1", Name: "weather", Error: true,
						Parts: []provider.Part{provider.TextPart("no such city"),
							provider.MediaPart(provider.Media{Type: "image/png", Data: []byte{0, 255}})}})}},
		},
		Tools: []provider.Tool{{Name: "cms.createPage", Description: "Makes a page.",
			Schema:  json.RawMessage(`{"type":"object"}`),
			Options: map[string]json.RawMessage{"other": json.RawMessage(`{"b":1}`)}}},
		ToolChoice:               provider.ToolChoice{Mode: provider.ChooseTool, Tool: "cms.createPage"},
		DisableParallelToolCalls: true,
		MaxOutput:                256,
		Sampling: &provider.Sampling{Temperature: ptr(0.0), TopP: ptr(0.9), TopK: ptr(40), Seed: ptr(int64(7)),
			PresencePenalty:  ptr(0.5),
			FrequencyPenalty: ptr(-0.5), Stop: []string{"\n\n"}},
		Reasoning: &provider.ReasoningOptions{Effort: "low", Budget: 1024, Hide: true},
		Output:    &provider.OutputFormat{Name: "answer", Schema: json.RawMessage(`{"type":"string"}`)},
		Labels: provider.Labels{Session: "s-1", User: "ann", Tenant: "acme", Extra: "tenant=acme&user=ann",
			Run: "r-1", Step: 2,
			Pipeline: "p-1", Task: "t-1", Agent: "cms", Kind: "step", Trace: "4bf92f3577b34da6a3ce929d0e0e4736"},
		Images:      &provider.ImageOptions{Count: 2, Size: "1024x1024", Quality: "low"},
		Interactive: true,
		Cache:       true,
		Priority:    80,
		NoRestart:   true,
		Options:     map[string]json.RawMessage{"other": json.RawMessage(`{"a":1}`)},
	},
	"request_empty": &provider.Request{},
	"response": &provider.Response{ID: "resp-1", Model: "m-1-2026", Parts: allParts(), Stop: provider.StopToolCalls,
		StopRaw: "tool_use", Details: map[string]json.RawMessage{"tier": json.RawMessage(`"<flex>"`)},
		Usage: fullUsage(), Complete: true},
	"response_empty": &provider.Response{},
	"chunks": &[]provider.Chunk{
		provider.Waiting(provider.Wait{Reason: provider.WaitBackingOff,
			Until: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC), Detail: "busy", Attempt: 2}),
		provider.Waiting(provider.Wait{Reason: provider.WaitQueued}),
		{Kind: provider.KindStart, ID: "resp-1", Name: "m-1"},
		provider.Reasoning("Hm."),
		provider.Attach(provider.Opaque{Provider: "p", Kind: "signature", Data: "c2ln"}),
		provider.OpaquePart(provider.Opaque{Provider: "p", Data: "cmVk"}),
		provider.Text("<b>Zürich</b>"),
		provider.Refusal("No."),
		provider.ToolStart(1, "id-1", "weather"),
		provider.ToolDelta(1, `{"city":`),
		provider.ToolEnd(1),
		provider.AttachTo(1, provider.Opaque{Provider: "p", Data: "dGg="}),
		provider.ProviderCall(provider.ToolCall{ID: "s", Name: "search", Input: json.RawMessage(`{"q":"x"}`)}),
		provider.ProviderResult(provider.ToolResult{CallID: "s", Name: "search"}),
		provider.Cite(provider.Source{ID: "1", URL: "https://example.com", Title: "T", Text: "cited", Start: 1,
			End: 9}),
		provider.File(provider.Media{Type: "image/png", FileID: "f-1"}),
		provider.Reset("preempted"),
		{Kind: provider.KindStart, Name: "m-1",
			Extra: &provider.Extra{RateLimits: http.Header{"X-Ratelimit-Remaining-Requests": {"9"}}}},
		{Kind: provider.KindEnd,
			Extra: &provider.Extra{Stop: provider.StopUnknown, StopRaw: "?", Usage: ptr(fullUsage()),
				Details: map[string]json.RawMessage{"tier": json.RawMessage(`"<flex>"`)}}},
	},
	"error": &provider.Error{Class: fault.RateLimited, Provider: "p", Model: "m-1", Status: 429,
		Type: "rate_limit_error", Code: "tokens",
		Message: "slow down", RequestID: "req-1", Wait: ptr(1500 * time.Millisecond), Remedy: "buy more",
		ContextLength: &provider.ContextLength{Limit: 8, Size: 9}},
	"model": &provider.ModelInfo{Provider: "p", ID: "m-1", Name: "Model One", Window: 200_000, MaxOutput: 8192,
		Inputs:  []string{"text", "image"},
		Outputs: []string{"text"}, Reasoning: true,
		Prices: &provider.Prices{Input: 3 * provider.USD, Output: 15 * provider.USD,
			CacheRead: provider.USD / 10, CacheWrite: 4 * provider.USD, Date: "2026-11-21",
			Source: "https://example.com/prices"}},
}

func fullUsage() provider.Usage {
	return provider.Usage{Input: 100, Output: 20, CacheRead: 60, CacheWrite: 10, Reasoning: 5, Estimated: true,
		Raw: `{"in":100}`}
}

func allParts() []provider.Part {
	sig := &provider.Opaque{Provider: "p", Kind: "signature", Data: "c2ln"}
	return []provider.Part{
		{Kind: provider.PartReasoning, Text: "Hm.", Opaque: sig},
		{Kind: provider.PartText, Text: "Let me <see>.", Cache: true},
		{Kind: provider.PartRefusal, Text: "No."},
		{Kind: provider.PartToolCall, Call: &provider.ToolCall{ID: "c1", ProviderID: "id-1", Name: "weather",
			Input: json.RawMessage(`{"city":"<Zürich>"}`)}, Opaque: sig},
		{Kind: provider.PartToolCall, Call: &provider.ToolCall{ID: "c2", Name: "weather", Invalid: `{"city":`}},
		{Kind: provider.PartProviderCall, Call: &provider.ToolCall{ID: "s", Name: "search"}},
		{Kind: provider.PartProviderResult, Result: &provider.ToolResult{CallID: "s", Name: "search",
			Parts: []provider.Part{provider.TextPart("found")}}},
		{Kind: provider.PartMedia, Media: &provider.Media{Type: "application/pdf", Name: "a.pdf", Data: []byte("%PDF"),
			URL: "https://example.com/a.pdf", FileID: "f"}},
		{Kind: provider.PartSource,
			Source: &provider.Source{ID: "1", URL: "u", Title: "T", Text: "x", Start: 1, End: 2}},
		{Kind: provider.PartOpaque, Opaque: &provider.Opaque{Provider: "p", Kind: "redacted", Data: "cmVk"}},
	}
}

// plain marshals as a journal does: HTML characters stay as they are.
func plain(t testing.TB, v any, indent string) []byte {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	require.NoError(t, enc.Encode(v))
	return b.Bytes()
}

func TestJSONStaysAsItIs(t *testing.T) {
	for name, v := range full {
		t.Run(name, func(t *testing.T) {
			got, path := plain(t, v, "  "), filepath.Join("testdata", name+".json")
			if *update {
				require.NoError(t, os.MkdirAll("testdata", 0o755))
				require.NoError(t, os.WriteFile(path, got, 0o644))
			}
			want, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, string(want), string(got))
		})
	}
}

func TestGoldenFilesCanBeRead(t *testing.T) {
	for name, v := range full {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join("testdata", name+".json"))
			require.NoError(t, err)
			back := reflect.New(reflect.TypeOf(v).Elem())
			dec := json.NewDecoder(bytes.NewReader(data))
			dec.DisallowUnknownFields()
			require.NoError(t, dec.Decode(back.Interface()))
			// Indenting reaches into raw JSON; without it both are the same again.
			require.Equal(t, string(plain(t, v, "")), string(plain(t, back.Interface(), "")))
		})
	}
}

// TestTheGoldenFilesLeaveNothingOut fails if somebody adds a field and forgets it here.
func TestTheGoldenFilesLeaveNothingOut(t *testing.T) {
	seen := map[string]bool{}
	fields := map[string]bool{}
	var walk func(v reflect.Value)
	walk = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Pointer:
			if !v.IsNil() {
				walk(v.Elem())
			}
		case reflect.Slice:
			for i := range v.Len() {
				walk(v.Index(i))
			}
		case reflect.Struct:
			if v.Type().PkgPath() != "github.com/pawlkit/pawl/provider" {
				return
			}
			for i := range v.NumField() {
				f := v.Type().Field(i)
				if f.Tag.Get("json") == "-" {
					continue
				}
				name := v.Type().Name() + "." + f.Name
				fields[name] = true
				if !v.Field(i).IsZero() {
					seen[name] = true
				}
				walk(v.Field(i))
			}
		}
	}
	for _, v := range full {
		walk(reflect.ValueOf(v))
	}
	for name := range fields {
		require.True(t, seen[name], "no golden file has %s", name)
	}
}
