package gemini_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/gemini"
	"github.com/pawlkit/pawl/provider/internal/wire"
)

func call(id, name, input string, o *provider.Opaque) provider.Part {
	return provider.Part{Kind: provider.PartToolCall,
		Call: &provider.ToolCall{ID: id, Name: name, Input: json.RawMessage(input)}, Opaque: o}
}

func result(id, name, text string) provider.Part {
	return provider.ResultPart(provider.ToolResult{CallID: id, Name: name,
		Parts: []provider.Part{provider.TextPart(text)}})
}

func model(parts ...provider.Part) provider.Message {
	return provider.Message{Role: provider.RoleAssistant, Parts: parts}
}

func results(parts ...provider.Part) provider.Message {
	return provider.Message{Role: provider.RoleTool, Parts: parts}
}

// contents returns the contents of the request for a conversation.
func contents(t testing.TB, model string, messages ...provider.Message) string {
	t.Helper()
	return string(sent(t, &provider.Request{Model: model, Messages: messages})["contents"])
}

const old = "gemini-2.5-flash"

func TestAnAnswerIsSentBackUnchanged(t *testing.T) {
	for file, want := range map[string]string{
		"hello.sse": `[{"text":"Grüß Gott, Zoë!","thoughtSignature":"c2lnLXRleHQ="},
			{"functionCall":{"name":"cms_createPage","args":{"city":"Oslo","days":2}},"thoughtSignature":"c2lnLWNhbGw="},
			{"functionCall":{"id":"fc-7","name":"weather","args":{"city":"Bergen"}}}]`,
		"code.sse": `[{"executableCode":{"language":"PYTHON","code":"print(6 * 7)"}},{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"42\n"}},
			{"toolCall":{"id":"s1","toolType":"FILE_SEARCH","args":{"query":"answer"}},"thoughtSignature":"c2lnLXRvb2w="},
			{"toolResponse":{"id":"s1","toolType":"FILE_SEARCH","response":{"found":1}}},{"text":"It is 42."}]`,
		"search.sse": `[{"text":"Ruby is at 4.0. See the release notes."}]`,
		"odd.sse": `[{"text":"a sketch","thought":true,"thoughtSignature":"czE="},{"text":"Here: ","thoughtSignature":"czI="},{"text":"look."},
			{"inlineData":{"mimeType":"image/png","data":"aW1hZ2U="},"thoughtSignature":"czM="},{"fileData":{"mimeType":"video/mp4","fileUri":"https://example.org/film"}},
			{"hologram":{"depth":3},"thoughtSignature":"czQ="},{"text":"","thoughtSignature":"czU="}]`,
	} {
		req := ask("hello")
		req.Tools = []provider.Tool{{Name: "cms.createPage"}}
		r, err := answer(t, file, req)
		require.NoError(t, err)
		var got []struct {
			Role  string
			Parts json.RawMessage
		}
		require.NoError(t,
			json.Unmarshal([]byte(contents(t, "", provider.User("hello"), r.Message(), provider.User("and?"))), &got))
		require.Equal(t, "model", got[1].Role)
		require.JSONEq(t, want, string(got[1].Parts), file)
	}
}

func TestOpaqueDataOfAnotherProviderIsDropped(t *testing.T) {
	foreign := &provider.Opaque{Provider: "anthropic", Kind: "part", Data: `{"secret":1}`}
	require.JSONEq(t,
		`[{"role":"user","parts":[{"text":"hello"}]},{"role":"model","parts":[{"text":"Hm."}]},{"role":"user","parts":[{"text":"and?"}]}]`,
		contents(t, "", provider.User("hello"), model(
			provider.Part{Kind: provider.PartReasoning, Text: "thinking", Opaque: foreign},
			provider.Part{Kind: provider.PartText, Text: "Hm.", Opaque: foreign},
			provider.Part{Kind: provider.PartOpaque, Opaque: foreign},
			provider.Part{Kind: provider.PartProviderCall, Call: &provider.ToolCall{Name: "search"}, Opaque: foreign},
			provider.Part{Kind: provider.PartSource, Source: &provider.Source{URL: "https://example.org"}},
		), provider.User("and?")))
}

