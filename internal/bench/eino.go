package bench

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/cloudwego/eino/adk"
	einomodel "github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
)

// einoModel is the same fake model for eino.
type einoModel struct {
	shape Shape
	call  []*schema.Message
	text  []*schema.Message
}

func newEinoModel(s Shape) *einoModel {
	m := &einoModel{shape: s}
	for c := range s.Calls {
		index := c
		start := schema.ToolCall{Index: &index, ID: fmt.Sprintf("call-%d", c), Type: "function",
			Function: schema.FunctionCall{Name: "add"}}
		m.call = append(m.call, schema.AssistantMessage("", []schema.ToolCall{start}))
		for _, d := range deltas {
			m.call = append(m.call, schema.AssistantMessage("",
				[]schema.ToolCall{{Index: &index, Function: schema.FunctionCall{Arguments: d}}}))
		}
	}
	for range s.Text {
		m.text = append(m.text, schema.AssistantMessage(chunk, nil))
	}
	return m
}

// Generate isn't used: streaming is measured.
func (m *einoModel) Generate(context.Context, []*schema.Message, ...einomodel.Option) (*schema.Message, error) {
	return nil, errors.New("bench: only streaming is measured")
}

// Stream answers with the calls of a step, or with text after the last one.
func (m *einoModel) Stream(_ context.Context, input []*schema.Message,
	_ ...einomodel.Option) (*schema.StreamReader[*schema.Message], error) {
	answer := m.text
	if len(input) < 2+m.shape.Steps*(1+m.shape.Calls) {
		answer = m.call
	}
	r, w := schema.Pipe[*schema.Message](8)
	go func() {
		defer w.Close()
		for _, m := range answer {
			msg := *m // a message for each chunk, as an adapter makes it
			if w.Send(&msg, nil) {
				return
			}
		}
	}()
	return r, nil
}

// WithTools returns m: it calls its one tool whatever it is told.
func (m *einoModel) WithTools([]*schema.ToolInfo) (einomodel.ToolCallingChatModel, error) {
	return m, nil
}

// NewEino returns a function that runs the shape once, by eino's agent development kit, and returns
// how many bytes of text were streamed. Every event is read, and the stream of every message, as a
// front end would.
func NewEino(ctx context.Context, s Shape) (func(context.Context) (int, error), error) {
	add, err := utils.InferTool("add", "Adds two numbers.", func(_ context.Context, in Numbers) (Sum, error) {
		return Sum{in.A + in.B}, nil
	})
	if err != nil {
		return nil, err
	}
	a, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
		Name:          "bench",
		Description:   "adds numbers",
		Instruction:   system,
		Model:         newEinoModel(s),
		ToolsConfig:   adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{add}}},
		MaxIterations: s.Steps + 2,
	})
	if err != nil {
		return nil, err
	}
	runner := adk.NewRunner(ctx, adk.RunnerConfig{Agent: a, EnableStreaming: true})
	return func(ctx context.Context) (int, error) {
		n := 0
		events := runner.Run(ctx, []adk.Message{schema.UserMessage(prompt)})
		for {
			ev, ok := events.Next()
			if !ok {
				return n, nil
			}
			if ev.Err != nil {
				return n, ev.Err
			}
			if ev.Output == nil || ev.Output.MessageOutput == nil {
				continue
			}
			out := ev.Output.MessageOutput
			if !out.IsStreaming {
				if out.Role == schema.Assistant {
					n += len(out.Message.Content)
				}
				continue
			}
			for {
				msg, err := out.MessageStream.Recv()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					return n, err
				}
				if out.Role == schema.Assistant {
					n += len(msg.Content)
				}
			}
			out.MessageStream.Close()
		}
	}, nil
}
