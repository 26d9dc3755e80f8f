package team

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"iter"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

func TestAReportArrivesAsAMessageOnce(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, f *fixture) {
		f.say("s", "start books maps")
		passes()
		list := f.reports("s")
		require.Len(t, list, 2)
		for _, w := range f.told("s") {
			require.Contains(t, list[0]+list[1], tools.Untrusted(w.ID, "Found "+w.Task+"."))
		}
		require.Empty(t, f.open("s"))
		status, _ := f.status("s")
		require.Equal(t, agent.Completed, status)
	})
}

func TestACallThatRunsAgainStartsNothingMore(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, f *fixture) {
		call := agent.CallTool("s", toolStart, startInput{"librarian", "books"})
		call.CallKey = "the same"
		for range 2 {
			_, err := f.lead.Agent().Run(t.Context(), call)
			require.NoError(t, err)
			passes()
		}
		require.Len(t, f.told("s"), 1)
		require.Len(t, f.reports("s"), 1)
	})
}

func TestWhatWasMissedIsToldByTheNextRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, options{})
		f.say("s", "start books")
		passes()
		work := f.open("s")
		require.Len(t, work, 1)
		require.Equal(t, Work{ID: work[0].ID, Member: "librarian", Session: work[0].Session, Task: "books",
			Status: agent.Queued, head: work[0].head, hub: f.librarian}, work[0])
		f.run()
		passes()
		require.Len(t, f.reports("s"), 1)
		f.stop()
		f.run()
		passes()
		require.Len(t, f.reports("s"), 1)
		f.close()
	})
}

func TestAConversationInARunGetsTheReportBeforeItsNextStep(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, f *fixture) {
		f.say("s", "start wait-1")
		passes()
		f.say("s", "wait")
		require.NoError(t, f.librarian.Cancel(t.Context(), f.open("s")[0].Session))
		passes()
		require.Empty(t, f.reports("s"))
		close(f.gate)
		passes()
		require.Len(t, f.reports("s"), 1)
		require.Empty(t, f.open("s"))
		results, err := f.lead.Agent().Session("s").Facts(t.Context())
		require.NoError(t, err)
		runs := 0
		for _, fact := range results {
			if _, ok := fact.(*agent.RunStarted); ok {
				runs++
			}
		}
		require.Equal(t, 2, runs)
	})
}

func TestAReportThatACanceledRunHasNotReadIsToldAgain(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, f *fixture) {
		f.say("s", "start wait-1")
		passes()
		f.say("s", "wait")
		require.NoError(t, f.librarian.Cancel(t.Context(), f.open("s")[0].Session))
		passes()
		head, err := f.store.Head(t.Context(), "s")
		require.NoError(t, err)
		require.Equal(t, 1, head.Inbox, "it was sent to the run, which hasn't read it")
		require.NoError(t, f.lead.Cancel(t.Context(), "s"))
		passes()
		require.Empty(t, f.reports("s"), "a conversation that was stopped isn't begun again")
		f.say("s", "hello")
		passes()
		require.Len(t, f.reports("s"), 1)
		require.Empty(t, f.open("s"))
	})
}

func TestAConversationThatWaitsForAPersonIsToldLater(t *testing.T) {
	ask := tools.New(tools.Spec{Name: "ask", Approval: tools.AskAlways}, noted)
	o := options{lead: agent.Config{Tools: []tools.Tool{ask}, Provider: providertest.Script(
		providertest.Calls(providertest.CallSpec{Tool: toolStart, Input: startInput{"librarian", "books"}},
			providertest.CallSpec{Tool: "ask", Input: item{"x"}}),
		providertest.Say("Asked."), providertest.Say("Noted."))}}
	bubble(t, o, func(t *testing.T, f *fixture) {
		f.say("s", "go")
		passes()
		require.Empty(t, f.reports("s"))
		require.Equal(t, []string{"librarian is completed: books\nFound books."}, f.notices("s"))
		_, open := f.status("s")
		require.Len(t, open, 1)
		_, err := f.lead.Decide(t.Context(), "s", agent.Approve(open[0].ID))
		require.NoError(t, err)
		passes()
		require.Len(t, f.reports("s"), 1)
	})
}

