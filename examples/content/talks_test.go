package main

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/examples/content/internal/assistant"
	"github.com/pawlkit/pawl/examples/content/internal/contenttools"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
	"github.com/pawlkit/pawl/examples/internal/consent/consenttest"
	"github.com/pawlkit/pawl/provider/openai"
	"github.com/pawlkit/pawl/provider/providertest"
)

// Ordinary conversations with a model that does well go well: nothing else happens, and people are
// asked what they have to be asked, and nothing else.
func TestConversationsGoWell(t *testing.T) {
	t.Parallel()
	for _, talk := range consenttest.Talks(t, "testdata/talks.txt") {
		t.Run(talk.Name, func(t *testing.T) {
			t.Parallel()
			tool := &scripted{prompts: map[string]string{}}
			model := &consenttest.Speaker{End: contenttools.StructuredResponse,
				Write: func(system, prompt string) string {
					return tool.answer(step.FindStringSubmatch(system)[1], system, prompt)
				}}
			server := httptest.NewServer(model)
			defer server.Close()
			p, err := openai.New(openai.Config{APIKey: "key", Model: "m", BaseURL: server.URL})
			require.NoError(t, err)
			s, err := assistant.New(assistant.Config{DB: newFile(t), Model: p, Real: true, Images: providertest.Draw()})
			require.NoError(t, err)
			defer func() { require.NoError(t, s.Close()) }()
			for _, a := range []portfolio.Artifact{
				{Title: "Remote teams", Type: portfolio.Blog, Status: portfolio.Ready,
					Content: "A team that never meets still talks.\n\n## Fewer meetings\n\nOne meeting a week is enough.\n\n" +
						"## The end\n\nWrite more, meet less.\n"},
				{Title: "Fixed prices", Type: portfolio.SocialPost, Status: portfolio.Draft},
				{Title: "Old news", Type: portfolio.Blog, Status: portfolio.Published, Content: "It was long ago.\n"}} {
				a.User, a.Tone = "ann", "professional"
				create(t, s.Store, a)
			}
			k := talked{s, t, model}
			model.Ref = k.ref
			judged, err := consenttest.Hold(talk, model, k)
			require.NoError(t, err)
			t.Logf("the model judged %d calls", judged)
		})
	}
}

// create creates an article with a status: draft, ready or published.
func create(t *testing.T, store *portfolio.Store, a portfolio.Artifact) portfolio.Artifact {
	t.Helper()
	now, err := store.Create(t.Context(), a)
	require.NoError(t, err)
	for _, move := range []portfolio.Transition{
		{To: portfolio.Research, By: portfolio.ByTool, Tool: portfolio.TopicResearch},
		{To: portfolio.Skeleton, By: portfolio.ByTool, Tool: portfolio.SkeletonCreator},
		{To: portfolio.Ready, By: portfolio.BySystem}, {To: portfolio.Published, By: portfolio.ByUser}} {
		if now.Status == a.Status {
			break
		}
		now, err = store.Apply(t.Context(), portfolio.Change{User: a.User, Artifact: now.ID, By: move.By,
			Tool: move.Tool, From: now.Status, To: move.To})
		require.NoError(t, err)
	}
	return now
}

// A talked service is what a talk is held with.
type talked struct {
	*assistant.Services
	t     *testing.T
	model *consenttest.Speaker
}

func (k talked) Send(turn *consenttest.Turn) error {
	_, err := k.send(turn.Text, turn.On)
	return err
}

// send sends a message. That it was stopped is no error.
func (k talked) send(message, on string) (assistant.Answer, error) {
	screen := assistant.Screen{CurrentPage: "portfolio"}
	if on != "" {
		screen = assistant.Screen{CurrentPage: "artifact", ArtifactID: k.ref(on)}
	}
	a := k.Execute(k.t.Context(), assistant.Request{User: "ann", Message: consenttest.Fill(message, k.ref),
		Screen: screen})
	if a.Error != nil && (k.model.Now() == nil || !k.model.Now().Stop) {
		return a, fmt.Errorf("%s: %s", a.Error.Category, a.Error.Message)
	}
	return a, nil
}

func (k talked) session() string {
	session, err := k.Conversation(k.t.Context(), "ann", assistant.Main, false)
	require.NoError(k.t, err)
	return session
}

// Decide says yes or no, or decides as the page of the chat does.
func (k talked) Decide(d agent.Decision) {
	words := map[machine.DecisionKind]string{machine.Approved: "Yes", machine.Rejected: "No"}[d.Kind]
	if words != "" && d.Reason == "" {
		_, err := k.send(words, "")
		require.NoError(k.t, err)
		return
	}
	started, err := k.Hub.Decide(k.t.Context(), k.session(), d.By("ann"))
	require.NoError(k.t, err)
	<-started.Done
}

func (k talked) Stop() {
	require.NoError(k.t, k.Hub.Cancel(k.t.Context(), k.session()))
}

func (k talked) Pending() []agent.Pause {
	p, err := k.Agent.Session(k.session()).Pending(k.t.Context())
	if fault.Of(err) != fault.NotFound {
		require.NoError(k.t, err)
	}
	return p
}

// ref returns the id of the article with a title.
func (k talked) ref(title string) string {
	all, err := k.Store.Artifacts(k.t.Context(), "ann")
	if err != nil {
		return err.Error()
	}
	for _, a := range all {
		if a.Title == title {
			return a.ID
		}
	}
	return "none"
}

// State says in lines what articles there are.
func (k talked) State() (lines []string) {
	all, err := k.Store.Artifacts(k.t.Context(), "ann")
	require.NoError(k.t, err)
	for _, a := range all {
		lines = append(lines, fmt.Sprintf("%s: %s", a.Title, a.Status), a.Title+" tone="+a.Tone)
		if len(a.Tags) > 0 {
			lines = append(lines, a.Title+" tags="+strings.Join(a.Tags, ", "))
		}
		if a.Content != "" {
			lines = append(lines, a.Title+" text="+oneLine(a.Content))
		}
		p, err := k.Store.Proposal(k.t.Context(), "ann", a.ID)
		require.NoError(k.t, err)
		if p != nil {
			lines = append(lines, a.Title+" proposal="+oneLine(p.New))
		}
	}
	return lines
}

// oneLine returns a text with " /" for the end of each line.
func oneLine(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Split(text, "\n"), " / "), " /  / ", " // ")
}
