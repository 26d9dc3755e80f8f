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

	"github.com/pawlkit/pawl/internal/bench/loop"
)

// einoModel is the same fake model for eino.
type einoModel struct {
	shape  loop.Shape
	counts *loop.Counts
	call   []*schema.Message
	text   []*schema.Message
}

func newEinoModel(s loop.Shape, counts *loop.Counts) *einoModel {
	m := &einoModel{shape: s, counts: counts}
	for c := range s.Calls {
		index := c
		start := schema.ToolCall{Index: &index, ID: fmt.Sprintf("call-%d", c), Type: "function",
			Function: schema.FunctionCall{Name: "add"}}
		m.call = append(m.call, schema.AssistantMessage("", []schema.ToolCall{start}))
		for _, d := range loop.Deltas {
			m.call = append(m.call, schema.AssistantMessage("",
				[]schema.ToolCall{{Index: &index, Function: schema.FunctionCall{Arguments: d}}}))
		}
	}
	for range s.Text {
		m.text = append(m.text, schema.AssistantMessage(loop.Chunk, nil))
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
	m.counts.Models.Add(1)
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

// NewEino returns what runs the shape by eino's agent development kit, and counts. Every event is
// read, and the stream of every message, as a front end would.
func NewEino(ctx context.Context, s loop.Shape, counts *loop.Counts) (loop.Run, error) {
	add, err := utils.InferTool("add", "Adds two numbers.",
		func(_ context.Context, in loop.Numbers) (loop.Sum, error) {
			counts.Tools.Add(1)
			return loop.Sum{Sum: in.A + in.B}, nil
		})
	if err != nil {
		return nil, err
	}
	a, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
		Name:          "bench",
		Description:   "adds numbers",
		Instruction:   loop.System,
		Model:         newEinoModel(s, counts),
		ToolsConfig:   adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{add}}},
		MaxIterations: s.Steps + 2,
	})
	if err != nil {
		return nil, err
	}
	runner := adk.NewRunner(ctx, adk.RunnerConfig{Agent: a, EnableStreaming: true})
	return func(ctx context.Context) (int, error) {
		n := 0
		events := runner.Run(ctx, []adk.Message{schema.UserMessage(loop.Prompt)})
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