func TestStoppingAConversationStopsItsWork(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, f *fixture) {
		f.say("s", "start wait-1 borrow-2 wait-3")
		f.say("other", "start wait-1")
		passes()
		for _, w := range f.open("s") {
			require.False(t, w.ended())
		}
		// the question is asked in the conversation, which is stopped
		require.NoError(t, f.lead.Cancel(t.Context(), "s"))
		f.say("s", "hello") // at once
		passes()
		require.Empty(t, f.open("s"))
		require.Len(t, f.reports("s"), 3)
		for _, text := range f.reports("s") {
			require.Contains(t, text, " is stopped.")
		}
		require.Len(t, f.open("other"), 1)
		require.Equal(t, agent.Running, f.open("other")[0].Status)
		close(f.gate)
		passes()
		require.Len(t, f.reports("other"), 1)
	})
}

func TestTheWorkOfAnIdleConversationCanBeStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, options{}).run()
		defer f.close()
		f.say("a", "start wait-one wait-two")
		f.say("b", "start wait-three")
		passes()
		status, _ := f.status("a")
		require.Equal(t, agent.Completed, status)
		err := f.lead.Cancel(t.Context(), "a")
		require.ErrorIs(t, err, agent.ErrNothingOpen)
		require.EqualError(t, err, `agent: session "a": its newest run is completed, so there is nothing to stop`)
		stopped, err := f.team.Stop(t.Context(), "a")
		require.NoError(t, err)
		require.Equal(t, 2, stopped)
		passes()
		require.Empty(t, f.open("a"))
		reports := f.reports("a")
		require.Len(t, reports, 2)
		for _, report := range reports {
			require.Contains(t, report, "is stopped")
		}
		require.Len(t, f.open("b"), 1) // that of others goes on
		stopped, err = f.team.Stop(t.Context(), "a")
		require.NoError(t, err)
		require.Zero(t, stopped)
		_, err = f.team.Stop(t.Context(), "b")
		require.NoError(t, err)
	})
}

func TestAConversationThatWasPrunedKeepsItsWorkAndStopsIt(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, f *fixture) {
		f.say("s", "start wait-1")
		f.say("s", "hello")
		passes()
		_, err := f.lead.Agent().Session("s").Prune(t.Context())
		require.NoError(t, err)
		passes()
		require.Equal(t, agent.Running, f.open("s")[0].Status)
		f.say("s", "wait")
		require.NoError(t, f.lead.Cancel(t.Context(), "s"))
		passes()
		require.Equal(t, agent.Stopped, f.open("s")[0].Status)
		f.say("s", "hello")
		passes()
		require.Len(t, f.reports("s"), 1)
	})
}

func TestADeletedConversationLeavesNothing(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, f *fixture) {
		f.say("s", "start books borrow-1 wait-2")
		passes()
		require.Equal(t, 4, f.logs())
		f.say("other", "start books")
		passes()
		status, _ := f.status("s")
		require.Equal(t, agent.Paused, status)
		require.NoError(t, f.lead.Agent().Session("s").Delete(t.Context()))
		require.Equal(t, 2, f.logs(), "those of the other")
		passes()
		require.Equal(t, 2, f.logs())
		require.NoError(t, f.lead.Agent().Session("other").Delete(t.Context()))
		require.Zero(t, f.logs())
	})
}

func TestAMemberMayHaveAJournalOfItsOwn(t *testing.T) {
	bubble(t, options{own: &journal.MapStore{}}, func(t *testing.T, f *fixture) {
		f.say("s", "start books wait-1")
		passes()
		require.Len(t, f.reports("s"), 1)
		require.Equal(t, 1, f.logs())
		require.NoError(t, f.lead.Agent().Session("s").Delete(t.Context()))
		for h, err := range f.librarian.Agent().Journal().Heads(t.Context(), journal.Filter{}) {
			require.NoError(t, err)
			t.Error(h.Session)
		}
	})
}

