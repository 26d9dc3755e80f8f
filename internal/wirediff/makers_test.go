package wirediff

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"strings"

	claude "github.com/anthropics/anthropic-sdk-go"
	claudeoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
	"google.golang.org/genai"
)

// A client reads a stream as its maker's own client does.
type client func(ctx context.Context) reading

const address = "http://127.0.0.1/"

func openaiClient(h *http.Client) openai.Client {
	return openai.NewClient(option.WithHTTPClient(h), option.WithBaseURL(address), option.WithAPIKey("k"),
		option.WithMaxRetries(0))
}

// chatClient is openai-go with its accumulator.
func chatClient(h *http.Client) (client, error) {
	c := openaiClient(h)
	known := map[string]string{"stop": "done", "length": "length", "tool_calls": "tool_calls",
		"function_call": "tool_calls", "content_filter": "filtered"}
	return func(ctx context.Context) (r reading) {
		s := c.Chat.Completions.NewStreaming(ctx, openai.ChatCompletionNewParams{Model: "m",
			Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Hello.")}})
		defer s.Close()
		var acc openai.ChatCompletionAccumulator
		for s.Next() {
			if !acc.AddChunk(s.Current()) {
				r.err = "the accumulator refuses a chunk"
				return r
			}
		}
		if s.Err() != nil {
			r.err = s.Err().Error()
			return r
		}
		r.input, r.output = acc.Usage.PromptTokens, acc.Usage.CompletionTokens
		if len(acc.Choices) == 0 {
			return r
		}
		choice := &acc.Choices[0]
		r.text, r.refusal, r.ended = choice.Message.Content, choice.Message.Refusal, choice.FinishReason != ""
		for _, c := range choice.Message.ToolCalls {
			r.calls = append(r.calls, call{c.ID, c.Function.Name, arguments(c.Function.Arguments)})
		}
		r.stop = ended(choice.FinishReason, r.refusal != "", len(r.calls) > 0, known)
		return r
	}, nil
}

// ended returns a stop reason as ours are, from a maker's.
func ended(reason string, refused, called bool, known map[string]string) string {
	stop := known[reason]
	switch {
	case stop == "done" && refused:
		return "filtered"
	case stop == "done" && called:
		return "tool_calls"
	}
	return cmp.Or(stop, "unknown")
}

// responsesClient is openai-go. The answer is the response of the last event.
func responsesClient(h *http.Client) (client, error) {
	c := openaiClient(h)
	return func(ctx context.Context) (r reading) {
		s := c.Responses.NewStreaming(ctx, responses.ResponseNewParams{Model: "m",
			Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("Hello.")}})
		defer s.Close()
		for s.Next() {
			switch ev := s.Current(); ev.Type {
			case "response.completed", "response.incomplete":
				r.response(&ev.Response, strings.TrimPrefix(ev.Type, "response."))
				return r
			case "response.failed":
				r.err = "failed: " + ev.Response.Error.Message
				return r
			case "error":
				r.err = "error: " + ev.Message
				return r
			}
		}
		if s.Err() != nil {
			r.err = s.Err().Error()
		}
		return r
	}, nil
}

func (r *reading) response(res *responses.Response, status string) {
	r.ended, r.input, r.output = true, res.Usage.InputTokens, res.Usage.OutputTokens
	for i := range res.Output {
		switch item := &res.Output[i]; item.Type {
		case "message":
			for _, c := range item.Content {
				r.text += c.Text
				r.refusal += c.Refusal
			}
		case "reasoning":
			var text strings.Builder
			for _, s := range item.Summary {
				text.WriteString(s.Text)
			}
			for _, c := range item.Content {
				if len(item.Summary) == 0 {
					text.WriteString(c.Text)
				}
			}
			r.reasoning += text.String()
		case "function_call":
			r.calls = append(r.calls, call{item.CallID, item.Name, arguments(item.Arguments.OfString)})
		case "custom_tool_call":
			r.calls = append(r.calls, call{item.CallID, item.Name, quote(item.Input)})
		}
	}
	switch status = cmp.Or(string(res.Status), status); status {
	case "completed":
		r.stop = ended("x", r.refusal != "", len(r.calls) > 0, map[string]string{"x": "done"})
	case "incomplete":
		r.stop = "length"
		if strings.Contains(res.IncompleteDetails.Reason, "filter") {
			r.stop = "filtered"
		}
	case "failed", "cancelled", "queued", "in_progress":
		r.err = "the status is " + status
	default:
		r.stop = "unknown"
	}
}

// claudeClient is anthropic-sdk-go with its accumulator.
func claudeClient(h *http.Client) (client, error) {
	c := claude.NewClient(claudeoption.WithHTTPClient(h), claudeoption.WithBaseURL(address),
		claudeoption.WithAPIKey("k"), claudeoption.WithMaxRetries(0))
	known := map[string]string{"end_turn": "done", "stop_sequence": "done", "tool_use": "tool_calls",
		"max_tokens": "length", "model_context_window_exceeded": "length", "pause_turn": "paused",
		"compaction": "paused", "refusal": "filtered"}
	return func(ctx context.Context) (r reading) {
		s := c.Messages.NewStreaming(ctx, claude.MessageNewParams{Model: "m", MaxTokens: 1024,
			Messages: []claude.MessageParam{claude.NewUserMessage(claude.NewTextBlock("Hello."))}})
		defer s.Close()
		var m claude.Message
		for s.Next() && !r.ended {
			ev := s.Current()
			if err := m.Accumulate(ev); err != nil {
				r.err = err.Error()
				return r
			}
			r.ended = ev.Type == "message_stop"
		}
		if s.Err() != nil && !r.ended {
			r.err = s.Err().Error()
			return r
		}
		for _, b := range m.Content {
			switch b.Type {
			case "text":
				r.text += b.Text
			case "thinking":
				r.reasoning += b.Thinking
			case "tool_use":
				r.calls = append(r.calls, call{b.ID, b.Name, arguments(string(b.Input))})
			}
		}
		r.input = m.Usage.InputTokens + m.Usage.CacheReadInputTokens + m.Usage.CacheCreationInputTokens
		r.output = m.Usage.OutputTokens
		r.stop = ended(string(m.StopReason), false, false, known)
		return r
	}, nil
}

// geminiClient is genai. The answer is what its objects have together.
func geminiClient(h *http.Client) (client, error) {
	c, err := genai.NewClient(context.Background(), &genai.ClientConfig{APIKey: "k", Backend: genai.BackendGeminiAPI,
		HTTPClient: h, HTTPOptions: genai.HTTPOptions{BaseURL: address}})
	if err != nil {
		return nil, err
	}
	known := map[string]string{"STOP": "done", "MAX_TOKENS": "length", "CONTINUATION": "paused", "SAFETY": "filtered",
		"RECITATION": "filtered", "BLOCKLIST": "filtered", "PROHIBITED_CONTENT": "filtered", "SPII": "filtered",
		"LANGUAGE": "filtered", "MODEL_ARMOR": "filtered", "IMAGE_SAFETY": "filtered",
		"IMAGE_PROHIBITED_CONTENT": "filtered", "IMAGE_RECITATION": "filtered"}
	return func(ctx context.Context) (r reading) {
		finish, blocked := genai.FinishReason(""), false
		for res, err := range c.Models.GenerateContentStream(ctx, "m", genai.Text("Hello."), nil) {
			if err != nil {
				r.err = cmp.Or(r.err, err.Error())
				break
			}
			if u := res.UsageMetadata; u != nil {
				r.input = int64(u.PromptTokenCount) + int64(u.ToolUsePromptTokenCount)
				r.output = int64(u.CandidatesTokenCount) + int64(u.ThoughtsTokenCount)
			}
			blocked = blocked || res.PromptFeedback != nil && res.PromptFeedback.BlockReason != ""
			if len(res.Candidates) == 0 {
				continue
			}
			first := res.Candidates[0]
			if first.FinishReason != "" && first.FinishReason != "FINISH_REASON_UNSPECIFIED" {
				finish = first.FinishReason
			}
			if first.Content == nil {
				continue
			}
			for _, p := range first.Content.Parts {
				switch {
				case p.FunctionCall != nil:
					c := p.FunctionCall
					r.calls = append(r.calls, call{c.ID, c.Name, argsOf(c.Args)})
				case p.Thought:
					r.reasoning += p.Text
				default:
					r.text += p.Text
				}
			}
		}
		r.ended = finish != "" || blocked
		r.stop = ended(string(finish), false, len(r.calls) > 0, known)
		switch {
		case finish == "" && blocked:
			r.stop = "filtered"
		case finish != "" && r.stop == "unknown":
			r.stop = "error"
		}
		return r
	}, nil
}

// argsOf returns the arguments of a call that were decoded.
func argsOf(args map[string]any) string {
	if args == nil {
		return "{}"
	}
	data, _ := json.Marshal(args) // of decoded JSON
	return arguments(string(data))
}
