package provider_test

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/stretchr/testify/require"
)

// compare adds the chunks to a Collector and to the reference, and has them agree after each.
func compare(t *testing.T, c *provider.Collector, chunks []provider.Chunk) {
	t.Helper()
	var ref reference
	var kept []*provider.Response // as they were on the way
	var texts []string
	for i, chunk := range chunks {
		err := c.Add(chunk)
		if legal := ref.add(chunk); legal != (err == nil) {
			t.Fatalf("chunk %d, of kind %s: legal %v, error %v", i, chunk.Kind, legal, err)
		}
		var wrong *provider.GrammarError
		if err != nil && (!errors.As(err, &wrong) || wrong.Kind != chunk.Kind || fault.Of(err) != fault.Permanent) {
			t.Fatalf("chunk %d, of kind %s: %v", i, chunk.Kind, err)
		}
		r := c.Response()
		kept, texts = append(kept, r), append(texts, string(plain(t, r, "")))
	}
	want := ref.response()
	require.Equal(t, want, c.Response())
	require.Equal(t, want.Complete, c.Complete())
	for i := range kept { // what came later hasn't changed what was handed out
		require.Equal(t, texts[i], string(plain(t, kept[i], "")))
	}
	var back provider.Response
	text := plain(t, want, "")
	require.NoError(t, json.Unmarshal(text, &back))
	require.Equal(t, want, &back)
}

// pairs returns bytes for decode that give a legal answer most of the time.
func pairs(r *rand.Rand) []byte {
	var data []byte
	add := func(what int) { data = append(data, byte(what), byte(r.IntN(256))) }
	contents := []int{3, 4, 5, 6, 20, 21, 21, 21, 8, 9, 10, 11, 12, 13, 17, 18}
	for range r.IntN(3) {
		add(1)
	}
	for again := true; again; again = r.IntN(4) == 0 {
		add(2)
		for range r.IntN(30) {
			add(contents[r.IntN(len(contents))])
		}
		add(14)
	}
	data = data[:len(data)-2] // the last Reset
	for i := range 3 {
		data = append(data, 8, byte(i)) // ends the calls that are open
	}
	add(15)
	return data
}

func TestTheCollectorAgreesWithTheReference(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var reused provider.Collector
	complete := 0
	for range 150 {
		chunks := decode(pairs(r))
		var fresh provider.Collector
		compare(t, &fresh, chunks)
		reused.Reset()
		require.True(t, reused.Empty())
		compare(t, &reused, chunks)
		if fresh.Complete() {
			complete++
		}
	}
	require.Greater(t, complete, 140, "most sequences are meant to be legal to their end")
}

func TestTheCollectorRefusesWhatTheReferenceRefuses(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 150 {
		data := make([]byte, 2*r.IntN(40))
		for i := range data {
			data[i] = byte(r.IntN(256))
		}
		var c provider.Collector
		compare(t, &c, decode(append([]byte{2, 0}, data...)))
	}
}

func FuzzCollector(f *testing.F) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 4 {
		f.Add(pairs(r))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 400 {
			return // the reference takes its time
		}
		var c provider.Collector
		compare(t, &c, decode(data))
	})
}

// TestTheCorpusIsThere keeps the committed corpus from being lost: without it the fuzz target would
// still pass.
func TestTheCorpusIsThere(t *testing.T) {
	files, err := filepath.Glob("testdata/fuzz/FuzzCollector/*")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 5)
	for _, name := range files {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(string(data), "go test fuzz v1\n"), name)
	}
}

func collect(t *testing.T, chunks ...provider.Chunk) *provider.Response {
	t.Helper()
	var c provider.Collector
	require.NoError(t, c.Add(provider.Start("m")))
	for _, chunk := range chunks {
		require.NoError(t, c.Add(chunk))
	}
	return c.Response()
}

