package memory_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
)

func TestACutTextKeepsItsBeginningAndItsEnd(t *testing.T) {
	c := memory.NewEstimator(provider.ModelInfo{ID: "gpt-4o"})
	text := "BEGIN " + strings.Repeat("blah blah ", 5_000) + "END"
	out, cut := memory.CutText(c, text, "[%d bytes left out]", 100)
	require.True(t, cut)
	require.LessOrEqual(t, c.CountText(out), 100)
	require.Greater(t, c.CountText(out), 60, "the room is used")
	require.True(t, strings.HasPrefix(out, "BEGIN ") && strings.HasSuffix(out, "END"), out)
	require.Regexp(t, `\n\[\d+ bytes left out\]\n`, out)
	same, cut := memory.CutText(c, out, "", 100)
	require.False(t, cut)
	require.Equal(t, out, same)
	alone, cut := memory.CutText(c, text, "gone", 0)
	require.True(t, cut)
	require.Equal(t, "gone", alone)
}

func FuzzCutText(f *testing.F) {
	f.Add("hello world, this is a text", 3)
	f.Add("größer 会员 🙂 e\u0301", 2)
	f.Add(strings.Repeat("🙂", 300), 40)
	f.Add("\xff\xfe broken \xe4", 1)
	f.Add(strings.Repeat("a", 4000), 17)
	c := memory.NewEstimator(provider.ModelInfo{ID: "gpt-4o"})
	f.Fuzz(func(t *testing.T, text string, limit int) {
		const notice = "[%d]"
		out, cut := memory.CutText(c, text, notice, limit)
		switch {
		case !cut && (out != text || c.CountText(text) > limit):
			t.Fatalf("%q is not cut, and not within %d", text, limit)
		case cut && utf8.ValidString(text) && !utf8.ValidString(out):
			t.Fatalf("%q was cut within a character: %q", text, out)
		case cut && strings.Contains(out, "\n") && c.CountText(out) > limit:
			t.Fatalf("%q takes more than %d", out, limit)
		}
	})
}

func FuzzEstimate(f *testing.F) {
	f.Add("hello, World")
	f.Add("\xff会員🙂ß0123")
	c := &memory.Estimator{Family: memory.FamilyOpenAI}
	f.Fuzz(func(t *testing.T, text string) {
		n := c.CountText(text)
		if n < 0 || text != "" && n > 4*len(text)+4 {
			t.Fatalf("%d tokens of %d bytes", n, len(text))
		}
		if unknown := (&memory.Estimator{}).CountText(text); unknown < n {
			t.Fatalf("an unknown model counts lower: %d, %d", unknown, n)
		}
	})
}

func TestATranscriptKeepsTheEndOfALongConversation(t *testing.T) {
	var messages []provider.Message
	for i := range 200 {
		messages = append(messages, step(fmt.Sprint(i), "look", fmt.Sprintf(`{"n":%d}`, i),
			fmt.Sprintf("result %d of %s", i, strings.Repeat("word ", 100)))...)
	}
	c := memory.NewEstimator(provider.ModelInfo{})
	for _, most := range []int{200, 1_000, 10_000} {
		text := memory.Transcript(c, messages, most)
		require.LessOrEqual(t, c.CountText(text), most)
		require.Contains(t, text, "result 199 of")
		require.Contains(t, text, `call look {"n":199}`)
		require.NotContains(t, text, "result 0 of")
		require.Contains(t, text, "earlier exchanges are left out here")
	}
	whole := memory.Transcript(nil, messages, 1_000_000)
	require.Contains(t, whole, "result 0 of")
	require.NotContains(t, whole, "left out")
	require.Empty(t, memory.Transcript(c, nil, 1_000))
}

func TestATranscriptOfOneHugeMessageFits(t *testing.T) {
	c := memory.NewEstimator(provider.ModelInfo{})
	text := memory.Transcript(c, []provider.Message{provider.User("begin " + strings.Repeat("word ", 100_000) + "end")},
		300)
	require.LessOrEqual(t, c.CountText(text), 300)
	require.Contains(t, text, "begin")
	require.Contains(t, text, "end")
	require.Empty(t, memory.Transcript(c, []provider.Message{provider.User("x")}, 0))
	for tokens := range 60 { // where there is hardly room for what says that something was left out
		said := []provider.Message{provider.User("a"), provider.User(strings.Repeat("word ", 100))}
		text := memory.Transcript(c, said, tokens)
		require.LessOrEqual(t, c.CountText(text), tokens)
	}
}
