package langchain

import (
	"encoding/json"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// An answer is the whole answer of a langchaingo model. No request asks for several candidates, so
// several choices are the blocks of one answer.
type answer struct {
	text, reasoning string
	calls           []provider.ToolCall
	stopRaw         string
	rawUsage        map[string]any
}

func (c *call) gather(res *llms.ContentResponse) *answer {
	a := &answer{}
	if res == nil {
		return a
	}
	var text, reasoning strings.Builder
	for _, choice := range res.Choices {
		if choice == nil {
			continue
		}
		text.WriteString(choice.Content)
		reasoning.WriteString(thoughts(choice))
		a.addCalls(choice, c.names)
		if choice.StopReason != "" {
			a.stopRaw = choice.StopReason
		}
		if a.rawUsage == nil && hasFigures(choice.GenerationInfo) {
			a.rawUsage = choice.GenerationInfo // each block repeats the figures of the answer
		}
	}
	a.text, a.reasoning = text.String(), reasoning.String()
	return a
}

// thoughts returns the reasoning of a choice. If a model also has it in the text, as part of the
// answer, it stays there.
func thoughts(choice *llms.ContentChoice) string {
	if choice.ReasoningContent != "" {
		return choice.ReasoningContent
	}
	text, _ := choice.GenerationInfo["ThinkingContent"].(string)
	if text != "" && strings.Contains(choice.Content, text) {
		return ""
	}
	return text
}

func (a *answer) addCalls(choice *llms.ContentChoice, n *adapter.Names) {
	for _, tc := range choice.ToolCalls {
		if tc.FunctionCall != nil {
			a.calls = append(a.calls,
				provider.ToolCall{ID: tc.ID, Name: n.Decode(tc.FunctionCall.Name), Invalid: tc.FunctionCall.Arguments})
		}
	}
	if f := choice.FuncCall; f != nil && len(choice.ToolCalls) == 0 {
		a.calls = append(a.calls, provider.ToolCall{Name: n.Decode(f.Name), Invalid: f.Arguments})
	}
}

// rest returns the chunks of the parts that weren't streamed.
func (a *answer) rest(text, reasoning int) []provider.Chunk {
	var out []provider.Chunk
	if s := a.reasoning[reasoning:]; s != "" {
		out = append(out, provider.Reasoning(s))
	}
	if s := a.text[text:]; s != "" {
		out = append(out, provider.Text(s))
	}
	for i, c := range a.calls {
		out = append(out, provider.ToolStart(i, c.ID, c.Name))
		if c.Invalid != "" {
			out = append(out, provider.ToolDelta(i, c.Invalid))
		}
		out = append(out, provider.ToolEnd(i))
	}
	return out
}

// cut reports whether the answer is known to be incomplete. stated says that the model gives a stop
// reason for every answer.
func (a *answer) cut(stated bool) bool {
	if a.stopRaw != "" {
		return false
	}
	if stated || a.text == "" && a.reasoning == "" && len(a.calls) == 0 {
		return true
	}
	for _, c := range a.calls {
		if strings.TrimSpace(c.Invalid) != "" && !json.Valid([]byte(c.Invalid)) {
			return true
		}
	}
	return false
}

// stops are the stop reasons of models, in lower case, without blanks, dashes and underscores.
var stops = map[string]provider.StopReason{
	"stop": provider.StopDone, "endturn": provider.StopDone, "stopsequence": provider.StopDone,
	"eos":      provider.StopDone,
	"eostoken": provider.StopDone, "complete": provider.StopDone, "completed": provider.StopDone,
	"finish":   provider.StopDone,
	"finished": provider.StopDone, "done": provider.StopDone, "endoftext": provider.StopDone,
	"normal": provider.StopDone,

	"length": provider.StopLength, "maxtokens": provider.StopLength, "maxlength": provider.StopLength,
	"modellength":                provider.StopLength,
	"modelcontextwindowexceeded": provider.StopLength, "maxoutputtokens": provider.StopLength,

	"toolcalls": provider.StopToolCalls, "tooluse": provider.StopToolCalls, "toolcall": provider.StopToolCalls,
	"functioncall": provider.StopToolCalls,

	"contentfilter": provider.StopFiltered, "contentfiltered": provider.StopFiltered, "refusal": provider.StopFiltered,
	"safety": provider.StopFiltered, "recitation": provider.StopFiltered, "blocklist": provider.StopFiltered,
	"prohibitedcontent": provider.StopFiltered, "spii": provider.StopFiltered,
	"guardrailintervened": provider.StopFiltered,

	"pauseturn": provider.StopPaused,

	"error": provider.StopError, "malformedfunctioncall": provider.StopError,
}

var plainWord = strings.NewReplacer("_", "", "-", "", " ", "", ".", "", "<|", "", "|>", "")

// stop returns the stop reason. A turn that ended with calls waits for their results, whatever
// reason the model gives.
func (a *answer) stop() provider.StopReason {
	word := plainWord.Replace(strings.ToLower(a.stopRaw))
	stop, ok := stops[strings.TrimPrefix(word, "finishreason")]
	switch {
	case !ok && len(a.calls) > 0 && a.stopRaw == "", stop == provider.StopDone && len(a.calls) > 0:
		return provider.StopToolCalls
	case !ok:
		return provider.StopUnknown
	}
	return stop
}