func TestArgumentsBecomeWhatAJournalCanHold(t *testing.T) {
	for name, c := range map[string]struct {
		pieces         []string
		input, invalid string
	}{
		"none":            {nil, ``, ``},
		"empty":           {[]string{"", ""}, ``, ``},
		"blank":           {[]string{" ", "\n"}, ``, ``},
		"in pieces":       {[]string{`{"ci`, `ty":`, `"Oslo"}`}, `{"city":"Oslo"}`, ``},
		"with spaces":     {[]string{"{ \"a\" :\n[1, 2] }"}, `{"a":[1,2]}`, ``},
		"HTML characters": {[]string{`{"a":"<b> & </b>"}`}, `{"a":"<b> & </b>"}`, ``},
		"line separators": {[]string{"[\"\u2028\"]"}, `["\u2028"]`, ``},
		"large numbers":   {[]string{`[12345678901234567890,1e2]`}, `[12345678901234567890,1e2]`, ``},
		"rune in two":     {[]string{"\"\xc3", "\xa9\""}, `"é"`, ``},
		"invalid UTF-8":   {[]string{"{\"a\":\"\xff\"}"}, "{\"a\":\"\uFFFD\"}", ``},
		"cut":             {[]string{`{"city":"Os`}, ``, `{"city":"Os`},
		"cut in a rune":   {[]string{"{\"a\":\"\xc3"}, ``, "{\"a\":\"\uFFFD"},
		"two values":      {[]string{`{}`, `{}`}, ``, `{}{}`},
		"not JSON at all": {[]string{"city=Oslo"}, ``, "city=Oslo"},
		"too deep": {[]string{strings.Repeat("[", 20000), strings.Repeat("]", 20000)}, ``,
			strings.Repeat("[", 20000) + strings.Repeat("]", 20000)},
	} {
		t.Run(name, func(t *testing.T) {
			chunks := []provider.Chunk{provider.ToolStart(0, "id", "t")}
			for _, p := range c.pieces {
				chunks = append(chunks, provider.ToolDelta(0, p))
			}
			r := collect(t, append(chunks, provider.ToolEnd(0))...)
			require.Len(t, r.Calls(), 1)
			call := r.Calls()[0]
			require.Equal(t, c.input, string(call.Input))
			require.Equal(t, c.invalid, call.Invalid)
			require.Equal(t, len(c.input) == 0, call.Input == nil)
			var back provider.Response
			require.NoError(t, json.Unmarshal(plain(t, r, ""), &back))
			require.Equal(t, r, &back)
		})
	}
}

func TestDetailsBecomeWhatAJournalCanHold(t *testing.T) {
	end := provider.End(provider.StopDone, provider.Usage{})
	given := map[string]json.RawMessage{"a": json.RawMessage("{ \"x\" : \"<\u2028>\" }"), "b": json.RawMessage("{"),
		"c\xff": nil}
	end.Extra.Details = given
	r := collect(t, provider.Text("Hi."), end)
	require.Equal(t, map[string]json.RawMessage{"a": json.RawMessage(`{"x":"<\u2028>"}`), "b": json.RawMessage("null"),
		"c\uFFFD": json.RawMessage("null")}, r.Details)
	var back provider.Response
	require.NoError(t, json.Unmarshal(plain(t, r, ""), &back))
	require.Equal(t, r, &back)
	require.Equal(t, json.RawMessage("{ \"x\" : \"<\u2028>\" }"), given["a"], "the chunk is the provider's")
	require.Len(t, r.Message().Parts, 1, "they never go back")
}

func TestACutAnswerIsAtHand(t *testing.T) {
	r := collect(t, provider.Reasoning("Hm."), provider.Text("It "), provider.Text("is"),
		provider.ToolStart(4, "id", "t"), provider.ToolDelta(4, `{"a`))
	require.Equal(t, "It is", r.Text())
	require.Equal(t, "Hm.", r.Reasoning())
	require.Equal(t, `{"a`, r.Calls()[0].Invalid)
	require.False(t, r.Complete)
	require.Empty(t, r.Stop)
	message := r.Message()
	require.Equal(t, provider.RoleAssistant, message.Role)
	require.Equal(t, "It is", message.Text())
}

func TestBlocksOfTextStayApart(t *testing.T) {
	block := func(kind provider.ChunkKind, index int32, text string) provider.Chunk {
		return provider.Chunk{Kind: kind, Index: index, Text: text}
	}
	r := collect(t, block(provider.KindText, 0, "a"), block(provider.KindText, 0, "b"),
		block(provider.KindText, 1, "c"),
		block(provider.KindReasoning, 1, "d"), block(provider.KindText, 1, "e"),
		provider.Cite(provider.Source{URL: "u"}), block(provider.KindText, 1, "f"))
	var texts []string
	for _, p := range r.Parts {
		texts = append(texts, p.Text)
	}
	require.Equal(t, []string{"ab", "c", "d", "e", "", "f"}, texts)
	require.Equal(t, "abcef", r.Text())
}

func TestOpaqueDataFindsItsPart(t *testing.T) {
	o := func(s string) provider.Opaque { return provider.Opaque{Provider: "p", Data: s} }
	r := collect(t,
		provider.Attach(o("first")), provider.Reasoning("x"), provider.Attach(o("thought")),
		provider.ToolStart(0, "same", "a"), provider.ToolStart(1, "same", "b"), provider.ToolDelta(0, "1"),
		provider.Attach(o("a's")),
		provider.ToolEnd(0), provider.ToolEnd(1), provider.ToolStart(0, "same", "c"), provider.ToolEnd(0),
		provider.AttachTo(0, o("c's")), provider.AttachTo(1, o("b's")), provider.AttachTo(9, o("nobody's")),
		provider.OpaquePart(o("own")))
	var got []string
	for _, p := range r.Parts {
		got = append(got, string(p.Kind)+" "+p.Opaque.Data)
	}
	require.Equal(t, []string{"opaque first", "reasoning thought", "tool_call a's", "tool_call b's", "tool_call c's",
		"opaque nobody's", "opaque own"}, got)
}