func TestToolsReachOnlyTheWorkOfTheirConversation(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, f *fixture) {
		f.say("s", "start wait-1")
		passes()
		id := f.open("s")[0].ID
		call := func(session, prompt string) string {
			f.say(session, prompt)
			messages, err := f.lead.Agent().Session(session).Messages(t.Context())
			require.NoError(t, err)
			for i := len(messages) - 1; ; i-- {
				for _, p := range messages[i].Parts {
					if p.Result != nil {
						return p.Result.Parts[0].Text
					}
				}
			}
		}
		for _, tool := range []string{toolStatus, "team.tell", "team.stop"} {
			require.Contains(t, call("other", tool+" "+id+" hello"), "there is no work", tool)
			require.Contains(t, call("s", tool+" nobody-1 hello"), "there is no work", tool)
		}
		require.Equal(t, id+" is running.\nIts task: wait-1", call("s", toolStatus+" "+id))
		require.Contains(t, call("s", "team.tell "+id+" and the maps"), "reads it")
		close(f.gate)
		passes()
		facts, err := f.librarian.Agent().Session(f.told("s")[0].Session).Messages(t.Context())
		require.NoError(t, err)
		require.Equal(t, "and the maps", facts[len(facts)-2].Text())
		require.Contains(t, call("s", "team.tell "+id+" more"), "is completed, not running")
		require.Contains(t, call("s", toolStatus+" "+id), "Found and the maps.")
		require.Contains(t, call("s", "team.stop "+id), "is stopped")
	})
}

func TestAToolStopsWork(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, f *fixture) {
		f.say("s", "start wait-1")
		passes()
		f.say("s", "team.stop "+f.open("s")[0].ID)
		passes()
		require.Contains(t, f.reports("s")[0], " is stopped.")
	})
}

func TestAMemberCannotStartMembers(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, f *fixture) {
		_, err := New(Config{Members: map[string]Member{"guide": {Hub: f.lead}}})
		require.ErrorContains(t, err, "a member can't start members")
		res, err := f.lead.Agent().Run(t.Context(), agent.Input{Prompt: "start books"})
		require.NoError(t, err)
		require.Contains(t, res.ToolResult(toolStart).Text(), "only a conversation that has a name")
		parent, err := agent.New(agent.Config{Journal: f.store, Tools: []tools.Tool{agent.AsTool(f.lead.Agent(),
			tools.Spec{Name: "guide"})}, Provider: providertest.Script(
			providertest.Call("guide", agent.Task{Task: "start books"}), providertest.Say("Done."))})
		require.NoError(t, err)
		_, err = parent.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
		require.NoError(t, err)
		list, err := f.team.list(t.Context(), journal.Filter{})
		require.NoError(t, err)
		require.Empty(t, list, "a subagent can't either")
	})
}

func TestAConfigWithoutSenseIsRefused(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, f *fixture) {
		one := Member{Hub: f.librarian}
		for _, cfg := range []Config{{}, {Members: map[string]Member{"a": {}}},
			{Members: map[string]Member{"A b": one}},
			{Members: map[string]Member{"a": one}, Parallel: -1}, {Members: map[string]Member{"a": one}, Every: -1}} {
			_, err := New(cfg)
			require.ErrorAs(t, err, new(*agent.ArgError))
		}
		require.ErrorAs(t, f.team.Run(t.Context(), nil), new(*agent.ArgError))
		var none *Team
		require.Error(t, none.Run(t.Context(), f.lead))
		require.Empty(t, none.Tools())
		_, err := none.Open(t.Context(), "s")
		require.Error(t, err)
	})
}

