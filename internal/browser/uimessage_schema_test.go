package browser

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/stream/uimessage"
)

// clients are the versions of the AI SDK that read a level.
var clients = map[uimessage.Level][]string{
	uimessage.V6:     {"ai600", "ai6", "ai700", "ai7077", "ai7"},
	uimessage.V7:     {"ai700", "ai7077", "ai7"},
	uimessage.V7Late: {"ai7077", "ai7"},
}

// A question is a stream for a client, and an answer is what the client made of it.
type (
	question struct {
		Version string             `json:"version"`
		Message *uimessage.Message `json:"message"`
		Chunks  []json.RawMessage  `json:"chunks"`
	}
	answer struct {
		Message json.RawMessage `json:"message"`
		Error   string          `json:"error"`
	}
)

// ask asks the clients.
func ask(t *testing.T, questions []question) (answers []answer) {
	t.Helper()
	in, err := json.Marshal(questions)
	require.NoError(t, err)
	cmd := node(t, "check.mjs")
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	out, err := cmd.Output()
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(out, &answers))
	require.Len(t, answers, len(questions))
	return answers
}

// everyChunk returns chunks of each type, with all fields and with few.
func everyChunk(part, call, approval string, dynamic bool) []uimessage.Chunk {
	value := json.RawMessage(`{"a":[1,"<b>\u2028"],"b":null}`)
	name := "look_" + call
	return []uimessage.Chunk{
		uimessage.Start{MessageID: "m"}, uimessage.Start{}, uimessage.StartStep{},
		uimessage.TextDelta{ID: part, Delta: "a<b>\n\ndata: x"}, uimessage.TextDelta{ID: part, Delta: "b"},
		uimessage.TextEnd{ID: part}, uimessage.ReasoningDelta{ID: part, Delta: "hm"}, uimessage.ReasoningEnd{ID: part},
		uimessage.ToolInputStart{ToolCallID: call, ToolName: name, ProviderExecuted: true, Dynamic: dynamic},
		uimessage.ToolInputStart{ToolCallID: call, ToolName: name, Dynamic: dynamic},
		uimessage.ToolInputDelta{ToolCallID: call, InputTextDelta: `{"a":`},
		uimessage.ToolInputDelta{ToolCallID: call, InputTextDelta: `1}`},
		uimessage.ToolInputAvailable{ToolCallID: call, ToolName: name, Input: value, Dynamic: dynamic,
			ProviderExecuted: true},
		uimessage.ToolInputAvailable{ToolCallID: call, ToolName: name, Input: json.RawMessage(`{}`), Dynamic: dynamic},
		uimessage.ToolInputAvailable{ToolCallID: call, ToolName: name, Dynamic: dynamic},
		uimessage.ToolInputError{ToolCallID: call, ToolName: name, Input: json.RawMessage(`"{"`), ErrorText: "bad",
			Dynamic: dynamic, ProviderExecuted: true},
		uimessage.ToolApprovalRequest{ApprovalID: approval, ToolCallID: call},
		// without a reason, newer clients keep the one before
		uimessage.ToolApprovalResponse{ApprovalID: approval, Approved: true, Reason: "ok"},
		uimessage.ToolApprovalResponse{ApprovalID: approval, Reason: "no"},
		uimessage.ToolOutputAvailable{ToolCallID: call, Output: value, Dynamic: dynamic, ProviderExecuted: true},
		uimessage.ToolOutputAvailable{ToolCallID: call, Dynamic: dynamic}, uimessage.ToolOutputError{ToolCallID: call,
			ErrorText: "bad", Dynamic: dynamic, ProviderExecuted: true}, uimessage.ToolOutputDenied{ToolCallID: call},
		uimessage.SourceURL{SourceID: part, URL: "https://a.example", Title: "A"},
		uimessage.SourceURL{SourceID: part, URL: "https://a.example"},
		uimessage.SourceDocument{SourceID: part, MediaType: "text/plain", Title: "D", Filename: "d.txt"},
		uimessage.SourceDocument{SourceID: part, MediaType: "text/plain"},
		uimessage.File{URL: "data:,x", MediaType: "text/plain"},
		uimessage.Data{Name: "d", ID: part, Data: value}, uimessage.Data{Name: "d", Data: json.RawMessage(`2`)},
		uimessage.Data{Name: "d", Transient: true}, uimessage.ResetStep{},
		uimessage.Finish{FinishReason: "tool-calls"}, uimessage.Finish{}, uimessage.Error{ErrorText: "e"},
		uimessage.Error{},
	}
}

