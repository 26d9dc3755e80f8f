package team

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// asked returns what a conversation waits for.
func (f *fixture) asked(session string) []agent.Pause {
	f.t.Helper()
	list, err := f.lead.Agent().Session(session).Pending(f.t.Context())
	require.NoError(f.t, err)
	return list
}

func (f *fixture) decide(session string, ds ...agent.Decision) {
	f.t.Helper()
	_, err := f.lead.Decide(f.t.Context(), session, ds...)
	require.NoError(f.t, err)
	passes()
}

func TestAQuestionOfWorkIsAskedInItsConversationWithItsPath(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, f *fixture) {
		f.say("s", "start borrow-1")
		passes()
		list := f.asked("s")
		require.Len(t, list, 1)
		require.Equal(t, "borrow", list[0].Call.Name)
		require.JSONEq(t, `{"name":"borrow-1"}`, string(list[0].Call.Input))
		require.Len(t, list[0].Path, 1)
		res, err := f.lead.Agent().Session("s").Result(t.Context())
		require.NoError(t, err)
		require.Equal(t, toolStatus, res.Suspended()[0].Call.Name)
		require.JSONEq(t, `{"id":"`+f.open("s")[0].ID+`"}`, string(res.Suspended()[0].Call.Input))
		f.decide("s", agent.Approve(list[0].ID).By("ann"))
		require.Len(t, f.borrowed, 1)
		require.Len(t, f.reports("s"), 1)
		require.Contains(t, f.reports("s")[0], " is completed.")
		_, err = f.lead.Decide(t.Context(), "s", agent.Approve(list[0].ID))
		require.ErrorAs(t, err, new(*agent.DecisionError))
		facts, err := f.librarian.Agent().Session(f.told("s")[0].Session).Facts(t.Context())
		require.NoError(t, err)
		for _, fact := range facts {
			if d, ok := fact.(*machine.Decided); ok {
				require.Equal(t, "ann", d.Decision.User)
			}
		}
	})
}

func TestEachKindOfDecisionReachesTheWork(t *testing.T) {
	for name, c := range map[string]struct {
		decide   func(id string) agent.Decision
		borrowed int
		says     string
	}{
		"reject":  {func(id string) agent.Decision { return agent.Reject(id, "not today") }, 0, "not today"},
		"suggest": {func(id string) agent.Decision { return agent.Suggest(id, "buy it") }, 0, "buy it"},
		"edit":    {func(id string) agent.Decision { return agent.Edit(id, item{"borrow-2"}) }, 1, "borrowed borrow-2"},
		"always":  {agent.AllowAlways, 1, "borrowed borrow-1"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, options{}, func(t *testing.T, f *fixture) {
				f.say("s", "start borrow-1")
				passes()
				f.decide("s", c.decide(f.asked("s")[0].ID))
				require.Len(t, f.borrowed, c.borrowed)
				require.Len(t, f.reports("s"), 1)
				res, err := f.librarian.Agent().Session(f.told("s")[0].Session).Result(t.Context())
				require.NoError(t, err)
				require.Contains(t, res.ToolResult("borrow").Text(), c.says)
			})
		})
	}
}

// TestADecisionThatDoesNotFitRejectsTheCall: the model reads why, and may try again. One of the
// wrong kind is refused.
func TestADecisionThatDoesNotFitRejectsTheCall(t *testing.T) {
	ask := tools.New(tools.Spec{Name: "ask"}, func(context.Context, item) (string, error) {
		return "", tools.Suspend{Kind: "question", Schema: json.RawMessage(`{"type":"string"}`)}
	})
	for _, c := range []struct {
		tool, says string
		decide     func(id string) agent.Decision
	}{
		{"ask", "string", func(id string) agent.Decision { return agent.Answer(id, 7) }},
		{"borrow", "object", func(id string) agent.Decision { return agent.Edit(id, "no object") }},
	} {
		o := options{librarian: agent.Config{Tools: []tools.Tool{ask}, Provider: providertest.Script(
			providertest.Call(c.tool, item{"x"}), providertest.Say("Done."))}}
		bubble(t, o, func(t *testing.T, f *fixture) {
			f.say("s", "start it")
			passes()
			pause := f.asked("s")[0]
			wrong := map[string]agent.Decision{"ask": agent.Approve(pause.ID), "borrow": agent.Answer(pause.ID, "x")}
			_, err := f.lead.Decide(t.Context(), "s", wrong[c.tool])
			var refused *agent.DecisionError
			require.ErrorAs(t, err, &refused)
			require.Equal(t, machine.DecisionBad, refused.Code)
			f.decide("s", c.decide(pause.ID))
			require.Len(t, f.reports("s"), 1)
			res, err := f.librarian.Agent().Session(f.told("s")[0].Session).Result(t.Context())
			require.NoError(t, err)
			require.Contains(t, res.ToolResult(c.tool).Text(), c.says)
			require.Empty(t, f.borrowed)
		})
	}
}

