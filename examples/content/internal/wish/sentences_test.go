package wish

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var (
	sentenceFile = flag.String("sentences", "", "a file of sentences to try, instead of the lists of testdata")
	full         = flag.Bool("full", false, "try all sentences of testdata instead of every fourth, and print what each does")
)

// writer are the artifacts of the lists of sentences.
func writer(open string) Place {
	if open == "-" {
		open = ""
	}
	text := []string{"Introduction", "Fewer hand-offs", "Shorter feedback", "Conclusion"}
	return Place{Open: open, Artifacts: []Artifact{
		{ID: "R", Title: "Why small teams ship faster", Type: "blog", Status: "ready", Tone: "casual", Sections: text,
			Words: 640, Characters: 3900, Sources: 8, Pictures: 2, Score: "3 of 24 patterns found"},
		{ID: "D", Title: "Spring launch", Type: "social_post", Status: "draft"},
		{ID: "S", Title: "How we moved a bank to Go", Type: "showcase", Status: "skeleton",
			Sections: []string{"Overview", "Problem", "Solution", "Results", "Learnings"}},
		{ID: "P", Title: "Five interview questions", Type: "blog", Status: "published", Sections: text, Words: 500,
			Published: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)},
		{ID: "Q", Title: "Remote work in winter", Type: "blog", Status: "research", Sources: 12},
		{ID: "V", Title: "Pricing for consultants", Type: "blog", Status: "creating_visuals", Sections: text,
			Words: 600},
	}}
}

// effect returns what a wish does, in a line.
func effect(w Wish) string {
	var all []string
	add := func(name, value string) {
		if value != "" && value != "0" && value != "false" && value != "[]" {
			all = append(all, name+"="+value)
		}
	}
	add("on", w.Artifact)
	if w.Why != "" {
		return strings.Join(append([]string{string(w.Why), w.Intent}, all...), " ")
	}
	for i, s := range w.Steps {
		all = append(all, map[bool]string{true: "steps=", false: ""}[i == 0]+s)
	}
	add("new", fmt.Sprint(w.New))
	add("from", w.From)
	add("title", w.Title)
	add("type", w.Type)
	add("tone", w.Tone)
	add("focus", w.Focus)
	add("count", fmt.Sprint(w.Count))
	add("tags", fmt.Sprint(w.Tags))
	add("section", w.Section)
	add("remove", fmt.Sprint(w.Remove))
	add("picture", fmt.Sprint(w.Picture))
	add("version", fmt.Sprint(w.Version))
	add("format", w.Format)
	add("next", w.Next)
	return strings.Join(append([]string{w.Intent}, all...), " ")
}

// offers reports whether a wish that isn't done keeps what was asked for in a button or a question.
func offers(w Wish) bool { return w.Why == Confirms || w.Why == Unclear && len(w.Options) > 0 }

// TestSentencesOfWritersDoWhatTheySay measures the lists of testdata, which effects.txt has the
// right effects of, or another list.
func TestSentencesOfWritersDoWhatTheySay(t *testing.T) {
	files := []string{"testdata/sentences.txt", "testdata/own.txt", "testdata/more.txt",
		"testdata/judged.txt"}
	if *sentenceFile != "" {
		files = []string{*sentenceFile}
	}
	right := map[string]string{}
	golden, err := os.ReadFile("testdata/effects.txt")
	require.NoError(t, err)
	for line := range strings.Lines(string(golden)) {
		sentence, effect, _ := strings.Cut(strings.TrimSpace(line), " => ")
		right[sentence] = effect
	}
	r, number := New(), 0
	for _, name := range files {
		list, err := os.ReadFile(name)
		require.NoError(t, err)
		count := map[string]map[string]int{}
		for line := range strings.Lines(string(list)) {
			columns := strings.SplitN(strings.TrimSpace(line), " | ", 4)
			if len(columns) < 3 || strings.HasPrefix(line, "#") {
				continue
			}
			if number++; number%4 != 0 && !*full && *sentenceFile == "" {
				continue
			}
			kind, screen, sentence := columns[0], columns[1], columns[2]
			w := r.Read(sentence, writer(screen))
			got := effect(w)
			want, known := right[screen+" | "+sentence]
			outcome := "missed"
			switch acts := w.Why == "" && !r.is("harmless", w.Intent) && w.Intent != Clarify; {
			case known && got == want:
				outcome = "right"
			case acts && (known || slices.Contains([]string{"forbid", "ask", "back", "unclear"}, kind)):
				outcome = "WRONG"
			case offers(w):
				outcome = "offered"
			case !known && acts || !known && w.Why == "":
				outcome = "acts"
			case !known && (w.Why == Forbids || w.Why == Asks || w.Why == TakesBack):
				outcome = "words"
			}
			require.NotEmpty(t, w.Intent, sentence)
			require.True(t, w.Why == "" || w.Say != "", sentence)
			if count[kind] == nil {
				count[kind] = map[string]int{}
			}
			count[kind][outcome]++
			if *full {
				t.Logf("%s\t%s | %s | %s => %s\t[%s]\t(%s)", outcome, kind, screen, sentence, got, w.Say,
					columns[len(columns)-1])
			}
		}
		sum := func(outcome string, kinds ...string) (n int) {
			for _, kind := range kinds {
				n += count[kind][outcome]
			}
			return n
		}
		for _, kind := range slices.Sorted(maps.Keys(count)) {
			t.Logf("%s %-8s %v", name, kind, count[kind])
			require.Zero(t, count[kind]["WRONG"], "%s: %s", name, kind)
		}
		if *sentenceFile == "" && *full {
			all := 0
			for _, kind := range []string{"do", "typo"} {
				for _, n := range count[kind] {
					all += n
				}
			}
			right, offered := sum("right", "do", "typo"), sum("offered", "do", "typo")
			t.Logf("%s: %d of %d wishes are done, and %d are offered", name, right, all, offered)
			require.GreaterOrEqual(t, 100*right, 80*all, name)
			require.GreaterOrEqual(t, 100*(right+offered), 90*all, name)
		}
	}
}
