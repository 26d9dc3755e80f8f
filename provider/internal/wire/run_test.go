package wire

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const answered = `think Let me see.
text It is
text  cold, Zoë.
call c1 weather {"city":"Oslo"}
call c2 weather {}
ran p1 search {"q":"oslo"}
done tool_calls {"input":10,"output":20,"cache_read":5,"cache_write":1,"reasoning":7}
`

const expected = `{"text":"It is cold, Zoë.","reasoning":"Let me see.","refusal":null,
 "tool_calls":[{"id":"c1","name":"weather","arguments":{"city":"Oslo"}},{"id":"c2","name":"weather","arguments":{}}],
 "provider_tool_calls":[{"id":"p1","name":"search","arguments":null}],
 "finish":"tool_calls","finish_raw":"tool_calls",
 "usage":{"input":10,"output":20,"cache_read":5,"cache_write":1,"reasoning":7},"error":null}`

// handWritten returns a case in the toy's format, with the expectation changed by key and value pairs.
func handWritten(t *testing.T, status int, body string, changes ...string) *Case {
	t.Helper()
	c := Answer("anthropic-messages", status, "text/plain", body)
	c.Provider = "toy"
	var want map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(expected), &want))
	for i := 0; i < len(changes); i += 2 {
		want[changes[i]] = json.RawMessage(changes[i+1])
	}
	text, err := json.Marshal([]any{want})
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &c.Expect))
	return c
}

func TestARightDecoderPasses(t *testing.T) {
	nothing := []string{"text", `""`, "reasoning", `""`, "tool_calls", `[]`, "provider_tool_calls", `[]`, "finish", `"error"`}
	limited := handWritten(t, 429, "slow_down Not so fast.", append(nothing, "error", `{"status":429,"type":null,"code":"slow_down","message":"Not so fast."}`)...)
	limited.Exchanges[0].Response.Headers["retry-after"] = "7"
	limited.Exchanges[0].Response.Headers["request-id"] = "req_1"
	cases := []*Case{
		handWritten(t, 200, answered),
		limited,
		handWritten(t, 200, "think Let me see.\ntext It is\ntext  cold, Zo", append(nothing, "text", `"It is"`, "reasoning", `"Let me see."`, "truncated", `true`)...),
		handWritten(t, 200, "text It is\nfail overloaded_error Overloaded", append(nothing, "text", `"It is"`, "truncated", `true`)...),
		handWritten(t, 200, "text It is\nfail overloaded_error Overloaded\n",
			append(nothing, "text", `"It is"`, "error", `{"status":200,"type":"overloaded_error","code":null,"message":"Overloaded"}`)...),
	}
	for i, c := range cases {
		c.Name = "case " + string(rune('a'+i))
	}
	Run(t, Config{Cases: cases, New: newToy, Splits: 3})
}

func TestEveryDifferenceIsFound(t *testing.T) {
	for _, tt := range []struct{ key, value, found string }{
		{"text", `"It is cold."`, "text:"},
		{"reasoning", `""`, "reasoning:"},
		{"refusal", `"No."`, "refusal:"},
		{"tool_calls", `[]`, "number of tool calls:"},
		{"tool_calls", `[{"id":"c1","name":"weather","arguments":{"city":"Bergen"}},{"id":"c2","name":"weather","arguments":{}}]`, "tool calls: arguments:"},
		{"tool_calls", `[{"id":"c1","name":"wetter","arguments":{"city":"Oslo"}},{"id":"c2","name":"weather","arguments":{}}]`, "tool calls: name:"},
		{"tool_calls", `[{"id":null,"name":"weather","arguments":{"city":"Oslo"}},{"id":"c2","name":"weather","arguments":{}}]`, "tool calls: id:"},
		{"tool_calls", `[{"id":"c1","name":"weather","raw_arguments":"{","incomplete":true},{"id":"c2","name":"weather","arguments":{}}]`, "unfinished arguments:"},
		{"tool_calls", `[{"id":"c1","name":"weather","arguments":"Oslo","custom":true},{"id":"c2","name":"weather","arguments":{}}]`, "free-form input:"},
		{"provider_tool_calls", `[]`, "number of provider-run calls:"},
		{"finish", `"stop"`, "finish:"},
		{"finish", `null`, "finish:"},
		{"usage", `{"input":16,"output":20}`, "usage:"},
		{"error", `{"status":500,"message":"broken"}`, "error:"},
		{"truncated", `true`, "end of a cut stream:"},
	} {
		c := handWritten(t, 200, answered, tt.key, tt.value)
		cfg := Config{New: newToy}
		wrong := Compare(c, 0, cfg.play(t, c, 0))
		require.Len(t, wrong, 1, "%s=%s", tt.key, tt.value)
		require.True(t, strings.HasPrefix(wrong[0], tt.found) || strings.Contains(wrong[0], tt.found), wrong[0])
	}
}

func TestADecoderThatDependsOnHowBytesArriveIsWrong(t *testing.T) {
	c := handWritten(t, 200, answered)
	cfg := Config{New: newSloppy, Splits: 1}
	require.Contains(t, strings.Join(cfg.judge(t, c), "\n"), "byte by byte")
}

func TestCutStreamsOfARightDecoderAreErrors(t *testing.T) {
	EveryCut(t, newToy, handWritten(t, 200, answered), Past("done "))
}

func TestACallToAHangingServerEnds(t *testing.T) { Hanging(t, newToy, handWritten(t, 200, answered)) }

func TestTheToyConforms(t *testing.T) { Conformance(t, newToy, handWritten(t, 200, answered)) }
