package fantasy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"charm.land/fantasy"

	"github.com/pawlkit/pawl/internal/bench/loop"
)

// model is the fake model for fantasy. It knows its place by the results in the prompt.
type model struct {
	fantasy.LanguageModel // nil: what isn't streamed isn't measured

	shape  loop.Shape
	counts *loop.Counts
	call   []fantasy.StreamPart
	text   []fantasy.StreamPart
}

func newModel(s loop.Shape, counts *loop.Counts) *model {
	m := &model{shape: s, counts: counts}
	usage := fantasy.Usage{InputTokens: 10, OutputTokens: 10, TotalTokens: 20}
	for c := range s.Calls {
		id := fmt.Sprintf("call-%d", c)
		m.call = append(m.call, fantasy.StreamPart{Type: fantasy.StreamPartTypeToolInputStart, ID: id,
			ToolCallName: "add"})
		for _, d := range loop.Deltas {
			m.call = append(m.call, fantasy.StreamPart{Type: fantasy.StreamPartTypeToolInputDelta, ID: id, Delta: d})
		}
		m.call = append(m.call, fantasy.StreamPart{Type: fantasy.StreamPartTypeToolInputEnd, ID: id},
			fantasy.StreamPart{Type: fantasy.StreamPartTypeToolCall, ID: id, ToolCallName: "add",
				ToolCallInput: loop.Arguments})
	}
	m.call = append(m.call, fantasy.StreamPart{Type: fantasy.StreamPartTypeFinish, Usage: usage,
		FinishReason: fantasy.FinishReasonToolCalls})
	m.text = append(m.text, fantasy.StreamPart{Type: fantasy.StreamPartTypeTextStart, ID: "0"})
	for range s.Text {
		m.text = append(m.text, fantasy.StreamPart{Type: fantasy.StreamPartTypeTextDelta, ID: "0", Delta: loop.Chunk})
	}
	m.text = append(m.text, fantasy.StreamPart{Type: fantasy.StreamPartTypeTextEnd, ID: "0"},
		fantasy.StreamPart{Type: fantasy.StreamPartTypeFinish, Usage: usage, FinishReason: fantasy.FinishReasonStop})
	return m
}

// Stream answers with the calls of a step, or with text after the last one.
func (m *model) Stream(_ context.Context, call fantasy.Call) (fantasy.StreamResponse, error) {
	m.counts.Models.Add(1)
	answer := m.text
	if len(call.Prompt) < 2+2*m.shape.Steps {
		answer = m.call
	}
	return func(yield func(fantasy.StreamPart) bool) {
		for _, p := range answer {
			if !yield(p) {
				return
			}
		}
	}, nil
}

// New returns what runs the shape by fantasy's agent, and counts. Every part of the stream is read,
// and every result.
func New(s loop.Shape, counts *loop.Counts) loop.Run {
	add := fantasy.NewAgentTool("add", "Adds two numbers.",
		func(_ context.Context, in loop.Numbers, _ fantasy.ToolCall) (fantasy.ToolResponse, error) {
			counts.Tools.Add(1)
			out, err := json.Marshal(loop.Sum{Sum: in.A + in.B})
			return fantasy.NewTextResponse(string(out)), err
		})
	a := fantasy.NewAgent(newModel(s, counts), fantasy.WithSystemPrompt(loop.System), fantasy.WithTools(add),
		fantasy.WithStopConditions(fantasy.StepCountIs(s.Steps+1)))
	return func(ctx context.Context) (int, error) {
		text, results := 0, 0
		_, err := a.Stream(ctx, fantasy.AgentStreamCall{
			Prompt: loop.Prompt,
			OnChunk: func(p fantasy.StreamPart) error {
				if p.Type == fantasy.StreamPartTypeTextDelta {
					text += len(p.Delta)
				}
				return nil
			},
			OnToolResult: func(fantasy.ToolResultContent) error {
				results++
				return nil
			},
		})
		if err == nil && results != s.Steps*s.Calls {
			err = errors.New("fantasy: a call has no result")
		}
		return text, err
	}
}