// TestAHookThatRefusesAReportKeepsItBack, and it isn't sent again and again.
func TestAHookThatRefusesAReportKeepsItBack(t *testing.T) {
	refused := 0
	hook := agent.Hooks{Name: "screen", BeforeInput: beforeInput(func(text string) error {
		if strings.Contains(text, "Found books") {
			refused++
			return agent.Deny("it looks like an attack")
		}
		return nil
	})}
	bubble(t, options{lead: agent.Config{Hooks: []agent.Hooks{hook}}}, func(t *testing.T, f *fixture) {
		f.say("s", "start books maps")
		passes()
		require.Len(t, f.reports("s"), 1)
		require.Empty(t, f.open("s"))
		require.Equal(t, 1, refused)
	})
}

var conversations = flag.Int("conversations", 5, "how many TestManyConversationsShareEightPlaces has")

func TestManyConversationsShareEightPlaces(t *testing.T) {
	bubble(t, options{team: Config{Every: 5 * time.Second}}, func(t *testing.T, f *fixture) {
		idle := goroutines()
		for n := range *conversations {
			f.say(fmt.Sprint("s-", n), "start wait-1 wait-2 borrow-3 wait-4 wait-5")
		}
		passes()
		running, waiting := 0, 0
		for n := range *conversations {
			for _, w := range f.open(fmt.Sprint("s-", n)) {
				switch w.Status {
				case agent.Running:
					running++
				case agent.Queued:
					waiting++
				}
			}
		}
		require.Equal(t, 8, running)
		require.GreaterOrEqual(t, waiting, *conversations*4-8, "the others but for those that ask")
		require.Less(t, goroutines()-idle, 8*8, "those of the work in progress")
		close(f.gate)
		for range 7 {
			passes()
			for n := range *conversations {
				if _, open := f.status(fmt.Sprint("s-", n)); len(open) > 0 {
					_, err := f.lead.Decide(t.Context(), fmt.Sprint("s-", n), agent.Approve(open[0].ID))
					require.NoError(t, err)
				}
			}
		}
		for n := range *conversations {
			require.Len(t, f.reports(fmt.Sprint("s-", n)), 5)
			require.Empty(t, f.open(fmt.Sprint("s-", n)))
		}
		passes()
		require.LessOrEqual(t, goroutines(), idle)
		require.Len(t, f.borrowed, *conversations)
	})
}

func TestRunEndsWhileWorkIsInProgress(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, f *fixture) {
		f.say("s", "start wait-1")
		passes()
		f.stop()
		require.Equal(t, agent.Running, f.open("s")[0].Status)
		close(f.gate)
		passes()
		require.Equal(t, agent.Completed, f.open("s")[0].Status)
		require.Empty(t, f.reports("s"))
	})
}

func TestALongReportIsCutAndTheStatusHasAllOfIt(t *testing.T) {
	long := strings.Repeat("ö", mostReport)
	o := options{librarian: agent.Config{Provider: providertest.Script(providertest.Say(long))}}
	bubble(t, o, func(t *testing.T, f *fixture) {
		f.say("s", "start books")
		passes()
		report := f.reports("s")[0]
		require.Less(t, len(report), mostReport+500)
		require.Contains(t, report, "ö […] team.status shows more.")
		f.say("s", toolStatus+" "+f.told("s")[0].ID)
		res, err := f.lead.Agent().Session("s").Result(t.Context())
		require.NoError(t, err)
		require.Contains(t, res.ToolResult(toolStatus).Text(), long)
	})
}

func TestAConversationThatIsDeletedMeanwhileIsNotBegunAgain(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, f *fixture) {
		require.NoError(t, start(t.Context(), f.lead, agent.Input{Session: "s", Prompt: "wait"}))
		require.Zero(t, f.logs())
	})
}

