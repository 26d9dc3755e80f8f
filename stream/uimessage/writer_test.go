package uimessage_test

import (
	"encoding/json"
	"errors"
	"flag"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/stream/uimessage"
)

// everyChunk returns a chunk of each type, with all fields set.
func everyChunk(id, call, approval string) []uimessage.Chunk {
	value := json.RawMessage(`{"a":[1,"<b>\u2028"]}`)
	return []uimessage.Chunk{
		uimessage.Start{MessageID: id}, uimessage.StartStep{},
		uimessage.TextDelta{ID: id, Delta: "a<b>\n\ndata: x\xff"}, uimessage.TextEnd{ID: id},
		uimessage.ReasoningDelta{ID: id, Delta: "hm"}, uimessage.ReasoningEnd{ID: id},
		uimessage.ToolInputStart{ToolCallID: call, ToolName: "t", ProviderExecuted: true},
		uimessage.ToolInputDelta{ToolCallID: call, InputTextDelta: `{"a":`},
		uimessage.ToolInputAvailable{ToolCallID: call, ToolName: "t", Input: value},
		uimessage.ToolInputAvailable{ToolCallID: call, ToolName: "t", Dynamic: true},
		uimessage.ToolInputError{ToolCallID: call, ToolName: "t", ErrorText: "bad"},
		uimessage.ToolApprovalRequest{ApprovalID: approval, ToolCallID: call},
		uimessage.ToolApprovalResponse{ApprovalID: approval, Approved: true, Reason: "ok"},
		uimessage.ToolOutputAvailable{ToolCallID: call, Output: value},
		uimessage.ToolOutputAvailable{ToolCallID: call},
		uimessage.ToolOutputError{ToolCallID: call, ErrorText: "bad"}, uimessage.ToolOutputDenied{ToolCallID: call},
		uimessage.SourceURL{SourceID: id, URL: "https://a.example", Title: "A"},
		uimessage.SourceDocument{SourceID: id, MediaType: "text/plain", Title: "D", Filename: "d.txt"},
		uimessage.File{URL: "data:,x", MediaType: "text/plain"}, uimessage.Data{Name: "d", ID: id, Data: value},
		uimessage.Data{Name: "d", Transient: true}, uimessage.ResetStep{}, uimessage.Finish{FinishReason: "stop"},
		uimessage.Error{ErrorText: "e"},
	}
}

func TestEachChunkIsOneLineOfJSON(t *testing.T) {
	for _, c := range everyChunk("i", "c", "a") {
		data, err := uimessage.Marshal(c)
		require.NoError(t, err)
		require.True(t, json.Valid(data) && utf8.Valid(data), "%s", data)
		require.NotContains(t, string(data), "\n")
	}
	for _, c := range []uimessage.Chunk{uimessage.ToolInputAvailable{}, uimessage.ToolInputError{},
		uimessage.ToolOutputAvailable{}, uimessage.Data{Name: "d"}} {
		data, err := uimessage.Marshal(c)
		require.NoError(t, err)
		require.Contains(t, string(data), ":null", "a required value is there: %s", data)
	}
	for _, c := range []uimessage.Chunk{nil, uimessage.ToolOutputAvailable{Output: json.RawMessage(`{`)}} {
		_, err := uimessage.Marshal(c)
		require.Error(t, err)
	}
}

// read returns the message that a client builds from a stream, or fails where the client would.
func read(t testing.TB, m *uimessage.Message, stream []string) {
	t.Helper()
	for _, data := range stream {
		require.NoError(t, m.Apply([]byte(data)), "%s in %v", data, stream)
	}
}

var share = flag.Int("share", 10, "how many random cases are tried, in percent")

func TestWhateverIsWrittenAClientReadsItWithoutAnError(t *testing.T) {
	for seed := range uint64(1500 * *share / 100) {
		r := rand.New(rand.NewPCG(seed, 1))
		level := []uimessage.Level{uimessage.V6, uimessage.V7, uimessage.V7Late}[r.IntN(3)]
		var stream []string
		w := uimessage.NewWriter(func(data []byte) error { stream = append(stream, string(data)); return nil }, level)
		var before uimessage.Message
		if r.IntN(2) == 0 {
			read(t, &before, []string{`{"type":"tool-input-available","toolCallId":"c1","toolName":"t","input":null}`,
				`{"type":"tool-approval-request","toolCallId":"c1","approvalId":"a1"}`})
			w.Continue(&before)
		}
		var refused *uimessage.GrammarError
		for range 60 {
			all := everyChunk([]string{"i1", "i2"}[r.IntN(2)], []string{"c1", "c2", "c3"}[r.IntN(3)],
				[]string{"a1", "a2"}[r.IntN(2)])
			c := all[r.IntN(len(all))]
			switch c.(type) {
			case uimessage.Finish, uimessage.Error:
				if r.IntN(20) > 0 {
					continue
				}
			}
			if err := w.Write(c); err != nil {
				require.ErrorAs(t, err, &refused)
				require.NotEmpty(t, err.Error())
			}
		}
		require.NoError(t, w.Close())
		require.NoError(t, w.Close(), "closing again does nothing")
		require.ErrorAs(t, w.Write(uimessage.StartStep{}), &refused)
		read(t, &before, stream)
		last := stream[len(stream)-1]
		require.True(t, strings.Contains(last, `"type":"finish"`) || strings.Contains(last, `"type":"error"`), last)
		for _, data := range stream {
			if level != uimessage.V7Late {
				require.NotContains(t, data, `"reset-step"`)
			}
			if level == uimessage.V6 {
				require.NotContains(t, data, `"type":"tool-approval-response"`)
			}
		}
		for i := range before.Parts {
			require.NotEqual(t, "streaming", before.Parts[i].State, "every part of text has ended")
		}
	}
}