func TestResultsAreSeparateAndInTheOrderOfTheirCalls(t *testing.T) {
	require.JSONEq(t, `[{"role":"user","parts":[{"text":"go"}]},
		{"role":"model","parts":[{"functionCall":{"id":"a","name":"f","args":{"n":1}}},{"functionCall":{"id":"b","name":"f","args":{}}}]},
		{"role":"user","parts":[{"functionResponse":{"id":"a","name":"f","response":{"output":"one"}}},{"functionResponse":{"id":"b","name":"f","response":{"error":"two"}}}]},
		{"role":"user","parts":[{"text":"hurry"},{"text":"please"}]}]`,
		contents(t, old, provider.User("go"), model(call("a", "f", `{"n":1}`, nil), call("b", "f", "", nil)),
			results(provider.ResultPart(provider.ToolResult{CallID: "b", Name: "f", Error: true,
				Parts: []provider.Part{provider.TextPart("two")}})),
			provider.User("hurry"), results(result("a", "f", "one")), provider.User("please")))
}

func TestCallsWithoutIDsAreAnsweredByNameAndOrder(t *testing.T) {
	require.JSONEq(t, `[{"role":"user","parts":[{"text":"go"}]},
		{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}},{"functionCall":{"name":"g","args":{}}},{"functionCall":{"name":"f","args":{}}}]},
		{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"f1"}}},{"functionResponse":{"name":"g","response":{"output":"g1"}}},
			{"functionResponse":{"name":"f","response":{"output":"f2"}}}]}]`,
		contents(t, old, provider.User("go"),
			model(call("", "f", "", nil), call("", "g", "", nil), call("", "f", "", nil)),
			results(result("", "g", "g1"), result("", "f", "f1"), result("", "f", "f2"))))
}

func TestTheProvidersOwnIDIsSentForACallOfAnAgent(t *testing.T) {
	c := call("run.1.0", "f", "", nil)
	c.Call.ProviderID = "fc-7"
	got := contents(t, old, provider.User("go"), model(c), results(result("run.1.0", "f", "one")))
	require.Equal(t, 2, strings.Count(got, `"id":"fc-7"`))
	require.NotContains(t, got, "run.1.0")
}

func TestAnIDThatSeveralCallsHaveIsSentOnce(t *testing.T) {
	require.JSONEq(t, `[{"role":"user","parts":[{"text":"go"}]},
		{"role":"model","parts":[{"functionCall":{"id":"a","name":"f","args":{"n":1}}},{"functionCall":{"id":"a_2","name":"f","args":{"n":2}}}]},
		{"role":"user","parts":[{"functionResponse":{"id":"a","name":"f","response":{"output":"one"}}},{"functionResponse":{"id":"a_2","name":"f","response":{"output":"two"}}}]},
		{"role":"model","parts":[{"functionCall":{"id":"a_3","name":"f","args":{"n":3}}}]},
		{"role":"user","parts":[{"functionResponse":{"id":"a_3","name":"f","response":{"output":"three"}}}]}]`,
		contents(t, old, provider.User("go"), model(call("a", "f", `{"n":1}`, nil), call("a", "f", `{"n":2}`, nil)),
			results(result("a", "f", "one"), result("a", "f", "two")),
			model(call("a", "f", `{"n":3}`, nil)), results(result("a", "f", "three"))))
}

func TestEveryCallHasAResultAndEveryResultACall(t *testing.T) {
	lost := func(id string) string {
		return `{"role":"user","parts":[{"functionResponse":{"id":"` + id +
			`","name":"f","response":{"error":"The call was not run, or its result is lost."}}}]}`
	}
	require.JSONEq(t, `[{"role":"user","parts":[{"text":"(The conversation continues.)"}]},
		{"role":"model","parts":[{"functionCall":{"id":"a","name":"f","args":{}}}]},`+lost("a")+`,
		{"role":"user","parts":[{"text":"Result of g: stray"}]},
		{"role":"model","parts":[{"text":"Hm."},{"functionCall":{"id":"c","name":"f","args":{}}}]},`+lost("c")+`]`,
		contents(t, old, model(call("a", "f", `[1]`, nil)), results(result("x", "g", "stray")),
			model(provider.TextPart("Hm.")), model(call("c", "f", "", nil))))
}

func TestACallOfAnotherModelNeedsNoSignature(t *testing.T) {
	messages := []provider.Message{provider.User("go"), model(call("a", "f", "", nil), call("b", "f", "", nil)),
		results(result("a", "f", "1"), result("b", "f", "2"))}
	require.Equal(t, 1, strings.Count(contents(t, "gemini-3.5-flash", messages...),
		`"thoughtSignature":"skip_thought_signature_validator"`))
	require.NotContains(t, contents(t, old, messages...), "thoughtSignature")
}