// TestWorkIsStartedWhenTheLeaseOfADeadProcessHasEnded: the process had only begun to store it.
func TestWorkIsStartedWhenTheLeaseOfADeadProcessHasEnded(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, f *fixture) {
		call := agent.CallTool("s", toolStart, startInput{"librarian", "books"})
		call.CallKey = "key"
		name := sessionOf("s", "librarian-"+hash("key")[:8])
		_, err := f.store.Lease(t.Context(), name, "dead", time.Second)
		require.NoError(t, err)
		_, err = f.lead.Agent().Run(t.Context(), call)
		require.NoError(t, err)
		passes()
		require.Equal(t, name, f.told("s")[0].Session)
	})
}

func TestACopyOfWorkIsNotWork(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, f *fixture) {
		f.say("s", "start wait-1")
		passes()
		work := f.open("s")[0]
		require.NoError(t, f.librarian.Cancel(t.Context(), work.Session))
		passes()
		require.NoError(t, f.librarian.Agent().Session(work.Session).Fork(t.Context(), "librarian-copy", 0))
		list, err := f.team.list(t.Context(), journal.Filter{})
		require.NoError(t, err)
		require.Len(t, list, 1)
	})
}

// TestRunThatEndsWhileAReportBeginsStopsNothing: the run of the report goes on, and other work of
// the conversation, too.
func TestRunThatEndsWhileAReportBeginsStopsNothing(t *testing.T) {
	store := &slowStore{Store: &journal.MapStore{}}
	bubble(t, options{lead: agent.Config{Journal: store}}, func(t *testing.T, f *fixture) {
		f.say("s", "start wait-1 wait-2")
		passes()
		go func() {
			require.NoError(t, f.librarian.Cancel(t.Context(), f.open("s")[0].Session))
		}()
		slow := make(chan struct{})
		store.slow.Store(&slow)
		<-slow // the run of the report begins
		f.stop()
		store.slow.Store(nil)
		passes()
		f.run()
		passes()
		require.Len(t, f.reports("s"), 1)
		require.Len(t, f.open("s"), 1)
		require.Equal(t, agent.Running, f.open("s")[0].Status)
		status, _ := f.status("s")
		require.Equal(t, agent.Completed, status)
		close(f.gate)
	})
}

// A slowStore takes a second for each append to the session "s", if it has a channel, which it
// closes then.
type slowStore struct {
	journal.Store
	slow atomic.Pointer[chan struct{}]
}

func (s *slowStore) Append(ctx context.Context, a journal.Append) error {
	if slow := s.slow.Swap(nil); slow != nil && a.Session == "s" {
		close(*slow)
		time.Sleep(time.Second)
	} else if slow != nil {
		s.slow.Store(slow)
	}
	return s.Store.Append(ctx, a)
}

func TestAMemberWhoseJournalFailsHidesNoOther(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, f *fixture) {
		a, err := agent.New(agent.Config{Journal: brokenStore{&journal.MapStore{}}, Provider: model(reader)})
		require.NoError(t, err)
		broken, err := live.New(live.Config{Agent: a, Recover: -1})
		require.NoError(t, err)
		defer broken.Close()
		f.stop()
		f.team.cfg.Members["another"] = Member{Hub: broken}
		f.run()
		f.say("s", "start books")
		passes()
		require.Len(t, f.reports("s"), 1)
		_, err = f.team.Open(t.Context(), "s")
		require.ErrorIs(t, err, errBroken)
	})
}

type brokenStore struct{ journal.Store }

var errBroken = errors.New("broken")

func (brokenStore) Heads(context.Context, journal.Filter) iter.Seq2[journal.Head, error] {
	return func(yield func(journal.Head, error) bool) { yield(journal.Head{}, errBroken) }
}

func TestLabelsOfTheConversationAreThoseOfItsWork(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, f *fixture) {
		_, err := f.lead.Start(t.Context(), agent.Input{Session: "s", Prompt: "start books",
			Labels: map[string]string{"team": "blue"}})
		require.NoError(t, err)
		passes()
		require.Equal(t, "blue", f.told("s")[0].head.Labels["team"])
	})
}
