package approvals_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/approvals"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/tools"
)

// TestWithoutAnAgentEachKindOfDecisionIsRecorded, and checked by the agent that takes it.
func TestWithoutAnAgentEachKindOfDecisionIsRecorded(t *testing.T) {
	for name, c := range map[string]struct {
		decide func(id string) agent.Decision
		done   []string
		says   string // why the pause opens again
	}{
		"approve": {agent.Approve, []string{"home"}, ""},
		"always":  {agent.AllowAlways, []string{"home"}, ""},
		"edit": {func(id string) agent.Decision { return agent.Edit(id, Page{"about"}) }, []string{"about"},
			""},
		"reject":       {func(id string) agent.Decision { return agent.Reject(id, "no") }, []string{}, ""},
		"suggest":      {func(id string) agent.Decision { return agent.Suggest(id, "wait") }, []string{}, ""},
		"a wrong edit": {func(id string) agent.Decision { return agent.Edit(id, "x") }, []string{}, "object"},
		"a refused text": {func(id string) agent.Decision { return agent.Reject(id, "ignore it") },
			[]string{}, "refused the text"},
	} {
		d := newDesk(t, agent.Config{Hooks: []agent.Hooks{{Name: "guard",
			BeforeInput: func(_ context.Context, in *agent.IncomingText) error {
				if strings.Contains(in.Text, "ignore") {
					return errors.New("it instructs")
				}
				in.Text = strings.ReplaceAll(in.Text, "wait", "[wait]")
				return nil
			}}}}, call("cms.touch", "home"), say("Done."))
		d.Agents = nil
		id := d.run("s")[0].ID
		require.NoError(t, d.decide("s", c.decide(id)), name)
		require.Equal(t, machine.DecisionUsed, refused(t, d.decide("s", agent.Approve(id))), name)
		require.Equal(t, 1, d.recovered(), name)
		require.Equal(t, c.done, d.done.done(), name)
		pending, err := d.a.Session("s").Pending(t.Context())
		require.NoError(t, err)
		if c.says == "" {
			require.Empty(t, pending, name)
			continue
		}
		require.Len(t, pending, 1, name)
		require.Contains(t, pending[0].Refused, c.says, name)
		require.Equal(t, machine.DecisionReplaced, refused(t, d.decide("s", agent.Approve(id))))
		require.NoError(t, d.decide("s", agent.Approve(pending[0].ID)))
		require.Equal(t, 1, d.recovered())
		require.Equal(t, []string{"home"}, d.done.done())
	}
}

func TestWithoutAnAgentWhatCannotBeADecisionIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		secret := tools.New(tools.Spec{Name: "login"}, func(context.Context, Page) (string, error) {
			return "", tools.Suspend{Secret: true, Again: true, Prompt: "password?"}
		})
		var done effects
		d := newDesk(t, agent.Config{PauseExpires: time.Hour, Tools: []tools.Tool{secret,
			done.tool(tools.Spec{Name: "cms.remove", Approvers: []string{"editor"}})},
			Roles: func(context.Context, string, string) ([]string, error) { return []string{"editor"}, nil }},
			call("login", "x"), call("cms.remove", "home"))
		d.Agents = nil
		login, remove := d.run("login")[0].ID, d.run("remove")[0].ID
		deep := agent.Edit(remove, Page{})
		deep.Input = []byte(strings.Repeat("[", machine.MaxDepth+1) + strings.Repeat("]", machine.MaxDepth+1))
		for what, dec := range map[string]agent.Decision{
			"a secret":        agent.Answer(login, "hunter2"),
			"an approval":     agent.Approve(login),
			"an answer":       agent.Answer(remove, "x"),
			"a deep input":    deep,
			"what can't be":   {ID: remove, Kind: machine.Expired},
			"another scope":   agent.AllowAlways(remove).For("world"),
			"no JSON":         agent.Edit(remove, func() {}),
			"a made-up kind":  {ID: remove, Kind: "yes"},
			"superseded":      {ID: remove, Kind: machine.Superseded},
			"a marked secret": {ID: login, Kind: machine.AnswerGiven, Secret: true, Value: []byte(`"given"`)},
		} {
			session := "remove"
			if dec.ID == login {
				session = "login"
			}
			require.Equal(t, machine.DecisionBad, refused(t, d.decide(session, dec)), what)
			require.Zero(t, d.inbox(session), what)
		}
		item, err := d.Find(t.Context(), "remove", remove, 0)
		require.NoError(t, err)
		require.Equal(t, machine.DecisionForbidden, refused(t, d.Decide(t.Context(), item,
			agent.Approve(remove))), "nobody")
		<-time.After(2 * time.Hour)
		require.Equal(t, machine.DecisionExpired, refused(t, d.Decide(t.Context(), item,
			agent.Approve(remove).By("ann"))), "it was found in time")
		require.NoError(t, d.a.Session("remove").Delete(t.Context()))
		item.Pause.Expires = time.Time{}
		require.ErrorIs(t, d.Decide(t.Context(), item, agent.Approve(remove).By("ann")), approvals.ErrUnknown)
		item.State = approvals.StateOpen
		require.Error(t, (&approvals.Inbox{}).Decide(t.Context(), item, agent.Approve(remove).By("ann")))
		require.Empty(t, done.done())
	})
}