func TestACallOfAnotherModelNeedsNoSignatureBehindASignedAnswer(t *testing.T) {
	signed := provider.TextPart("Hm.")
	signed.Opaque = &provider.Opaque{Provider: "gemini", Kind: "thoughtSignature", Data: "c2ln"}
	require.JSONEq(t, `[{"role":"user","parts":[{"text":"go"}]},
		{"role":"model","parts":[{"text":"Hm.","thoughtSignature":"c2ln"},
			{"functionCall":{"id":"a","name":"f","args":{}},"thoughtSignature":"skip_thought_signature_validator"}]},
		{"role":"user","parts":[{"functionResponse":{"id":"a","name":"f","response":{"output":"1"}}}]}]`,
		contents(t, "gemini-3.5-flash", provider.User("go"), model(signed), model(call("a", "f", "", nil)),
			results(result("a", "f", "1"))))
}

func TestMediaIsSentByValueOrByURL(t *testing.T) {
	require.JSONEq(t,
		`[{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"AQI="}},{"fileData":{"mimeType":"video/mp4","fileUri":"https://example.org/f"}},
		{"fileData":{"mimeType":"application/pdf","fileUri":"https://generativelanguage.googleapis.com/v1beta/files/abc"}}]}]`,
		contents(t, "", provider.Message{Role: provider.RoleUser, Parts: []provider.Part{
			provider.MediaPart(provider.Media{Type: "image/png", Data: []byte{1, 2}}),
			provider.MediaPart(provider.Media{Type: "video/mp4", URL: "https://example.org/f"}),
			provider.MediaPart(provider.Media{Type: "application/pdf", FileID: "files/abc"}),
		}}))
	for _, m := range []provider.Media{{Data: []byte{1}}, {Type: "image/png"}} {
		_, err := sentText(t,
			&provider.Request{
				Messages: []provider.Message{{Role: provider.RoleUser, Parts: []provider.Part{provider.MediaPart(m)}}}})
		require.Equal(t, fault.Permanent, fault.Of(err))
	}
}

func TestUnsendableMediaOfAModelIsDropped(t *testing.T) {
	require.JSONEq(t, `[{"role":"user","parts":[{"text":"go"}]},{"role":"model","parts":[{"text":"Hm."}]}]`,
		contents(t, "", provider.User("go"),
			model(provider.MediaPart(provider.Media{Type: "image/png"}), provider.TextPart("Hm."))))
}

func TestAResultWithoutItsCallKeepsItsMedia(t *testing.T) {
	stray := provider.ResultPart(provider.ToolResult{CallID: "x", Name: "shoot",
		Parts: []provider.Part{provider.TextPart("see"),
			provider.MediaPart(provider.Media{Type: "image/png", Data: []byte{1}})}})
	require.JSONEq(t,
		`[{"role":"user","parts":[{"text":"Result of shoot: see"},{"inlineData":{"mimeType":"image/png","data":"AQ=="}}]}]`, contents(t, "", results(stray)))
}

func TestAChoiceOfToolsIsAMode(t *testing.T) {
	for mode, want := range map[provider.ToolChoiceMode]string{provider.ChooseNone: `"NONE"`,
		provider.ChooseRequired: `"ANY"`} {
		req := ask("hello")
		req.ToolChoice.Mode = mode
		require.Empty(t, sent(t, req)["toolConfig"], "without tools there is nothing to choose")
		req.Tools = []provider.Tool{{Name: "f"}}
		require.JSONEq(t, `{"functionCallingConfig":{"mode":`+want+`}}`, string(sent(t, req)["toolConfig"]))
	}
	req := ask("hello")
	req.Tools = []provider.Tool{{Name: "f"}}
	require.Empty(t, sent(t, req)["toolConfig"])
}

func TestMediaOfAResultIsSentInsideOrAfterIt(t *testing.T) {
	shot := provider.ResultPart(provider.ToolResult{CallID: "a", Name: "shoot",
		Parts: []provider.Part{provider.MediaPart(provider.Media{Type: "image/png", Data: []byte{1}})}})
	messages := []provider.Message{provider.User("go"),
		model(call("a", "shoot", "", opaque("thoughtSignature", "cw=="))), results(shot)}
	require.Contains(t, contents(t, "gemini-3.5-flash", messages...),
		`"response":{"output":""},"parts":[{"inlineData":{"mimeType":"image/png","data":"AQ=="}}]`)
	require.Contains(t, contents(t, old, messages...),
		`{"role":"user","parts":[{"text":"Result of shoot:"},{"inlineData":{"mimeType":"image/png","data":"AQ=="}}]}`)
}

