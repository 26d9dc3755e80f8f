package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// screen is a hook that keeps the texts that it sees, replaces "secret", and refuses "forbidden".
func screen(seen *[]agent.IncomingText) agent.Hooks {
	return agent.Hooks{Name: "screen", BeforeInput: func(_ context.Context, in *agent.IncomingText) error {
		*seen = append(*seen, *in)
		if strings.Contains(in.Text, "forbidden") {
			return agent.Deny("not here")
		}
		in.Text = strings.ReplaceAll(in.Text, "secret", "[removed]")
		return nil
	}}
}

func requireRefused(t *testing.T, err error, source agent.TextSource) {
	t.Helper()
	require.ErrorIs(t, err, agent.ErrRefused)
	require.ErrorContains(t, err, fmt.Sprintf(`hook "screen" refused the text of source %q: `, source))
	require.ErrorContains(t, err, "not here")
}

func TestEveryTextOfAnInputIsScreenedBeforeItIsRecorded(t *testing.T) {
	var seen []agent.IncomingText
	a, m := scripted(t, agent.Config{Hooks: []agent.Hooks{screen(&seen)}}, say("Done."))
	in := agent.Input{Session: "s", Prompt: "my secret", User: "ann",
		Parts:   []provider.Part{provider.TextPart("secret two")},
		History: []provider.Message{provider.User("secret three"), provider.Assistant("an answer")}}
	res := runInput(t, a, in)
	require.Equal(t, "my secret", in.Prompt)
	require.Equal(t, "secret two", in.Parts[0].Text, "the caller's input isn't changed")
	require.Equal(t, "secret three", in.History[0].Text())
	require.Equal(t, []agent.IncomingText{
		{Session: "s", Source: agent.FromPrompt, User: "ann", Text: "my secret"},
		{Session: "s", Source: agent.FromPrompt, User: "ann", Text: "secret two"},
		{Session: "s", Source: agent.FromHistory, User: "ann", Text: "secret three"},
		{Session: "s", Source: agent.FromHistory, User: "ann", Text: "an answer"},
	}, seen)
	require.NoError(t, res.Err())
	sent := m.Requests()[0].Messages
	require.Equal(t, "[removed] three", sent[0].Text())
	require.Equal(t, "my [removed][removed] two", sent[2].Text())
	for _, f := range facts(t, a, "s") {
		data, err := json.Marshal(f)
		require.NoError(t, err)
		require.NotContains(t, string(data), "secret")
	}
}

func TestARefusedTextLeavesNoTrace(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		var seen []agent.IncomingText
		hooks := []agent.Hooks{screen(&seen)}
		a, m := scripted(t, agent.Config{Journal: store, Hooks: hooks})
		for name, in := range map[string]agent.Input{
			"prompt":  {Session: "s", Prompt: "forbidden"},
			"part":    {Session: "s", Prompt: "x", Parts: []provider.Part{provider.TextPart("forbidden")}},
			"unnamed": {Prompt: "forbidden"},
		} {
			res, err := a.Run(t.Context(), in)
			require.Nil(t, res, name)
			requireRefused(t, err, agent.FromPrompt)
		}
		_, err := a.Run(t.Context(),
			agent.Input{Session: "s", Prompt: "x", History: []provider.Message{provider.User("forbidden")}})
		requireRefused(t, err, agent.FromHistory)
		_, err = a.Session("s").Steer(t.Context(), "forbidden")
		requireRefused(t, err, agent.FromSteering)
		require.Empty(t, facts(t, a, "s"))
		for info, err := range a.Sessions(t.Context(), agent.SessionFilter{}) {
			require.NoError(t, err)
			t.Errorf("there is a session: %v", info)
		}
		if store != nil {
			_, err := store.Head(t.Context(), "s")
			require.ErrorIs(t, err, journal.ErrNoSession)
		}
		require.Empty(t, m.Requests())
	})
}

func TestSteeringIsScreened(t *testing.T) {
	var seen []agent.IncomingText
	a, m := scripted(t, agent.Config{Hooks: []agent.Hooks{screen(&seen)}}, say("Done."), say("Done, too."))
	for ev, err := range a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}) {
		require.NoError(t, err)
		if ev, ok := ev.(*agent.StepStarted); ok && ev.Step == 1 {
			_, err := a.Session("s").Steer(t.Context(), "forbidden")
			requireRefused(t, err, agent.FromSteering)
			_, err = a.Session("s").Steer(t.Context(), "the secret")
			require.NoError(t, err)
		}
	}
	require.Equal(t, "the [removed]", m.Requests()[1].Messages[2].Text())
	require.Len(t, of[*machine.Steered](asEvents(facts(t, a, "s"))), 1)
}

