package uimessage_test

import (
	"encoding/json"
	"errors"
	"flag"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/stream/uimessage"
)

// everyChunk returns a chunk of each type, with all fields set.
func everyChunk(id, call, approval string) []uimessage.Chunk {
	value, meta := json.RawMessage(`{"a":[1,"<b>\u2028"]}`),
		uimessage.ProviderMetadata{"p": {"k": json.RawMessage(`1`)}}
	return []uimessage.Chunk{
		uimessage.Start{MessageID: id, MessageMetadata: value}, uimessage.StartStep{},
		uimessage.TextStart{ID: id, ProviderMetadata: meta}, uimessage.TextDelta{ID: id, Delta: "a<b>\n\ndata: x"},
		uimessage.TextEnd{ID: id}, uimessage.ReasoningStart{ID: id, ProviderMetadata: meta},
		uimessage.ReasoningDelta{ID: id, Delta: "hm"}, uimessage.ReasoningEnd{ID: id},
		uimessage.ToolInputStart{ToolCallID: call, ToolName: "t", ProviderExecuted: true, Title: "T"},
		uimessage.ToolInputDelta{ToolCallID: call, InputTextDelta: `{"a":`},
		uimessage.ToolInputAvailable{ToolCallID: call, ToolName: "t", Input: value, ProviderMetadata: meta},
		uimessage.ToolInputAvailable{ToolCallID: call, ToolName: "t", Dynamic: true},
		uimessage.ToolInputError{ToolCallID: call, ToolName: "t", ErrorText: "bad"},
		uimessage.ToolApprovalRequest{ApprovalID: approval, ToolCallID: call},
		uimessage.ToolApprovalRequest{ApprovalID: approval, ToolCallID: call, IsAutomatic: true},
		uimessage.ToolApprovalResponse{ApprovalID: approval, Approved: true, Reason: "ok"},
		uimessage.ToolOutputAvailable{ToolCallID: call, Output: value, Preliminary: true},
		uimessage.ToolOutputAvailable{ToolCallID: call},
		uimessage.ToolOutputError{ToolCallID: call, ErrorText: "bad"}, uimessage.ToolOutputDenied{ToolCallID: call},
		uimessage.SourceURL{SourceID: id, URL: "https://a.example", Title: "A"},
		uimessage.SourceDocument{SourceID: id, MediaType: "text/plain", Title: "D", Filename: "d.txt"},
		uimessage.File{URL: "data:,x", MediaType: "text/plain"},
		uimessage.ReasoningFile{URL: "data:,x", MediaType: "text/plain"},
		uimessage.Custom{Kind: "p.k", ProviderMetadata: meta}, uimessage.Data{Name: "d", ID: id, Data: value},
		uimessage.Data{Name: "d", Transient: true}, uimessage.MessageMetadata{MessageMetadata: value},
		uimessage.FinishStep{}, uimessage.ResetStep{},
		uimessage.Finish{FinishReason: "stop", MessageMetadata: value}, uimessage.Abort{Reason: "r"},
		uimessage.Error{ErrorText: "e"},
	}
}

func TestEachChunkIsOneLineOfJSONAndComesBack(t *testing.T) {
	for _, c := range everyChunk("i", "c", "a") {
		data, err := uimessage.Marshal(c)
		require.NoError(t, err)
		require.NotContains(t, string(data), "\n")
		require.NotContains(t, string(data), ":null,\"providerMetadata")
		back, err := uimessage.Unmarshal(data)
		require.NoError(t, err)
		again, err := uimessage.Marshal(back)
		require.NoError(t, err)
		require.Equal(t, string(data), string(again))
	}
	for _, c := range []uimessage.Chunk{uimessage.ToolInputAvailable{}, uimessage.ToolInputError{},
		uimessage.ToolOutputAvailable{}, uimessage.Data{Name: "d"}, uimessage.MessageMetadata{}} {
		data, err := uimessage.Marshal(c)
		require.NoError(t, err)
		require.Contains(t, string(data), ":null", "a required value is there: %s", data)
	}
}

func TestABadChunkIsAnError(t *testing.T) {
	var bad *uimessage.ChunkError
	for _, c := range []uimessage.Chunk{nil, &uimessage.StartStep{}, uimessage.Data{},
		uimessage.ToolOutputAvailable{Output: json.RawMessage(`{`)}} {
		_, err := uimessage.Marshal(c)
		require.ErrorAs(t, err, &bad)
	}
	for _, data := range []string{``, `[]`, `{"type":"new-thing"}`, `{"type":"data-"}`,
		`{"type":"text-delta","delta":1}`} {
		_, err := uimessage.Unmarshal([]byte(data))
		require.ErrorAs(t, err, &bad)
	}
	data, err := uimessage.Marshal(uimessage.TextDelta{Delta: "a\xff"})
	require.NoError(t, err)
	require.Contains(t, string(data), `a\ufffd`)
}

