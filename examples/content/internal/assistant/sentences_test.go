package assistant

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
)

var (
	full         = flag.Bool("full", false, "try all sentences of package wish instead of every hundredth, and all cases of the other tests")
	sentenceFile = flag.String("sentences", "", "a file of sentences to try, instead of those of package wish")
)

// furnished is the file of a writer with the artifacts that the lists of sentences describe, and
// names are their letters there by their ids.
var (
	furnished []byte
	names     = map[string]string{}
)

// furnish makes the artifacts, once for all sentences.
func furnish(t *testing.T) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "first.db")
	b := newBench(t, func(c *Config) { c.DB = path })
	for _, a := range []struct {
		letter, kind, title string
		steps               []string
	}{
		{"V", portfolio.Blog, "Pricing for consultants",
			[]string{"Research this", "Make an outline", "Write the text"}},
		{"Q", portfolio.Blog, "Remote work in winter", []string{"Research this"}},
		{"P", portfolio.Blog, "Five interview questions", []string{"Create the content", "Publish it", "Yes"}},
		{"S", portfolio.Showcase, "How we moved a bank to Go", []string{"Research this", "Make an outline"}},
		{"D", portfolio.SocialPost, "Spring launch", nil},
		{"R", portfolio.Blog, "Why small teams ship faster", []string{"Create the content"}},
	} {
		made, err := b.Store.Create(t.Context(), portfolio.Artifact{User: "ann", Type: a.kind, Title: a.title})
		require.NoError(t, err)
		names[made.ID] = a.letter
		for _, step := range a.steps {
			answer := b.say("ann", made.ID, step)
			require.True(t, answer.Success, "%s: %s", step, answer.Message)
		}
	}
	require.NoError(t, b.Close())
	var err error
	furnished, err = os.ReadFile(path)
	require.NoError(t, err)
}

// state returns what a writer sees of each artifact.
func (b *bench) state() map[string]string {
	b.t.Helper()
	all, err := b.Store.Artifacts(b.t.Context(), "ann")
	require.NoError(b.t, err)
	seen := map[string]string{}
	for _, a := range all {
		sources, err := b.Store.Research(b.t.Context(), "ann", a.ID)
		require.NoError(b.t, err)
		proposal, err := b.Store.Proposal(b.t.Context(), "ann", a.ID)
		require.NoError(b.t, err)
		about := ""
		if proposal != nil {
			about = "; proposal for " + proposal.Target
		}
		name := names[a.ID]
		if name == "" {
			name = "new"
		}
		seen[name] = fmt.Sprintf("%q %s %s %s %v, text %.4x, %d sources%s", a.Title, a.Type, a.Status, a.Tone, a.Tags,
			sha256.Sum256([]byte(a.Content)), len(sources), about)
	}
	return seen
}

// TestSentencesOfWritersInTheWholeProgram says each sentence in a chat of its own, agrees to what
// is asked before something is done, and compares what a writer sees before and after.
func TestSentencesOfWritersInTheWholeProgram(t *testing.T) {
	furnish(t)
	files := []string{"../wish/testdata/sentences.txt", "../wish/testdata/own.txt", "../wish/testdata/more.txt",
		"../wish/testdata/judged.txt"}
	if *sentenceFile != "" {
		files = []string{*sentenceFile}
	}
	var b *bench
	var before map[string]string
	number, done := 0, 0
	for _, name := range files {
		list, err := os.ReadFile(name)
		require.NoError(t, err)
		count := map[string]int{}
		for line := range strings.Lines(string(list)) {
			columns := strings.SplitN(strings.TrimSpace(line), " | ", 4)
			if number++; len(columns) < 3 || line[0] == '#' || number%100 != 0 && !*full && *sentenceFile == "" {
				continue
			}
			kind, sentence, open := columns[0], columns[2], ""
			for id, letter := range names {
				if letter == columns[1] {
					open = id
				}
			}
			if b == nil {
				path := filepath.Join(t.TempDir(), fmt.Sprintf("%d.db", number))
				require.NoError(t, os.WriteFile(path, furnished, 0o600))
				b = newBench(t, func(c *Config) { c.DB = path })
				before = b.state()
			}
			say := Request{User: "ann", Message: sentence, Session: fmt.Sprintf("ann/s%d", number),
				Screen: Screen{ArtifactID: open}}
			answer := b.Execute(t.Context(), say)
			require.NotEmpty(t, answer.Message, sentence)
			asked := len(answer.Options) > 0 && answer.Options[0].Message == "Yes"
			if asked && kind != "unclear" {
				say.Message = "Yes"
				b.Execute(t.Context(), say)
			}
			var changed []string
			after := b.state()
			for letter, is := range after {
				if before[letter] != is {
					changed = append(changed, letter+": "+is)
				}
			}
			slices.Sort(changed)
			outcome := "words"
			mild := asked || strings.Contains(strings.Join(columns[3:], ""), "skip")
			switch {
			case len(changed) > 0 && !mild && slices.Contains([]string{"forbid", "ask", "back", "unclear"}, kind):
				outcome = "WRONG"
			case len(changed) > 1:
				outcome = "WRONG"
			case len(changed) == 1:
				outcome = "done"
			case len(answer.Options) > 0 || answer.Data != nil:
				outcome = "offered"
			}
			count[kind+" "+outcome]++
			if *full || *sentenceFile != "" {
				t.Logf("%s\t%s | %s | %s => %v\t[%s%.140s]\t(%s)", outcome, kind, columns[1], sentence, changed,
					map[bool]string{true: "asked: "}[asked], strings.ReplaceAll(answer.Message, "\n", " "),
					columns[len(columns)-1])
			}
			require.False(t, outcome == "WRONG" && *sentenceFile == "", "%s: %v", sentence, changed)
			if len(changed) > 0 {
				require.NoError(t, b.Close())
				b, done = nil, done+1
			}
		}
		t.Logf("%s: %v", name, count)
	}
	require.Positive(t, done)
}
