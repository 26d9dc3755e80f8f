package uimessage_test

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/stream/uimessage"
)

func asJSON(t testing.TB, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	require.NoError(t, err)
	return string(data)
}

func TestAMessageTakesAllThatAWriterWrites(t *testing.T) {
	for seed := range uint64(1000 * *share / 100) {
		r := rand.New(rand.NewPCG(seed, 2))
		var m uimessage.Message
		w := uimessage.NewWriter(func(data []byte) error {
			c, err := uimessage.Unmarshal(data)
			if err == nil {
				err = m.Apply(c)
			}
			return err
		}, uimessage.V7)
		for range 40 {
			all := everyChunk([]string{"i1", "i2"}[r.IntN(2)], []string{"c1", "c2", "c3"}[r.IntN(3)],
				[]string{"a1", "a2"}[r.IntN(2)])
			switch c := all[r.IntN(len(all))].(type) {
			case uimessage.Finish, uimessage.Error, uimessage.Abort:
			default:
				var refused *uimessage.GrammarError
				if err := w.Write(c); err != nil && !errors.As(err, &refused) {
					t.Fatalf("seed %d: %T: %v", seed, c, err)
				}
			}
		}
	}
}

func TestAMessageFollowsTheClientsRules(t *testing.T) {
	var m uimessage.Message
	var wrong *uimessage.GrammarError
	for _, c := range []uimessage.Chunk{
		uimessage.TextDelta{ID: "t"}, uimessage.ReasoningEnd{ID: "t"}, uimessage.ToolInputDelta{ToolCallID: "c"},
		uimessage.ToolOutputAvailable{ToolCallID: "c"},
		uimessage.ToolOutputError{ToolCallID: "c"}, uimessage.ToolOutputDenied{ToolCallID: "c"},
		uimessage.ToolApprovalRequest{ToolCallID: "c"}, uimessage.ToolApprovalResponse{ApprovalID: "a"},
	} {
		require.ErrorAs(t, m.Apply(c), &wrong)
	}
	for _, c := range []uimessage.Chunk{
		uimessage.Start{MessageID: "m-1", MessageMetadata: json.RawMessage(`{"a":{"b":1}}`)},
		uimessage.MessageMetadata{MessageMetadata: json.RawMessage(`{"a":{"c":2}}`)},
		uimessage.StartStep{}, uimessage.TextStart{ID: "t"}, uimessage.TextDelta{ID: "t", Delta: "Hel"},
		uimessage.TextDelta{ID: "t", Delta: "lo"}, uimessage.FinishStep{},
	} {
		require.NoError(t, m.Apply(c))
	}
	require.ErrorAs(t, m.Apply(uimessage.TextDelta{ID: "t"}), &wrong, "the end of a step ends its parts")
	require.Equal(t, 1, m.Steps())
	require.JSONEq(t,
		`{"id":"m-1","role":"","metadata":{"a":{"b":1,"c":2}},"parts":[{"type":"step-start"},{"type":"text","text":"Hello","state":"streaming"}]}`, asJSON(t, m))
	require.NoError(t, m.Apply(uimessage.StartStep{}))
	require.NoError(t, m.Apply(uimessage.TextStart{ID: "u"}))
	require.NoError(t, m.Apply(uimessage.ResetStep{}))
	require.Len(t, m.Parts, 3, "what the step has shown is gone")
}

func TestAMessageHasWhatClientsRequire(t *testing.T) {
	require.Equal(t, `{"id":"m","role":"user","parts":[]}`, asJSON(t, uimessage.Message{ID: "m", Role: "user"}))
	m := uimessage.Message{Role: "assistant", Parts: []uimessage.Part{{Type: "text"}, {Type: "reasoning"},
		{Type: "source-document", SourceID: "s", MediaType: "text/plain"},
		{Type: "tool-t", State: uimessage.StateOutputError, Call: uimessage.Call{ToolCallID: "c"}}}}
	require.JSONEq(t, `{"id":"","role":"assistant","parts":[{"type":"text","text":""},{"type":"reasoning","text":""},
		{"type":"source-document","sourceId":"s","mediaType":"text/plain","title":""},{"type":"tool-t","toolCallId":"c","state":"output-error","errorText":""}]}`, asJSON(t, m))
}