// read returns the message that a client builds from a stream, or fails where the client would.
func read(t testing.TB, m *uimessage.Message, stream []string) {
	t.Helper()
	for _, data := range stream {
		c, err := uimessage.Unmarshal([]byte(data))
		require.NoError(t, err)
		require.NoError(t, m.Apply(c), "%s in %v", data, stream)
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
			require.NoError(t, before.Apply(uimessage.ToolInputAvailable{ToolCallID: "c1", ToolName: "t"}))
			require.NoError(t, before.Apply(uimessage.ToolApprovalRequest{ToolCallID: "c1", ApprovalID: "a1"}))
			w.Continue(&before)
		}
		var refused *uimessage.GrammarError
		for range 60 {
			all := everyChunk([]string{"i1", "i2"}[r.IntN(2)], []string{"c1", "c2", "c3"}[r.IntN(3)],
				[]string{"a1", "a2"}[r.IntN(2)])
			c := all[r.IntN(len(all))]
			switch c.(type) {
			case uimessage.Finish, uimessage.Error, uimessage.Abort:
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
				for _, kind := range []string{"tool-approval-response", "custom", "reasoning-file"} {
					require.NotContains(t, data, `"type":"`+kind+`"`)
				}
				require.NotContains(t, data, "isAutomatic")
			}
		}
		for i := range before.Parts {
			require.NotEqual(t, uimessage.StateStreaming, before.Parts[i].State, "every part of text has ended")
		}
	}
}

func TestARefusalSaysWhatWouldBeRight(t *testing.T) {
	for want, chunks := range map[string][]uimessage.Chunk{
		`uimessage: tool-output-available of "c": there is no such call; write its ToolInputAvailable first`: {
			uimessage.ToolOutputAvailable{ToolCallID: "c"}},
		`uimessage: start of "m": the message has begun; a Start comes first, and once`: {uimessage.StartStep{},
			uimessage.Start{MessageID: "m"}},
		`uimessage: text-end of "i": no such part is open`: {uimessage.TextEnd{ID: "i"}},
		`uimessage: finish-step: no step has begun`:        {uimessage.FinishStep{}},
		`uimessage: text-delta: the message is finished`:   {uimessage.Finish{}, uimessage.TextDelta{}},
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

func FuzzUnmarshal(f *testing.F) {
	for _, c := range everyChunk("i", "c", "a") {
		data, _ := uimessage.Marshal(c)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := uimessage.Unmarshal(data)
		if err != nil {
			return
		}
		again, err := uimessage.Marshal(c)
		if err != nil {
			return // a value that isn't valid after all, such as a lone surrogate in a name
		}
		_, err = uimessage.Unmarshal(again)
		require.NoError(t, err)
		var m uimessage.Message
		_ = m.Apply(c)
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
	require.NoError(t, m.Apply(uimessage.ToolInputStart{ToolCallID: "c", ToolName: "t"}))
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
	require.Equal(t, []string{`{"type":"abort"}`, `{"type":"finish"}`},
		written(t, uimessage.V6, uimessage.Abort{Reason: "r"}))
	require.Equal(t, []string{`{"type":"abort","reason":"r"}`, `{"type":"finish"}`},
		written(t, uimessage.V7, uimessage.Abort{Reason: "r"}))
	require.Contains(t,
		written(t, uimessage.V7, uimessage.TextStart{ID: "i", ProviderMetadata: uimessage.ProviderMetadata{"p": nil}}),
		`{"type":"text-start","id":"i","providerMetadata":{}}`)
}

func TestACallThatRunsCannotBeDenied(t *testing.T) {
	w := uimessage.NewWriter(func([]byte) error { return nil }, uimessage.V7)
	require.NoError(t, w.Write(uimessage.ToolInputAvailable{ToolCallID: "c", ToolName: "t"}))
	require.NoError(t, w.Write(uimessage.ToolOutputAvailable{ToolCallID: "c", Preliminary: true}))
	var refused *uimessage.GrammarError
	require.ErrorAs(t, w.Write(uimessage.ToolOutputDenied{ToolCallID: "c"}), &refused)
}