func TestTheTextsOfDecisionsAreScreened(t *testing.T) {
	type choice struct {
		Name string `json:"name"`
	}
	decisions := map[string]struct {
		source agent.TextSource
		make   func(id, text string) agent.Decision
		raw    bool
	}{
		"suggestion": {source: agent.FromReason, make: agent.Suggest},
		"rejection":  {source: agent.FromReason, make: agent.Reject},
		"answer": {source: agent.FromAnswer, make: func(id, text string) agent.Decision {
			return agent.Answer(id, text)
		}},
		"object": {source: agent.FromAnswer, raw: true, make: func(id, text string) agent.Decision {
			return agent.Answer(id, choice{text})
		}},
	}
	for name, c := range decisions {
		for _, posted := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				var seen []agent.IncomingText
				ask := tools.New(tools.Spec{Name: "ask"}, func(context.Context, Number) (string, error) {
					return "", tools.Suspend{Kind: "question", Prompt: "which?"}
				})
				if c.source == agent.FromReason {
					ask = new(effects).tool(tools.Spec{Name: "ask", Risk: tools.High})
				}
				a, m := scripted(t, agent.Config{Hooks: []agent.Hooks{screen(&seen)}, Tools: []tools.Tool{ask}},
					call("ask", 1), say("Done."))
				id := run(t, a).Pending[0].ID
				before := len(facts(t, a, "s"))
				seen = nil

				decide := func(d agent.Decision) error {
					if posted {
						return a.Session("s").Decide(t.Context(), d)
					}
					_, err := a.Run(t.Context(), agent.Resume("s", d))
					return err
				}
				requireRefused(t, decide(c.make(id, "forbidden").By("ann")), c.source)
				require.Len(t, facts(t, a, "s"), before)
				require.Equal(t, "ann", seen[0].User)
				require.Equal(t, id, seen[0].Pause)
				if require.NoError(t, decide(c.make(id, "my secret").By("ann"))); posted {
					runInput(t, a, agent.Continue("s"))
				}
				got := m.Requests()[1].Messages[2].Parts[0].Result.Text()
				require.Contains(t, got, "my [removed]")
				require.Equal(t, c.raw, strings.Contains(got, `{"name":`))
			})
		}
	}
}

func TestAFailingScreenRefusesAndAnObserverDoesnt(t *testing.T) {
	for name, hook := range map[string]func(context.Context, *agent.IncomingText) error{
		"an error": func(context.Context, *agent.IncomingText) error { return errors.New("broken") },
		"a panic":  func(context.Context, *agent.IncomingText) error { panic("broken") },
		"an abort": func(context.Context, *agent.IncomingText) error { return agent.Abort(errors.New("broken")) },
	} {
		t.Run(name, func(t *testing.T) {
			a, _ := scripted(t, agent.Config{Hooks: []agent.Hooks{{Name: "screen", BeforeInput: hook}}})
			_, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
			require.ErrorIs(t, err, agent.ErrRefused)
			require.ErrorContains(t, err, "broken")
			require.Empty(t, facts(t, a, "s"))
		})
	}
	a, _ := scripted(t,
		agent.Config{
			Hooks: []agent.Hooks{{Name: "o", Observer: true,
				BeforeInput: func(context.Context, *agent.IncomingText) error {
					return errors.New("broken")
				}}}}, say("Done."))
	require.Equal(t, agent.Completed, run(t, a).Status)
}

func TestWhatAHookMakesOfATextIsCheckedAgain(t *testing.T) {
	a, _ := scripted(t, agent.Config{Limits: agent.Limits{PromptBytes: 10},
		Hooks: []agent.Hooks{{BeforeInput: func(_ context.Context, in *agent.IncomingText) error {
			in.Text = strings.Repeat("x", 11)
			return nil
		}}}})
	_, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
	var limit *agent.LimitError
	require.ErrorAs(t, err, &limit)
	_, err = a.Session("s").Steer(t.Context(), "go")
	require.ErrorAs(t, err, &limit)
	require.Empty(t, facts(t, a, "s"))
}
