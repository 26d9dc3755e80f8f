package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/examples/cms/internal/cmstools"
	"github.com/pawlkit/pawl/examples/cms/internal/site"
)

// A scripting is the program with the script as its model. All approvals are given.
type scripting struct {
	t *testing.T
	*program
	sessions int
}

func newScripting(t *testing.T) *scripting {
	o, err := readOptions([]string{"-db", newBench(t).db}, noKeys, t.Output())
	require.NoError(t, err)
	p, err := o.open("", t.Output())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.close()) })
	return &scripting{t: t, program: p}
}

// say says a sentence in the current session, and returns the calls and the answer.
func (s *scripting) say(sentence string) (calls []string, answer string) {
	s.t.Helper()
	session := fmt.Sprint("s-", s.sessions)
	var next agent.Work = agent.Input{Session: session, User: user, Mode: cmstools.CRUD, Prompt: sentence}
	var waits *agent.PausedError
	res, err := s.hub.Agent().Run(s.t.Context(), next)
	for ; errors.As(err, &waits); res, err = s.hub.Agent().Run(s.t.Context(), next) {
		var all []agent.Decision
		for _, p := range res.Pending {
			all = append(all, agent.Approve(p.ID))
		}
		next = agent.Resume(session, all...)
	}
	require.NoError(s.t, err, sentence)
	messages, err := s.hub.Agent().Session(session).Messages(s.t.Context())
	require.NoError(s.t, err)
	for _, m := range messages {
		if m.Role == "user" {
			calls = nil
		}
		for _, p := range m.Parts {
			if p.Call != nil {
				calls = append(calls, p.Call.Name)
			}
		}
		answer = m.Text()
	}
	return calls, answer
}

// state returns what somebody sees of the pages, in lines.
func (s *scripting) state() (lines []string) {
	s.t.Helper()
	pages, err := s.site.ListPages(s.t.Context(), site.Query{Limit: 200})
	require.NoError(s.t, err)
	for _, summary := range pages.Items {
		p, err := s.site.GetPage(s.t.Context(), summary.Slug, "")
		require.NoError(s.t, err)
		lines = append(lines, fmt.Sprintf("page %s %q %s %q", p.Slug, p.Name, p.Status, p.Description))
		for _, section := range p.Sections {
			name := p.Slug + "/" + section.Section
			if len(section.Content) == 0 {
				lines = append(lines, name)
			}
			for _, key := range slices.Sorted(maps.Keys(section.Content)) {
				value, err := json.Marshal(section.Content[key])
				require.NoError(s.t, err)
				lines = append(lines, fmt.Sprintf("%s.%s=%s", name, key, value))
			}
		}
	}
	return lines
}

// changes returns the lines that went and those that came.
func changes(before, after []string) (all []string) {
	for _, list := range []struct {
		sign       string
		have, less []string
	}{{"-", before, after}, {"+", after, before}} {
		less := slices.Clone(list.less)
		for _, line := range list.have {
			if i := slices.Index(less, line); i >= 0 {
				less = slices.Delete(less, i, i+1)
			} else {
				all = append(all, list.sign+line)
			}
		}
	}
	return all
}

// list returns the lines of testdata/script.txt below a heading: requests, or sentences that are
// none. Those of a group follow what is said before them.
func list(t *testing.T, heading string) (lines []string, after map[string]string) {
	text, err := os.ReadFile("testdata/script.txt")
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
		case line != "" && line[0] != '#' && strings.HasPrefix(at, "# "+heading):
			lines = append(lines, line)
			after[line] = said
		}
	}
	return lines, after
}

func TestTheScriptDoesWhatItKnows(t *testing.T) {
	t.Parallel()
	lines, after := list(t, "Requests")
	require.Len(t, lines, 45)
	s, right := newScripting(t), 0
	for _, line := range lines {
		s.sessions++
		require.NoError(t, s.site.Seed(t.Context()))
		if said := after[line]; said != "" {
			s.say(said)
		}
		sentence, want, _ := strings.Cut(line, " => ")
		before := s.state()
		calls, answer := s.say(sentence)
		got := strings.Join(changes(before, s.state()), ", ")
		if got == "" && len(calls) > 0 {
			got = calls[len(calls)-1]
		}
		if got == want {
			right++
		} else {
			t.Errorf("%s\n=> %s\n%s", sentence, got, answer)
		}
	}
	require.Equal(t, 45, right)
}

// changing are the tools that change something.
var changing = regexp.MustCompile(`^(cms\.(create|update|delete|add|remove|sync|clone|upsert)|plan\.)`)

// What isn't a request is answered by those that are. What was done before stays, and can be
// undone.
func TestTheScriptLeavesEverythingElseAlone(t *testing.T) {
	t.Parallel()
	lines, after := list(t, "Sentences")
	require.GreaterOrEqual(t, len(lines), 200)
	s, wrong, undone := newScripting(t), 0, 0
	before := s.state()
	for _, sentence := range lines {
		s.sessions++
		said := after[sentence]
		if said != "" {
			require.Equal(t, before, s.state())
			s.say(said)
			before = s.state()
		}
		calls, answer := s.say(sentence)
		stays := strings.Contains(answer, "What was done before stays.\n- `Undo the last change`")
		if slices.ContainsFunc(calls, changing.MatchString) ||
			!strings.Contains(answer, "- `What pages exist?`") || stays != (said != "") {
			wrong++
			t.Errorf("%s: %v\n%s", sentence, calls, answer)
		}
		if stays {
			undone++
		}
	}
	require.Equal(t, before, s.state())
	require.Zero(t, wrong)
	require.Greater(t, undone, 20)
}