func TestAnAnswerReachesTheWork(t *testing.T) {
	ask := tools.New(tools.Spec{Name: "ask"}, func(_ context.Context, in item) (string, error) {
		return "", tools.Suspend{Kind: "question", Prompt: in.Name, Schema: json.RawMessage(`{"type":"string"}`)}
	})
	o := options{librarian: agent.Config{Tools: []tools.Tool{ask}, Provider: providertest.Script(
		providertest.Call("ask", item{"Which?"}), providertest.Say("Done."))}}
	bubble(t, o, func(t *testing.T, f *fixture) {
		f.say("s", "start ask")
		passes()
		f.decide("s", agent.Answer(f.asked("s")[0].ID, "the second"))
		res, err := f.librarian.Agent().Session(f.told("s")[0].Session).Result(t.Context())
		require.NoError(t, err)
		require.Equal(t, "the second", res.ToolResult("ask").Text())
		require.Len(t, f.reports("s"), 1)
	})
}

func TestAQuestionThatANewMessageSupersedesIsAskedAgain(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, f *fixture) {
		f.say("s", "start borrow-1")
		passes()
		before := f.asked("s")
		require.Len(t, before, 1)
		_, err := f.lead.Start(t.Context(), agent.Input{Session: "s", Prompt: "hello", Supersede: true})
		require.NoError(t, err)
		passes()
		after := f.asked("s")
		require.Len(t, after, 1)
		f.decide("s", agent.Approve(after[0].ID))
		require.Len(t, f.borrowed, 1)
		require.Len(t, f.reports("s"), 1)
	})
}

func TestOnePieceOfWorkAsksAtATime(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, f *fixture) {
		f.say("s", "start borrow-1 borrow-2 books")
		passes()
		for range 2 {
			list := f.asked("s")
			require.Len(t, list, 1)
			f.decide("s", agent.Approve(list[0].ID))
		}
		require.Len(t, f.borrowed, 2)
		require.Len(t, f.reports("s"), 3)
	})
}

func TestSeveralQuestionsOfOnePieceAreAskedTogether(t *testing.T) {
	two := providertest.Calls(providertest.CallSpec{Tool: "borrow", Input: item{"a"}},
		providertest.CallSpec{Tool: "borrow", Input: item{"b"}})
	for _, together := range []bool{true, false} {
		o := options{librarian: agent.Config{Provider: providertest.Script(two, providertest.Say("Done."))}}
		bubble(t, o, func(t *testing.T, f *fixture) {
			f.say("s", "start both")
			passes()
			list := f.asked("s")
			require.Len(t, list, 2)
			if together {
				f.decide("s", agent.Approve(list[0].ID), agent.Reject(list[1].ID, "no"))
			} else {
				f.decide("s", agent.Approve(list[0].ID))
				list = f.asked("s")
				require.Len(t, list, 1)
				f.decide("s", agent.Reject(list[0].ID, "no"))
			}
			require.Len(t, f.borrowed, 1)
			require.Len(t, f.reports("s"), 1)
		})
	}
}

func TestAQuestionThatNobodyDecidesInTimeIsClosed(t *testing.T) {
	o := options{librarian: agent.Config{PauseExpires: time.Minute}}
	bubble(t, o, func(t *testing.T, f *fixture) {
		f.say("s", "start borrow-1")
		passes()
		require.Len(t, f.asked("s"), 1)
		time.Sleep(2 * time.Minute)
		passes()
		require.Empty(t, f.borrowed)
		require.Len(t, f.reports("s"), 1)
	})
}

