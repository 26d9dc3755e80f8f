package uimessage_test

import (
	"encoding/json"
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

func TestAMessageFollowsTheClientsRules(t *testing.T) {
	var m uimessage.Message
	var wrong *uimessage.GrammarError
	for _, c := range []string{`{"type":"text-delta","id":"t","delta":""}`, `{"type":"reasoning-end","id":"t"}`,
		`{"type":"tool-input-delta","toolCallId":"c","inputTextDelta":""}`,
		`{"type":"tool-output-available","toolCallId":"c","output":null}`,
		`{"type":"tool-output-error","toolCallId":"c","errorText":""}`, `{"type":"tool-output-denied","toolCallId":"c"}`,
		`{"type":"tool-approval-request","toolCallId":"c","approvalId":"a"}`,
		`{"type":"tool-approval-response","approvalId":"a","approved":true}`, `{"type":"new-thing"}`, `{}`} {
		require.ErrorAs(t, m.Apply([]byte(c)), &wrong, c)
	}
	require.ErrorContains(t, m.Apply([]byte(`[]`)), "it isn't a chunk")
	apply := func(all ...string) {
		for _, c := range all {
			require.NoError(t, m.Apply([]byte(c)), c)
		}
	}
	apply(`{"type":"start","messageId":"m-1"}`, `{"type":"start-step"}`, `{"type":"text-start","id":"t"}`,
		`{"type":"text-delta","id":"t","delta":"Hel"}`, `{"type":"text-delta","id":"t","delta":"lo"}`,
		`{"type":"finish-step"}`)
	require.ErrorAs(t, m.Apply([]byte(`{"type":"text-delta","id":"t"}`)), &wrong, "the end of a step ends its parts")
	require.Equal(t, 1, m.Steps())
	require.JSONEq(t, `{"id":"m-1","role":"","parts":[{"type":"step-start"},
		{"type":"text","text":"Hello","state":"streaming"}]}`, asJSON(t, m))
	apply(`{"type":"start-step"}`, `{"type":"text-start","id":"u"}`, `{"type":"reset-step"}`)
	require.Len(t, m.Parts, 3, "what the step has shown is gone")
}

func TestAMessageHasWhatClientsRequire(t *testing.T) {
	require.Equal(t, `{"id":"m","role":"user","parts":[]}`, asJSON(t, uimessage.Message{ID: "m", Role: "user"}))
	m := uimessage.Message{Role: "assistant", Parts: []uimessage.Part{{Type: "text"}, {Type: "reasoning"},
		{Type: "source-document", SourceID: "s", MediaType: "text/plain"},
		{Type: "tool-t", State: "output-error", Call: uimessage.Call{ToolCallID: "c"}}}}
	require.JSONEq(t, `{"id":"","role":"assistant","parts":[{"type":"text","text":""},{"type":"reasoning","text":""},
		{"type":"source-document","sourceId":"s","mediaType":"text/plain","title":""},{"type":"tool-t","toolCallId":"c","state":"output-error","errorText":""}]}`, asJSON(t, m))
}
