package tiktoken_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/memory/tokens/tiktoken"
	"github.com/pawlkit/pawl/provider"
)

// TestCountsAreOpenAIs holds the counts to those that OpenAI's cookbook prints for its own
// tokenizer.
func TestCountsAreOpenAIs(t *testing.T) {
	for _, c := range []struct {
		text          string
		cl100k, o200k int
	}{
		{"", 0, 0},
		{"tiktoken is great!", 6, 6},
		{"antidisestablishmentarianism", 6, 6},
		{"2 + 2 = 4", 7, 7},
		{"お誕生日おめでとう", 9, 8},
	} {
		require.Equal(t, c.cl100k, tiktoken.Count(tiktoken.CL100k, c.text), c.text)
		require.Equal(t, c.o200k, tiktoken.Count(tiktoken.O200k, c.text), c.text)
	}
	require.Equal(t, tiktoken.Count(tiktoken.O200k, "a\uFFFDb"), tiktoken.Count(tiktoken.O200k, "a\xffb"),
		"bytes that are no text count as U+FFFD")
	require.Equal(t, 6, tiktoken.Count("made up", "tiktoken is great!"))
}

func TestEachModelHasItsVocabulary(t *testing.T) {
	for model, want := range map[string]tiktoken.Encoding{
		"gpt-4o": tiktoken.O200k, "gpt-4.1-mini": tiktoken.O200k, "o3": tiktoken.O200k, "gpt-5": tiktoken.O200k,
		"":             tiktoken.O200k,
		"openai/gpt-4": tiktoken.CL100k, "gpt-4-turbo": tiktoken.CL100k, "gpt-3.5-turbo-0125": tiktoken.CL100k,
		"GPT-4-0613": tiktoken.CL100k,
	} {
		require.Equal(t, want, tiktoken.EncodingOf(model), model)
	}
}

func TestTheCounterCountsTextsExactly(t *testing.T) {
	c := tiktoken.New(provider.ModelInfo{ID: "gpt-4o"})
	text := "The council decided yesterday that the old market hall will not be torn down."
	require.Equal(t, tiktoken.Count(tiktoken.O200k, text), c.CountText(text))
	require.Equal(t, tiktoken.Count(tiktoken.O200k, text)+4,
		c.CountMessage(&provider.Message{Parts: []provider.Part{provider.TextPart(text)}}))
}

// TestTheEstimateIsAtMost10PercentBelowAnd40Above holds the estimate of texts to the tokenizer, on
// samples of prose, code, JSON, German and Chinese, whole and by line.
func TestTheEstimateIsAtMost10PercentBelowAnd40Above(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.Len(t, files, 5)
	o200k := &memory.Estimator{Family: memory.FamilyOpenAI}
	unknown := &memory.Estimator{}
	for _, file := range files {
		b, err := os.ReadFile(file)
		require.NoError(t, err)
		text := string(b)
		want := tiktoken.Count(tiktoken.O200k, text)
		share := float64(o200k.CountText(text)) / float64(want)
		t.Logf("%-12s %5d bytes, %.2f characters a token, estimate %+.0f %%",
			strings.TrimSuffix(filepath.Base(file), ".txt"), len(text),
			float64(len([]rune(text)))/float64(want), (share-1)*100)
		require.GreaterOrEqual(t, share, .9, file)
		require.LessOrEqual(t, share, 1.4, file)
		require.GreaterOrEqual(t, float64(unknown.CountText(text)), .9*float64(tiktoken.Count(tiktoken.CL100k, text)),
			"%s: what is unknown isn't counted low for an older vocabulary", file)

		sum := 0
		for _, line := range strings.SplitAfter(text, "\n") {
			sum += o200k.CountText(line)
		}
		require.InEpsilon(t, float64(o200k.CountText(text)), float64(sum), .1, "%s: pieces add up", file)
	}
}

// TestALongRunWithoutABreakIsCountedInReasonableTime would not end with a merge that is quadratic.
func TestALongRunWithoutABreakIsCountedInReasonableTime(t *testing.T) {
	require.Positive(t, tiktoken.Count(tiktoken.O200k, strings.Repeat("a", 1<<15)))
}

func BenchmarkCount(b *testing.B) {
	text, err := os.ReadFile("testdata/english.txt")
	require.NoError(b, err)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		tiktoken.Count(tiktoken.O200k, string(text))
	}
}

func BenchmarkEstimate(b *testing.B) {
	text, err := os.ReadFile("testdata/english.txt")
	require.NoError(b, err)
	e := &memory.Estimator{Family: memory.FamilyOpenAI}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		e.CountText(string(text))
	}
}