func ptr[T any](v T) *T { return &v }

func TestARequestIsEncoded(t *testing.T) {
	schema := json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`)
	body := sent(t, &provider.Request{
		Model: old, System: "Be brief.", Messages: []provider.Message{provider.User("hello")},
		Tools:      []provider.Tool{{Name: "a.b", Description: "does <it>", Schema: schema}, {Name: "c"}},
		ToolChoice: provider.ToolChoice{Mode: provider.ChooseTool, Tool: "a.b"}, MaxOutput: 100,
		Sampling: &provider.Sampling{Temperature: ptr(0.0), TopP: ptr(.5), TopK: ptr(3), Seed: ptr(int64(7)),
			PresencePenalty: ptr(.1), FrequencyPenalty: ptr(.2), Stop: []string{"END", "END", ""}},
		Reasoning: &provider.ReasoningOptions{Effort: "low"},
		Options: map[string]json.RawMessage{
			"gemini": json.RawMessage(
				`{"safetySettings":[{"category":"X"}],"tools":[{"googleSearch":{}}],"generationConfig":{"topK":null,"logprobs":2}}`)},
	})
	require.JSONEq(t, `{"parts":[{"text":"Be brief."}]}`, string(body["systemInstruction"]))
	require.JSONEq(t,
		`[{"functionDeclarations":[{"name":"a_b","description":"does <it>","parametersJsonSchema":{"type":"object","properties":{"a":{"type":"string"}}}},{"name":"c"}]},
		{"googleSearch":{}}]`, string(body["tools"]))
	require.JSONEq(t, `{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["a_b"]}}`,
		string(body["toolConfig"]))
	require.JSONEq(t,
		`{"temperature":0,"topP":0.5,"seed":7,"presencePenalty":0.1,"frequencyPenalty":0.2,"maxOutputTokens":100,"stopSequences":["END"],"logprobs":2,
		"thinkingConfig":{"includeThoughts":true,"thinkingBudget":1024}}`, string(body["generationConfig"]))
	require.JSONEq(t, `[{"category":"X"}]`, string(body["safetySettings"]))
}

func TestABodyIsTheSameEachTime(t *testing.T) {
	req := ask("hello <b>")
	req.Tools = []provider.Tool{{Name: "b"}, {Name: "a"}}
	req.Options = map[string]json.RawMessage{"gemini": json.RawMessage(`{"z":1,"y":{"b":1,"a":2},"labels":{"k":"v"}}`)}
	first, err := sentText(t, req)
	require.NoError(t, err)
	for range 20 {
		again, err := sentText(t, req)
		require.NoError(t, err)
		require.Equal(t, string(first), string(again))
	}
}

func TestAnOutputSchemaIsSentIfTheModelSupportsIt(t *testing.T) {
	req := ask("hello")
	req.Output = &provider.OutputFormat{Schema: json.RawMessage(`{"type":"object"}`)}
	require.JSONEq(t, `{"responseMimeType":"application/json","responseJsonSchema":{"type":"object"}}`,
		string(sent(t, req)["generationConfig"]))
	req.Tools, req.Model = []provider.Tool{{Name: "f"}}, old
	body := sent(t, req)
	require.Empty(t, body["generationConfig"])
	require.Contains(t, string(body["systemInstruction"]), `{\"type\":\"object\"}`)
	req.Model = "gemini-3.5-flash"
	require.Contains(t, string(sent(t, req)["generationConfig"]), "responseJsonSchema")
}