func TestAQuestionForAnotherAgentIsNotAsked(t *testing.T) {
	ask := tools.New(tools.Spec{Name: "ask"}, func(_ context.Context, _ item) (string, error) {
		return "", tools.Suspend{Kind: "question", For: "the archive"}
	})
	o := options{librarian: agent.Config{Tools: []tools.Tool{ask}, Provider: providertest.Script(
		providertest.Call("ask", item{"Which?"}), providertest.Say("Done."))}}
	bubble(t, o, func(t *testing.T, f *fixture) {
		f.say("s", "start ask")
		passes()
		require.Empty(t, f.asked("s"))
		w := f.open("s")[0]
		_, err := f.librarian.Decide(t.Context(), w.Session, agent.Answer(w.head.Open[0].ID, "so"))
		require.NoError(t, err)
		passes()
		require.Len(t, f.reports("s"), 1)
	})
}

func TestAQuestionThatIsDecidedElsewhereLetsTheConversationGoOn(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, f *fixture) {
		f.say("s", "start borrow-1")
		passes()
		w, list := f.open("s")[0], f.asked("s")
		require.NoError(t, f.librarian.Cancel(t.Context(), w.Session))
		passes()
		f.decide("s", agent.Approve(list[0].ID))
		require.Empty(t, f.borrowed)
		require.Len(t, f.reports("s"), 1)
	})
}

func TestAModelThatLooksAtWorkThatWaitsAsks(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, f *fixture) {
		f.stop()
		f.say("s", "start borrow-1")
		w := f.open("s")[0]
		require.NoError(t, f.team.drive(t.Context(), w.Session))
		out, err := (&inquiry{t: f.team, lead: "s"}).Advance(t.Context())
		require.NoError(t, err)
		require.Contains(t, string(out.Output), w.ID+" is waiting for a permission: borrow-1")
		f.say("s", toolStatus+" "+w.ID)
		list := f.asked("s")
		require.Len(t, list, 1)
		f.run()
		f.decide("s", agent.Approve(list[0].ID))
		require.Len(t, f.reports("s"), 1)
	})
}

// TestAQuestionThatCannotBeAskedIsNotAskedAgainAndAgain: once after each input is enough.
func TestAQuestionThatCannotBeAskedIsNotAskedAgainAndAgain(t *testing.T) {
	denied := 0
	hook := agent.Hooks{Name: "no", BeforeTool: func(_ context.Context, c *agent.ToolCall) error {
		if c.Name == toolStatus {
			denied++
			return agent.Deny("not here")
		}
		return nil
	}}
	bubble(t, options{lead: agent.Config{Hooks: []agent.Hooks{hook}}}, func(t *testing.T, f *fixture) {
		f.say("s", "start borrow-1 borrow-2")
		passes()
		passes()
		require.Equal(t, 2, denied)
		f.say("s", "hello")
		passes()
		require.Equal(t, 4, denied)
	})
}

func TestAQuestionOfWorkThatWasDeletedLetsTheConversationGoOn(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, f *fixture) {
		f.say("s", "start borrow-1")
		passes()
		list := f.asked("s")
		require.NoError(t, f.librarian.Agent().Session(f.open("s")[0].Session).Delete(t.Context()))
		f.decide("s", agent.Approve(list[0].ID))
		res, err := f.lead.Agent().Session("s").Result(t.Context())
		require.NoError(t, err)
		require.Equal(t, agent.Completed, res.Status)
		require.Contains(t, res.ToolResult(toolStatus).Text(), "there is no work")
		require.Empty(t, f.borrowed)
	})
}

// TestAModeWithoutTheStatusKeepsQuestionsBack until the conversation is in another mode, and
// that is logged once.
func TestAModeWithoutTheStatusKeepsQuestionsBack(t *testing.T) {
	var log bytes.Buffer
	o := options{lead: agent.Config{Modes: []agent.Mode{{Name: "talk", Tools: tools.Named(toolStart)}, {Name: "all"}}},
		team: Config{Logger: slog.New(slog.NewTextHandler(&log, nil))}}
	bubble(t, o, func(t *testing.T, f *fixture) {
		f.say("s", "start borrow-1")
		passes()
		require.Empty(t, f.asked("s"))
		_, err := f.lead.Start(t.Context(), agent.Input{Session: "s", Prompt: "hello", Mode: "all"})
		require.NoError(t, err)
		passes()
		require.Len(t, f.asked("s"), 1)
	})
	require.Equal(t, 1, bytes.Count(log.Bytes(), []byte("\n")), log.String())
}