// anyStream returns a random stream of a Writer.
func anyStream(t *testing.T, r *rand.Rand, level uimessage.Level,
	before *uimessage.Message) (stream []json.RawMessage) {
	w := uimessage.NewWriter(func(data []byte) error {
		stream = append(stream, json.RawMessage(data))
		return nil
	}, level)
	if before != nil {
		w.Continue(before)
	}
	require.NoError(t, w.Write(uimessage.Start{MessageID: "m"}))
	for range 10 + r.IntN(80) {
		call := r.IntN(3)
		all := everyChunk([]string{"i1", "i2"}[r.IntN(2)], []string{"c1", "c2", "c3"}[call],
			[]string{"a1", "a2"}[r.IntN(2)], call == 2)
		c := all[r.IntN(len(all))]
		switch c.(type) {
		case uimessage.Finish, uimessage.Error:
			if r.IntN(10) > 0 {
				continue
			}
		}
		_ = w.Write(c) // what can't come is refused
	}
	require.NoError(t, w.Close())
	return stream
}

// waiting is a message with which a client may continue.
const waiting = `{"id":"m","role":"assistant","parts":[{"type":"step-start"},{"type":"text","text":"Hello","state":"done"},
	{"type":"tool-look_c1","toolCallId":"c1","state":"approval-responded","input":{"a":1},"approval":{"id":"a1","approved":true}},
	{"type":"tool-look_c2","toolCallId":"c2","state":"input-available","input":{"a":2}}]}`

func TestEveryClientBuildsTheMessageThatApplyBuilds(t *testing.T) {
	t.Parallel()
	var questions []question
	var want []string
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 1))
		level := []uimessage.Level{uimessage.V6, uimessage.V7, uimessage.V7Late}[seed%3]
		read := func() *uimessage.Message {
			if seed%4 > 0 {
				return nil
			}
			m := new(uimessage.Message)
			require.NoError(t, json.Unmarshal([]byte(waiting), m))
			return m
		}
		stream := anyStream(t, r, level, read())
		m := read()
		if m == nil {
			m = &uimessage.Message{Role: "assistant"}
		}
		for _, data := range stream {
			require.NoError(t, m.Apply(data))
		}
		data, err := json.Marshal(m)
		require.NoError(t, err)
		built := normal(t, data)
		for _, version := range clients[level] {
			questions = append(questions, question{version, read(), stream})
			want = append(want, built)
		}
	}
	for i, a := range ask(t, questions) {
		q := questions[i]
		if last := string(q.Chunks[len(q.Chunks)-1]); strings.Contains(last, `"type":"error"`) && a.Message != nil {
			a.Error = "" // it is the error of the stream
		}
		require.Empty(t, a.Error, "%s: %s", q.Version, q.Chunks)
		require.Equal(t, want[i], normal(t, a.Message), "%s: %s", q.Version, q.Chunks)
	}
}

// normal returns a message as indented JSON, without what differs between clients.
func normal(t *testing.T, data []byte) string {
	var m struct {
		ID       string           `json:"id"`
		Role     string           `json:"role"`
		Metadata any              `json:"metadata,omitempty"`
		Parts    []map[string]any `json:"parts"`
	}
	require.NoError(t, json.Unmarshal(data, &m))
	for _, p := range m.Parts {
		if p["type"] == "reasoning" {
			delete(p, "id") // newer clients keep it
		}
		if raw, ok := p["rawInput"]; ok { // in older clients the input that isn't valid
			p["input"] = raw
			delete(p, "rawInput")
		}
		if p["state"] == "input-streaming" { // a Message doesn't keep an input that isn't complete
			delete(p, "input")
		}
	}
	for n := len(m.Parts); n > 0 && m.Parts[n-1]["type"] == "step-start"; n = len(m.Parts) {
		m.Parts = m.Parts[:n-1] // clients show a step with its first part
	}
	out, err := json.MarshalIndent(m, "", " ")
	require.NoError(t, err)
	return string(out)
}