func TestThinkingIsRequestedInTheModelsForm(t *testing.T) {
	for _, c := range []struct {
		model string
		r     provider.ReasoningOptions
		want  string
	}{
		{"gemini-3.5-flash", provider.ReasoningOptions{Effort: "none"}, `{"thinkingLevel":"MINIMAL"}`},
		{"gemini-3.5-flash", provider.ReasoningOptions{Effort: "medium", Hide: true}, `{"thinkingLevel":"MEDIUM"}`},
		{"gemini-3.5-flash", provider.ReasoningOptions{Budget: 50}, `{"includeThoughts":true,"thinkingBudget":50}`},
		{"gemini-3-pro-preview", provider.ReasoningOptions{Effort: "minimal"},
			`{"includeThoughts":true,"thinkingLevel":"LOW"}`},
		{"gemini-3-pro-preview", provider.ReasoningOptions{Effort: "medium"},
			`{"includeThoughts":true,"thinkingLevel":"HIGH"}`},
		{"gemini-9-flash", provider.ReasoningOptions{Effort: "low", Budget: 5},
			`{"includeThoughts":true,"thinkingLevel":"LOW"}`},
		{"gemini-2.5-pro", provider.ReasoningOptions{Effort: "none"}, `{"thinkingBudget":128}`},
		{"gemini-2.5-flash", provider.ReasoningOptions{Effort: "none"}, `{"thinkingBudget":0}`},
		{"gemini-2.5-flash", provider.ReasoningOptions{Effort: "high", Budget: 99_999},
			`{"includeThoughts":true,"thinkingBudget":24576}`},
		{"models/gemini-2.5-flash-lite", provider.ReasoningOptions{Budget: 5},
			`{"includeThoughts":true,"thinkingBudget":512}`},
		{"gemini-2.5-flash", provider.ReasoningOptions{}, `{"includeThoughts":true}`},
		{"gemini-2.5-flash", provider.ReasoningOptions{Hide: true}, ``},
		{"gemini-2.0-flash-001", provider.ReasoningOptions{Effort: "high"}, ``},
		{"gemma-3-27b-it", provider.ReasoningOptions{Effort: "high"}, ``},
	} {
		req := ask("hello")
		req.Model, req.Reasoning = c.model, &c.r
		var config struct {
			Thinking json.RawMessage `json:"thinkingConfig"`
		}
		if raw := sent(t, req)["generationConfig"]; len(raw) > 0 {
			require.NoError(t, json.Unmarshal(raw, &config))
		}
		if c.want == "" {
			require.Empty(t, config.Thinking, c)
		} else {
			require.JSONEq(t, c.want, string(config.Thinking), c)
		}
	}
}

func TestAnInvalidRequestIsRejected(t *testing.T) {
	for name, req := range map[string]*provider.Request{
		"empty":        {},
		"nothing said": ask(""),
		"a bad choice": {Messages: ask("x").Messages, Tools: []provider.Tool{{Name: "f"}},
			ToolChoice: provider.ToolChoice{Mode: "dice"}},
		"bad options": {Messages: ask("x").Messages,
			Options: map[string]json.RawMessage{"gemini": json.RawMessage(`[]`)}},
		"a bad schema": {Messages: ask("x").Messages,
			Tools: []provider.Tool{{Name: "f", Schema: json.RawMessage(`{`)}}},
		"a bad model": {Messages: ask("x").Messages, Model: "../x?y"},
	} {
		_, err := sentText(t, req)
		require.Equal(t, fault.Permanent, fault.Of(err), name)
	}
}

func TestDifferentNamesStayDifferent(t *testing.T) {
	names := []string{"a.b", "a_b", "a-b", "1a", "_1a", "-a", "ä", "a b", strings.Repeat("x", 65),
		strings.Repeat("x", 66), strings.Repeat("x", 64)}
	req := ask("hello")
	for _, name := range names {
		req.Tools = append(req.Tools, provider.Tool{Name: name})
	}
	var tools []struct {
		F []struct{ Name string } `json:"functionDeclarations"`
	}
	require.NoError(t, json.Unmarshal(sent(t, req)["tools"], &tools))
	for i, name := range names {
		encoded := tools[0].F[i].Name
		require.Regexp(t, `^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`, encoded)
		body := fmt.Sprintf(
			`{"candidates":[{"content":{"parts":[{"functionCall":{"name":%q}}]},"finishReason":"STOP"}]}`, encoded)
		r, err := provider.Generate(t.Context(), offline(t, []byte(body)), req)
		require.NoError(t, err)
		require.Equal(t, name, r.Calls()[0].Name)
	}
}

func TestTokensAreCounted(t *testing.T) {
	tr := &wire.Offline{Reply: wire.Always(200, `{"totalTokens": 31}`)}
	m := connect(t, gemini.Config{Model: "m"}, tr)
	req := ask("hello")
	req.System = "Be brief."
	n, err := provider.CountTokens(t.Context(), m, req)
	require.NoError(t, err)
	require.Equal(t, 31, n)
	require.Equal(t, "/v1beta/models/m:countTokens", tr.Asked[0].URL.Path)
	require.JSONEq(t,
		`{"generateContentRequest":{"model":"models/m","contents":[{"role":"user","parts":[{"text":"hello"}]}],"systemInstruction":{"parts":[{"text":"Be brief."}]}}}`,
		string(tr.Bodies[0]))
	_, err = provider.CountTokens(t.Context(), offline(t, []byte("{}")), req)
	require.Error(t, err)
}

