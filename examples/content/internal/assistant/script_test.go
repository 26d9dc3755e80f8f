package assistant

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/examples/content/internal/contenttools"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
)

// A writer has the artifacts that testdata/script.txt describes.
type writer struct {
	path    string
	letters map[string]string // by their ids
}

// newWriter makes the artifacts.
func newWriter(t *testing.T) *writer {
	t.Helper()
	w := &writer{filepath.Join(t.TempDir(), "writer.db"), map[string]string{}}
	b := newBench(t, func(c *Config) { c.DB = w.path })
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
		w.letters[made.ID] = a.letter
		for _, step := range a.steps {
			answer := b.say("ann", made.ID, step)
			require.True(t, answer.Success, "%s: %s", step, answer.Message)
		}
	}
	require.NoError(t, b.Close())
	return w
}

// copy returns a bench with a copy of the writer's file.
func (w *writer) copy(t *testing.T) *bench {
	t.Helper()
	raw, err := os.ReadFile(w.path)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "copy.db")
	require.NoError(t, os.WriteFile(path, raw, 0o600))
	return newBench(t, func(c *Config) { c.DB = path })
}

// screen is what the writer sees while the artifact of a letter is open.
func (w *writer) screen(letter string) Screen {
	for id, l := range w.letters {
		if l == letter {
			return Screen{CurrentPage: "artifact", ArtifactID: id}
		}
	}
	return Screen{CurrentPage: "dashboard"}
}

// calls returns the calls of a conversation, with the letters of their artifacts.
func (w *writer) calls(b *bench, session string) (all []string) {
	b.t.Helper()
	name, err := b.Conversation(b.t.Context(), "ann", session, false)
	require.NoError(b.t, err)
	messages, err := b.Agent.Session(name).Messages(b.t.Context())
	require.NoError(b.t, err)
	for _, m := range messages {
		for _, p := range m.Parts {
			if p.Call == nil || p.Call.Name == contenttools.StructuredResponse {
				continue
			}
			var in struct{ ArtifactID string }
			_ = json.Unmarshal(p.Call.Input, &in) // not every input names one
			letter := w.letters[in.ArtifactID]
			if p.Call.Name == contenttools.CreateDraft {
				letter = "new"
			} else if letter == "" {
				letter = "-"
			}
			all = append(all, p.Call.Name+" "+letter)
		}
	}
	return all
}

// state returns what a writer sees of each artifact.
func (w *writer) state(b *bench) map[string]string {
	b.t.Helper()
	all, err := b.Store.Artifacts(b.t.Context(), "ann")
	require.NoError(b.t, err)
	seen := map[string]string{}
	for _, a := range all {
		sources, err := b.Store.Research(b.t.Context(), "ann", a.ID)
		require.NoError(b.t, err)
		proposal, err := b.Store.Proposal(b.t.Context(), "ann", a.ID)
		require.NoError(b.t, err)
		letter := w.letters[a.ID]
		if letter == "" {
			letter = "new"
		}
		seen[letter] = fmt.Sprintf("%q %s %s %s %v, text %.4x, %d sources, proposal: %t", a.Title, a.Type, a.Status,
			a.Tone, a.Tags, sha256.Sum256([]byte(a.Content)), len(sources), proposal != nil)
	}
	return seen
}

// list returns the lines of testdata/script.txt below a heading: requests, or sentences that are
// none; after has what is said before those of a group.
func list(t *testing.T, heading string) (lines []string, after map[string]string) {
	t.Helper()
	text, err := os.ReadFile("../../testdata/script.txt")
	require.NoError(t, err)
	at, said := "", ""
	after = map[string]string{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "## "):
			_, said, _ = strings.Cut(line, ", after: ")
		case strings.HasPrefix(line, "# Requests"), strings.HasPrefix(line, "# Sentences"):
			at = line
		case strings.Contains(line, " | ") && strings.HasPrefix(at, "# "+heading):
			lines = append(lines, line)
			after[line] = said
		}
	}
	return lines, after
}

// TestTheScriptDoesWhatItKnows also tests that no other artifact changes.
func TestTheScriptDoesWhatItKnows(t *testing.T) {
	t.Parallel()
	lines, after := list(t, "Requests")
	require.Len(t, lines, 69)
	w, right, effects := newWriter(t), 0, 0
	for _, line := range lines {
		said, want, _ := strings.Cut(line, " => ")
		letter, sentence, _ := strings.Cut(said, " | ")
		tool, about, _ := strings.Cut(want, " ")
		b := w.copy(t)
		say := func(message string) Answer {
			answer := b.Execute(t.Context(), Request{User: "ann", Message: message, Session: "ann/s",
				Screen: w.screen(letter)})
			if len(answer.Options) > 0 && answer.Options[0].Message == "Yes" {
				answer = b.Execute(t.Context(), Request{User: "ann", Message: "Yes", Session: "ann/s",
					Screen: w.screen(letter)})
			}
			return answer
		}
		before := 0
		if first := after[line]; first != "" {
			for id, l := range w.letters {
				first = strings.ReplaceAll(first, "(artifact "+l+")", "(artifact "+id+")")
			}
			require.True(t, say(first).Success, first)
			before = len(w.calls(b, "ann/s"))
		}
		was := w.state(b)
		answer := say(sentence)
		calls := w.calls(b, "ann/s")[before:]
		ok := answer.Success && len(calls) > 0 && calls[0] == want
		changed, is := false, w.state(b)
		for l := range is {
			ok = ok && (is[l] == was[l] || l == about)
			changed = changed || is[l] != was[l]
		}
		reads := strings.HasPrefix(tool, "fetch") || strings.HasPrefix(tool, "list") ||
			tool == contenttools.TopicsResearch
		if changed {
			effects++
		}
		if ok && !(changed && reads) {
			right++
		} else {
			t.Errorf("%s\n=> %s, changed: %t\n%s", line, calls, changed, answer.Message)
		}
		require.NoError(t, b.Close())
	}
	require.Equal(t, len(lines), right)
	require.Greater(t, effects, 48, "what is done again may change nothing")
}

// TestTheScriptLeavesEverythingElseAlone: what isn't a request is answered by those that are.
func TestTheScriptLeavesEverythingElseAlone(t *testing.T) {
	t.Parallel()
	lines, _ := list(t, "Sentences")
	require.GreaterOrEqual(t, len(lines), 200)
	w := newWriter(t)
	b := w.copy(t)
	before, helped := w.state(b), 0
	for i, line := range lines {
		letter, sentence, _ := strings.Cut(line, " | ")
		session := fmt.Sprint("ann/s", i)
		answer := b.Execute(t.Context(), Request{User: "ann", Message: sentence, Session: session,
			Screen: w.screen(letter)})
		is := w.state(b)
		if !maps.Equal(is, before) || len(answer.Options) > 0 && answer.Options[0].Message == "Yes" {
			t.Errorf("%s\n=> %s\n%s", line, w.calls(b, session), answer.Message)
			before = is
		}
		if strings.Contains(answer.Message, "I'm a script") {
			helped++
		} else {
			t.Logf("%s\n=> %s\n%s", line, w.calls(b, session), answer.Message)
		}
	}
	require.Greater(t, helped, 200)
}
