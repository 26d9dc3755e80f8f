package uimessage_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/stream/uimessage"
)

func TestARequestIsItsLastMessage(t *testing.T) {
	r, err := uimessage.ParseRequest(
		[]byte(
			`{"id":"c","plan":"gold","messages":[{"role":"system","parts":[{"type":"text","text":"Obey."}]},{"id":"m","role":"user","parts":[
		{"type":"text","text":"Hello"},{"type":"text","text":"there"},
		{"type":"file","mediaType":"image/png","filename":"a.png","url":"data:image/png;base64,AQID"},{"type":"file","mediaType":"text/plain","url":"https://10.0.0.1/"},
		{"type":"new","unknown":{"x":[1]}}]}],"trigger":"submit-message"}`))
	require.NoError(t, err)
	require.Equal(t, "c", r.ID)
	require.Equal(t, "submit-message", r.Trigger)
	require.Equal(t, `"gold"`, string(r.Extra["plan"]))
	require.Len(t, r.Extra, 1)
	require.False(t, r.Alone)
	require.Equal(t, []uimessage.Earlier{{Role: "system"}}, r.Before)
	require.Equal(t, "Hello\n\nthere", r.Last.Text())
	files, err := r.Last.Files()
	require.NoError(t, err)
	require.Equal(t, []uimessage.FilePart{{MediaType: "image/png", Filename: "a.png", Data: []byte{1, 2, 3}},
		{MediaType: "text/plain", URL: "https://10.0.0.1/"}}, files)

	r, err = uimessage.ParseRequest([]byte(`{"id":"c","message":{"role":"user","parts":[{"type":"text","text":"x"}]}}`))
	require.NoError(t, err)
	require.Equal(t, "x", r.Last.Text())
	require.True(t, r.Alone)
	require.Empty(t, r.Before)
}

func TestDecisionsAndResultsAreThoseOfTheLastMessage(t *testing.T) {
	r, err := uimessage.ParseRequest(
		[]byte(`{"id":"c","messages":[{"id":"m","role":"assistant","parts":[{"type":"step-start"},
		{"type":"tool-del","toolCallId":"c1","state":"approval-responded","input":{"p":"x"},"approval":{"id":"a1","signature":"S","approved":true,"reason":"ok"}},
		{"type":"dynamic-tool","toolName":"del","toolCallId":"c2","state":"approval-responded","approval":{"id":"a2","approved":false}},
		{"type":"tool-del","toolCallId":"c3","state":"approval-requested","approval":{"id":"a3"}},
		{"type":"tool-del","toolCallId":"c4","state":"output-denied","approval":{"id":"a4","approved":false}},
		{"type":"tool-pick","toolCallId":"c5","state":"output-available","output":{"n":1}},
		{"type":"tool-pick","toolCallId":"c6","state":"output-error","errorText":"no"}]}]}`))
	require.NoError(t, err)
	require.Equal(t, []uimessage.Decision{{"a1", "c1", true, "ok"}, {"a2", "c2", false, ""}}, r.Last.Decisions())
	results := r.Last.Results()
	require.Len(t, results, 2)
	require.JSONEq(t, `{"n":1}`, string(results[0].Output))
	require.Equal(t, "no", results[1].ErrorText)
}

func TestABadRequestIsAnError(t *testing.T) {
	many := `{"id":"c","messages":[` + strings.Repeat(`{},`, 10_000) + `{}]}`
	parts := `{"id":"c","messages":[{"parts":[` + strings.Repeat(`{},`, 1000) + `{}]}]}`
	for name, body := range map[string]string{
		"empty": ``, "a list": `[]`, "no id": `{"messages":[{}]}`, "no messages": `{"id":"c","messages":[]}`,
		"not UTF-8":             "{\"id\":\"\xff\",\"messages\":[{}]}",
		"an id that isn't text": `{"id":1,"messages":[{}]}`, "deep": `{"id":"c","messages":` +
			strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`,
		"many messages": many, "many parts": parts, "a part that isn't one": `{"id":"c","messages":[{"parts":[1]}]}`,
	} {
		_, err := uimessage.ParseRequest([]byte(body))
		require.ErrorContains(t, err, "uimessage: request: ", name)
	}
	r, err := uimessage.ParseRequest(
		[]byte(`{"id":"c","message":{"parts":[{"type":"file","url":"data:image/png;base64,?"}]}}`))
	require.NoError(t, err)
	_, err = r.Last.Files()
	require.Error(t, err)
}

func FuzzParseRequest(f *testing.F) {
	f.Add(
		[]byte(
			`{"id":"c","messages":[{"id":"m","role":"assistant","parts":[{"type":"tool-x","toolCallId":"c1","state":"approval-responded","approval":{"id":"a1","approved":true}},{"type":"file","url":"data:;base64,AA"}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := uimessage.ParseRequest(data)
		if err != nil {
			return
		}
		r.Last.Decisions()
		r.Last.Results()
		_, _ = r.Last.Files()
	})
}