func TestAModelIsFoundByAllItsNames(t *testing.T) {
	for id, name := range map[string]string{
		"gemini-2.5-flash": "Gemini 2.5 Flash", "models/gemini-2.5-flash-preview-09-2025": "Gemini 2.5 Flash",
		"gemini-2.5-flash-lite": "Gemini 2.5 Flash-Lite",
		"gemini-3-pro-preview":  "Gemini 3 Pro", "gemini-2.0-flash-001": "Gemini 2.0 Flash",
		"gemini-2.5-pro-preview-05-06": "Gemini 2.5 Pro", "gemini-2.5-flash-tts": "",
		"gemini-3-pro-image-preview": "Gemini 3 Pro Image", "gemini-3.1-pro-preview-customtools": "Gemini 3.1 Pro",
		"other": "",
	} {
		m := connect(t, gemini.Config{Model: id}, well())
		info := m.Info()
		require.Equal(t, []string{name, id, "gemini"}, []string{info.Name, info.ID, info.Provider})
	}
	mine := provider.ModelInfo{ID: "other", Window: 5}
	require.Equal(t, 5,
		connect(t, gemini.Config{Model: "other", Models: []provider.ModelInfo{mine}}, well()).Info().Window)
	for _, info := range gemini.Models() {
		require.NotZero(t, info.Window, info.ID)
		require.NotZero(t, info.MaxOutput, info.ID)
	}
}

func TestInfoOfKnowsOtherModels(t *testing.T) {
	mine := provider.ModelInfo{ID: "mine", Window: 77}
	m, err := gemini.New(gemini.Config{Model: "gemini-2.5-pro", APIKey: "k", Models: []provider.ModelInfo{mine}})
	require.NoError(t, err)
	info, ok := provider.InfoOf(m, "gemini-2.5-flash")
	require.True(t, ok)
	require.Equal(t, "gemini-2.5-flash", info.ID)
	require.NotNil(t, info.Prices)
	info, ok = provider.InfoOf(m, "mine")
	require.True(t, ok)
	require.Equal(t, 77, info.Window)
	info, ok = provider.InfoOf(m, "")
	require.True(t, ok)
	require.Equal(t, m.Info(), info)
	_, ok = provider.InfoOf(m, "nobody's")
	require.False(t, ok)
}

func TestSchemasAreNarrowedToTheAPIsSubset(t *testing.T) {
	schema := json.RawMessage(
		`{"type":"object","properties":{"top":{"$ref":"#/$defs/tree","description":"the root"},"size":{"type":"string","default":"x"}},"required":["top","size"],` +
			`"$defs":{"tree":{"type":"object","properties":{"name":{"type":"string"},"leaf":{"$ref":"#/$defs/leaf"},"kids":{"type":"array","items":{"$ref":"#/$defs/tree"}}},"required":["name","leaf","kids"]},` +
			`"leaf":{"type":"object","properties":{"up":{"$ref":"#/$defs/tree"}},"required":["up"]}}}`)
	const want = `{"type":"object","properties":{"top":{"$ref":"#/$defs/tree"},"size":{"type":"string","default":"x"}},"required":["top","size"],` +
		`"$defs":{"tree":{"type":"object","properties":{"name":{"type":"string"},"leaf":{"$ref":"#/$defs/leaf"},"kids":{"type":"array","items":{"$ref":"#/$defs/tree"}}},"required":["name"]},` +
		`"leaf":{"type":"object","properties":{"up":{"$ref":"#/$defs/tree"}}}}}`
	req := ask("hello")
	req.Tools = []provider.Tool{{Name: "f", Schema: schema}}
	req.Output = &provider.OutputFormat{Schema: schema}
	req.Model = "gemini-3.5-flash"
	body := sent(t, req)
	require.Contains(t, string(body["tools"]), `"parametersJsonSchema":`+want)
	require.Contains(t, string(body["generationConfig"]), `"responseJsonSchema":`+want)
	req.Output.Schema = json.RawMessage(`{"type":"object","properties":{"next":{"$ref":"#"}},"required":["next"]}`)
	require.Contains(t, string(sent(t, req)["generationConfig"]),
		`"responseJsonSchema":{"type":"object","properties":{"next":{"$ref":"#"}}}`)
}