func TestARefusalSaysWhatWouldBeRight(t *testing.T) {
	for want, chunks := range map[string][]uimessage.Chunk{
		`uimessage: tool-output-available of "c": there is no such call; write its ToolInputAvailable first`: {
			uimessage.ToolOutputAvailable{ToolCallID: "c"}},
		`uimessage: start of "m": the message has begun; a Start comes first, and once`: {uimessage.StartStep{},
			uimessage.Start{MessageID: "m"}},
		`uimessage: text-end of "i": no such part is open`:                  {uimessage.TextEnd{ID: "i"}},
		`uimessage: reset-step: no step has begun`:                          {uimessage.ResetStep{}},
		`uimessage: start-step: it isn't a chunk of this package, by value`: {&uimessage.StartStep{}},
		`uimessage: : the chunk is nil`:                                     {nil},
		`uimessage: text-delta: the message is finished`:                    {uimessage.Finish{}, uimessage.TextDelta{}},
		`uimessage: tool-input-available of "c": ToolName and Dynamic differ from those with which the call began`: {
			uimessage.ToolInputStart{ToolCallID: "c", ToolName: "a"},
			uimessage.ToolInputAvailable{ToolCallID: "c", ToolName: "a", Dynamic: true}},
	} {
		w := uimessage.NewWriter(func([]byte) error { return nil }, uimessage.V7)
		var err error
		for _, c := range chunks {
			err = w.Write(c)
		}
		require.EqualError(t, err, want)
	}
}

func TestAnErrorOfTheConnectionStays(t *testing.T) {
	gone := errors.New("gone")
	n := 0
	w := uimessage.NewWriter(func([]byte) error { n++; return gone }, uimessage.V7)
	require.ErrorIs(t, w.Write(uimessage.Start{}), gone)
	require.ErrorIs(t, w.Write(uimessage.StartStep{}), gone)
	require.ErrorIs(t, w.Close(), gone)
	require.Equal(t, 1, n)
}

func FuzzApply(f *testing.F) {
	for _, c := range everyChunk("i", "c", "a") {
		data, _ := uimessage.Marshal(c)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var m uimessage.Message
		_ = m.Apply(data)
		_ = m.Apply(data)
	})
}

func BenchmarkTextDelta(b *testing.B) {
	w := uimessage.NewWriter(func([]byte) error { return nil }, uimessage.V7)
	b.ReportAllocs()
	for b.Loop() {
		if err := w.Write(uimessage.TextDelta{ID: "t-1", Delta: "and then"}); err != nil {
			b.Fatal(err)
		}
	}
}

// written returns what a Writer makes of chunks that it accepts.
func written(t *testing.T, level uimessage.Level, chunks ...uimessage.Chunk) (stream []string) {
	t.Helper()
	w := uimessage.NewWriter(func(data []byte) error { stream = append(stream, string(data)); return nil }, level)
	for _, c := range chunks {
		require.NoError(t, w.Write(c))
	}
	require.NoError(t, w.Close())
	return stream
}

func TestACallWhoseInputIsCutOffEndsWithItsStep(t *testing.T) {
	end :=
		`{"type":"tool-input-error","toolCallId":"c","toolName":"t","input":null,"errorText":"The input of the call was cut off."}`
	stream := written(t, uimessage.V7, uimessage.ToolInputStart{ToolCallID: "c", ToolName: "t"}, uimessage.StartStep{})
	require.Equal(t, []string{`{"type":"start-step"}`, `{"type":"tool-input-start","toolCallId":"c","toolName":"t"}`,
		end, `{"type":"finish-step"}`,
		`{"type":"start-step"}`, `{"type":"finish-step"}`, `{"type":"finish"}`}, stream)

	var m uimessage.Message
	read(t, &m, []string{`{"type":"tool-input-start","toolCallId":"c","toolName":"t"}`})
	for _, next := range []uimessage.Chunk{uimessage.StartStep{}, uimessage.Finish{}} {
		// of a call that the client has already
		stream = nil
		w := uimessage.NewWriter(func(data []byte) error {
			stream = append(stream, string(data))
			return nil
		}, uimessage.V7)
		w.Continue(&m)
		require.NoError(t, w.Write(next))
		require.Equal(t, end, stream[0])
	}
}

func TestAWriterSendsOnlyWhatAClientKnows(t *testing.T) {
	require.Equal(t, []string{`{"type":"finish","finishReason":"other"}`},
		written(t, uimessage.V7, uimessage.Finish{FinishReason: "tool_calls"}))
}

func TestAnInputThatAnEarlierStepHasIsCutOffOnce(t *testing.T) {
	var stream []string
	w := uimessage.NewWriter(func(data []byte) error {
		stream = append(stream, string(data))
		return nil
	}, uimessage.V7)
	w.Continue(&uimessage.Message{Parts: []uimessage.Part{{Type: "step-start"},
		{Type: "tool-t", State: "input-streaming", Call: uimessage.Call{ToolCallID: "c"}}, {Type: "step-start"}}})
	for range 3 {
		require.NoError(t, w.Write(uimessage.StartStep{}))
	}
	require.NoError(t, w.Close())
	require.Equal(t, 1, strings.Count(strings.Join(stream, ""), "was cut off"))
}