func TestAResetForgetsWhatWasShown(t *testing.T) {
	var c provider.Collector
	require.True(t, c.Empty())
	for _, chunk := range []provider.Chunk{
		provider.Start("one"), provider.Text("lost"), provider.ToolStart(0, "", "t"), provider.Reset("again"),
		provider.Waiting(provider.Wait{Reason: provider.WaitBackingOff}), provider.Start("two"),
		provider.ToolStart(0, "", "u"), provider.ToolEnd(0),
		provider.End(provider.StopDone, provider.Usage{Output: 1}),
	} {
		require.NoError(t, c.Add(chunk))
		require.Equal(t, chunk.Kind == provider.KindReset || chunk.Kind == provider.KindWaiting, c.Empty())
	}
	r := c.Response()
	require.Equal(t, "two", r.Model)
	require.Len(t, r.Parts, 1)
	require.True(t, c.Complete())
}

func TestTheGrammarKeepsItsStateAfterAnError(t *testing.T) {
	var g provider.Grammar
	next := func(c provider.Chunk) error { return g.Next(&c) }
	require.Error(t, next(provider.Text("x")))
	require.NoError(t, next(provider.Start("m")))
	require.NoError(t, next(provider.ToolStart(0, "", "t")))
	require.EqualError(t, next(provider.End(provider.StopDone, provider.Usage{})),
		"provider: a chunk of kind end doesn't fit here: a tool call is open")
	require.Error(t, next(provider.ToolStart(0, "", "t")))
	require.Error(t, next(provider.Waiting(provider.Wait{})))
	require.NoError(t, next(provider.ToolEnd(0)))
	require.Error(t, next(provider.ToolEnd(0)))
	require.False(t, g.Complete())
	require.NoError(t, next(provider.End(provider.StopDone, provider.Usage{})))
	require.True(t, g.Complete())
	for k := provider.KindNone; k <= provider.KindEnd+1; k++ {
		require.Error(t, next(provider.Chunk{Kind: k}))
	}
}

func TestManyCallsMayBeOpen(t *testing.T) {
	const n = 100
	var chunks []provider.Chunk
	order := rand.New(rand.NewPCG(1, 1)).Perm(n)
	for i := range n {
		chunks = append(chunks, provider.ToolStart(i, "", "t"))
	}
	for range 3 {
		for _, i := range order {
			chunks = append(chunks, provider.ToolDelta(i, "1"))
		}
	}
	slices.Reverse(order)
	for _, i := range order {
		chunks = append(chunks, provider.ToolEnd(i))
	}
	calls := collect(t, chunks...).Calls()
	require.Len(t, calls, n)
	for _, c := range calls {
		require.Equal(t, "111", string(c.Input))
	}
}

// TestTheFinalAnswerIsTheResponse, and its parts stay as they are when the Collector goes on.
func TestTheFinalAnswerIsTheResponse(t *testing.T) {
	var c provider.Collector
	require.Equal(t, c.Response(), c.Final(), "of nothing")
	for range 2 {
		for _, chunk := range callReply {
			require.NoError(t, c.Add(chunk))
			require.Equal(t, c.Response(), c.Final())
			require.Equal(t, c.Final(), c.Response(), "what was final is made anew")
		}
		parts := c.Final().Parts
		want := c.Response().Parts
		c.Reset()
		require.Empty(t, c.Final().Parts)
		require.NoError(t, c.Add(provider.Start("m")))
		require.NoError(t, c.Add(provider.Text("another")))
		require.Equal(t, want, parts)
		c.Reset()
	}
}

// TestTextIsWhatCameInPiecesOfAnyLength, whenever it is asked for.
func TestTextIsWhatCameInPiecesOfAnyLength(t *testing.T) {
	for _, lengths := range [][]int{{1}, {20}, {199, 1}, {200}, {201}, {199, 2}, {1, 200}, {150, 50, 1}, {500, 1, 3},
		{0, 7, 0, 4000}} {
		for _, every := range []int{1, 7, 1000} {
			var c provider.Collector
			require.NoError(t, c.Add(provider.Start("m")))
			want, early := "", ""
			for n := range 60 {
				piece := strings.Repeat(string(rune('a'+n%26)), lengths[n%len(lengths)])
				require.NoError(t, c.Add(provider.Text(piece)))
				want += piece
				if n%every == 0 {
					early = c.Response().Text()
					require.Equal(t, want, early)
				}
				require.Equal(t, want[:len(early)], early, "what was handed out stays")
			}
			require.Equal(t, want, c.Response().Text())
		}
	}
}
