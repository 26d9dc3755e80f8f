package agent_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// replace runs a prompt in session "s" that replaces the run that started with a fact.
func replace(t testing.TB, a *agent.Agent, prompt string, start uint64) *agent.Result {
	t.Helper()
	return runInput(t, a, agent.Input{Session: "s", Prompt: prompt, Replaces: start})
}

// asked runs a prompt in session "s".
func asked(t testing.TB, a *agent.Agent, prompt string) *agent.Result {
	t.Helper()
	return runInput(t, a, agent.Input{Session: "s", Prompt: prompt})
}

// said returns messages as one line each: the text, "call tool input" and "result text".
func said(messages []provider.Message) (lines []string) {
	for _, m := range messages {
		line := string(m.Role) + ":"
		for _, p := range m.Parts {
			switch p.Kind {
			case provider.PartToolCall:
				line += fmt.Sprintf(" call %s %s", p.Call.Name, p.Call.Input)
			case provider.PartToolResult:
				line += " result " + memory.ResultText(p.Result.Parts)
			default:
				line += " " + p.Text
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// sent returns what a model was sent in its newest call, see said.
func sent(m *providertest.Model) []string {
	reqs := m.Requests()
	return said(reqs[len(reqs)-1].Messages)
}

const wentBack = "The conversation went back to this point. What followed isn't in it any more, but these calls were " +
	"made there, may have had an effect, and weren't undone: "

func TestASessionGoesBackToBeforeARun(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		s := &shelf{things: map[int]bool{}}
		cfg := agent.Config{Journal: store, Tools: s.tools()}
		a, m := scripted(t, cfg, say("One."), call("put", 2), say("Two."), call("look", 3), say("Three."),
			say("Two again."), say("Four."), say("Two once more."))
		asked(t, a, "one")
		second, third := asked(t, a, "two"), asked(t, a, "three")
		require.NotEqual(t, second.Start, third.Start)

		res := replace(t, a, "two, please", second.Start)
		note := said([]provider.Message{memory.HostMessage("Note: " + wentBack + `put {"n":2} (ok).`)})[0]
		require.Equal(t, []string{"user: one", "assistant: One.", note, "user: two, please"}, sent(m))
		require.Equal(t, []string{"user: two, please", "assistant: Two again."}, said(res.Messages))
		require.Equal(t, []string{"user: one", "assistant: One.", "user: two, please", "assistant: Two again."},
			said(conversation(t, a, "s")))
		require.True(t, s.things[2], "nothing is undone")

		got, err := a.Session("s").Undo(t.Context(), agent.Rollback{Run: second.Run})
		require.NoError(t, err)
		require.Len(t, got.Undone, 1)
		require.Empty(t, s.things)

		asked(t, a, "four")
		require.Contains(t, sent(m)[5], "taken back")
		again := replace(t, a, "two, once more", res.Start)
		require.Equal(t, []string{"user: one", "assistant: One.", "user: two, once more"}, sent(m),
			"a run that replaced another begins where that one did, and what was undone isn't named")
		log := facts(t, a, "s")
		requireSound(t, "s", log)
		var numbers []uint64
		for _, f := range log {
			if f, ok := f.(*agent.RunStarted); ok && f.Replaces != nil {
				numbers = append(numbers, f.Replaces.Start)
			}
		}
		require.Equal(t, []uint64{second.Start, res.Start}, numbers)

		if store != nil { // another process
			a, m = scripted(t, cfg, say("Five."))
			asked(t, a, "five")
			require.Equal(t, []string{"user: one", "assistant: One.", "user: two, once more",
				"assistant: Two once more.", "user: five"}, sent(m))
		}
		require.NotZero(t, again.Start)
	})
}

func TestANumberThatIsNoRunOfTheConversationIsRefused(t *testing.T) {
	a, m := scripted(t, agent.Config{Journal: &journal.MapStore{}}, say("One."), say("Two."), say("Two."),
		say("Three."))
	refused := func(in agent.Work, why string) {
		t.Helper()
		calls, before := len(m.Requests()), len(facts(t, a, "s"))
		_, err := a.Run(t.Context(), in)
		var bad *agent.ArgError
		require.ErrorAs(t, err, &bad)
		require.ErrorContains(t, err, why)
		require.Len(t, m.Requests(), calls)
		require.Len(t, facts(t, a, "s"), before)
	}
	in := agent.Input{Session: "s", Prompt: "x", Replaces: 1}
	refused(in, "the session has no run yet")
	first, second := asked(t, a, "one"), asked(t, a, "two")
	third := replace(t, a, "two", second.Start)
	in.Replaces = second.Start
	refused(in, fmt.Sprintf("the run that started with fact %d was replaced by that of fact %d; these are possible: "+
		"%d, %d", second.Start, third.Start, first.Start, third.Start))
	in.Replaces = second.Start + 1
	refused(in, "no run that can be replaced started with fact")
	in.Replaces, in.History = third.Start, []provider.Message{provider.User("x")}
	refused(in, "has a conversation already")

	_, err := a.Session("s").Prune(t.Context())
	require.NoError(t, err)
	refused(agent.Input{Session: "s", Prompt: "x", Replaces: third.Start}, "was pruned; there is none in the log")
	fourth := asked(t, a, "three")
	refused(agent.Input{Session: "s", Prompt: "x", Replaces: third.Start},
		fmt.Sprintf("was pruned; these are possible: %d", fourth.Start))
}

func TestARunThatIsPausedIsSupersededByOneThatReplacesIt(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		a, m, done := risky(t, agent.Config{Journal: store}, call("risky", 1), call("risky", 2), say("Done."))
		res := run(t, a)
		id := res.Pending[0].ID
		_, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "x", Replaces: res.Start + 1})
		require.Error(t, err)
		require.Len(t, pendingOf(t, a), 1, "an input that is refused closes nothing")

		res = replace(t, a, "go on", res.Start)
		require.Equal(t, []string{"user: go on"}, sent(m))
		require.ErrorContains(t, a.Session("s").Decide(t.Context(), agent.Approve(id)), "decided")
		require.Len(t, res.Pending, 1)
		res = runInput(t, a, agent.Resume("s", agent.Approve(res.Pending[0].ID)))
		require.Equal(t, "Done.", res.Text())
		require.Zero(t, done.of(1))
		require.Equal(t, 1, done.of(2))
		requireSound(t, "s", facts(t, a, "s"))
	})
}

func pendingOf(t testing.TB, a *agent.Agent) []agent.Pause {
	t.Helper()
	pending, err := a.Session("s").Pending(t.Context())
	require.NoError(t, err)
	return pending
}

func TestTheSubagentOfARunThatIsReplacedIsCanceled(t *testing.T) {
	f := newFamily(t, agent.Config{Journal: &journal.MapStore{}},
		[]providertest.Step{task("child", "do it"), say("Another.")},
		[]providertest.Step{call("work", 1), call("risky", 2)})
	res := run(t, f.a)
	require.Equal(t, agent.Paused, res.Status)
	id := res.Pending[0].ID
	res = replace(t, f.a, "something else", res.Start)
	require.Equal(t, "Another.", res.Text())
	require.Contains(t, sent(f.parent)[0], "child {", "the subagent's call may have had an effect")
	require.Error(t, f.a.Session("s").Decide(t.Context(), agent.Approve(id)))
	require.Empty(t, pendingOf(t, f.a))
	require.Zero(t, f.done.of(2))
	requireSound(t, "s", facts(t, f.a, "s"))
}

func TestAConversationThatWasCompactedOrResetComesBack(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		mem := small(memory.Step{Strategy: memory.Slide{}})
		mem.Rules, mem.Keep = []memory.Rule{}, 1
		a, m := scripted(t, agent.Config{Memory: mem, Tools: []tools.Tool{reading(300)}, Journal: store},
			call("read", 1), call("read", 2), call("read", 3), say("One."), say("Two."), say("Three."), say("Four."))
		asked(t, a, "one")
		second := asked(t, a, "two")
		want := sent(m)
		report, err := a.Session("s").Compact(t.Context(), 0)
		require.NoError(t, err)
		require.True(t, report.Changed())
		third := asked(t, a, "three")
		require.Less(t, len(sent(m)), len(want))

		replace(t, a, "two", second.Start)
		require.Equal(t, want, sent(m))
		require.NotZero(t, third)
		requireSound(t, "s", facts(t, a, "s"))
	})
}

func TestTheHistoryThatASessionBeganWithStays(t *testing.T) {
	a, m := scripted(t, agent.Config{}, say("One."), say("Again."))
	history := []provider.Message{provider.User("before"), provider.Assistant("indeed")}
	res := runInput(t, a, agent.Input{Session: "s", Prompt: "one", History: history})
	replace(t, a, "again", res.Start)
	require.Equal(t, []string{"user: before", "assistant: indeed", "user: again"}, sent(m))
	require.Equal(t, []string{"user: before", "assistant: indeed", "user: again", "assistant: Again."},
		said(conversation(t, a, "s")))
}

func TestACopyGoesBackByItsOwnNumbers(t *testing.T) {
	a, m := scripted(t, agent.Config{Journal: &journal.MapStore{}}, say("One."), say("Two."), say("Two again."),
		say("Three."), say("Four."), say("Five."))
	asked(t, a, "one")
	second := asked(t, a, "two")
	again := replace(t, a, "two again", second.Start)
	ctx := t.Context()
	require.NoError(t, a.Session("s").Fork(ctx, "whole", 0))
	require.NoError(t, a.Session("s").Fork(ctx, "within", again.Start-1))
	var file bytes.Buffer
	require.NoError(t, a.Session("s").Export(ctx, &file))
	require.NoError(t, a.Session("imported").Import(ctx, &file))
	for session, want := range map[string][]string{
		"whole":    {"user: one", "assistant: One.", "user: two again", "assistant: Two again."},
		"within":   {"user: one", "assistant: One.", "user: two", "assistant: Two."},
		"imported": {"user: one", "assistant: One.", "user: two again", "assistant: Two again."},
	} {
		require.Equal(t, want, said(conversation(t, a, session)), session)
		res, err := a.Session(session).Result(ctx)
		require.NoError(t, err)
		runInput(t, a, agent.Input{Session: session, Prompt: "more", Replaces: res.Start})
		require.Equal(t, []string{"user: one", "assistant: One.", "user: more"}, sent(m), session)
	}
}

func TestTheModeAndTheLoadedToolsAreThoseFromBefore(t *testing.T) {
	var done effects
	load := tools.New(tools.Spec{Name: "load"}, func(ctx context.Context, in Number) (string, error) {
		if in.N == 2 {
			return "acting", agent.SwitchMode(ctx, "act", "it is time")
		}
		return "loaded", agent.LoadTools(ctx, "lazy")
	})
	lazy := tools.Lazy(done.tool(tools.Spec{Name: "lazy"}), "call load first")
	a, m := scripted(t, agent.Config{Journal: &journal.MapStore{}, Tools: []tools.Tool{load, lazy},
		Modes: []agent.Mode{{Name: "plan"}, {Name: "act"}}},
		say("One."), call("load", 1), call("load", 2), say("Two."), say("Three."), say("Two again."), say("Act."))
	asked(t, a, "one")
	second := asked(t, a, "two")
	offered := func() []string {
		reqs := m.Requests()
		var names []string
		for _, d := range reqs[len(reqs)-1].Tools {
			names = append(names, d.Name)
		}
		return names
	}
	title := a.Session("s").SetTitle(t.Context(), "a title")
	require.NoError(t, title)
	asked(t, a, "three")
	require.Equal(t, []string{"load", "lazy"}, offered())
	require.Equal(t, "act", modeOf(t, a))

	res := replace(t, a, "two again", second.Start)
	require.Equal(t, []string{"load"}, offered())
	require.Equal(t, "plan", modeOf(t, a))
	runInput(t, a, agent.Input{Session: "s", Prompt: "act", Mode: "act", Replaces: res.Start})
	require.Equal(t, "act", modeOf(t, a), "an input's own mode counts")
	log := facts(t, a, "s")
	m2, err := machine.Replay("s", log...)
	require.NoError(t, err)
	require.Equal(t, "a title", m2.State().Title)
}

func modeOf(t testing.TB, a *agent.Agent) string {
	t.Helper()
	m, err := machine.Replay("s", facts(t, a, "s")...)
	require.NoError(t, err)
	return m.State().Mode
}

func TestAnInputIsReplacedOnceWithTheSameKey(t *testing.T) {
	a, _ := scripted(t, agent.Config{}, say("One."), say("Again."))
	first := asked(t, a, "one")
	in := agent.Input{Session: "s", Prompt: "again", Key: "k-1", Replaces: first.Start}
	runInput(t, a, in)
	_, err := a.Run(t.Context(), in)
	require.ErrorIs(t, err, agent.ErrDuplicate)
}

// A turn is what a history of TestASessionThatWentBackIsOneThatNeverHadTheReplacedTurns does.
type turn struct {
	do  string // a prompt such as "put 3", "compact", "undo", or "reject" for a run that is paused
	run string // the run of a prompt
}

// obedient is a model that does what the newest prompt says, and then says so.
func obedient(requests *[]*provider.Request) provider.Provider {
	return providertest.Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
		*requests = append(*requests, req)
		last := req.Messages[len(req.Messages)-1]
		var tool string
		var n int
		if _, err := fmt.Sscanf(last.Text(), "%s %d", &tool, &n); err != nil || tool == "say" {
			return say("Done: " + last.Text()).Response(), nil
		}
		return call(tool, n).Response(), nil
	})
}

// A teller is a session whose model is obedient.
type teller struct {
	t        *testing.T
	a        *agent.Agent
	session  string
	requests *[]*provider.Request
}

func newTeller(t *testing.T) *teller {
	s, requests := &shelf{things: map[int]bool{}}, new([]*provider.Request)
	mem := small(memory.Step{Strategy: memory.Slide{}})
	mem.Rules, mem.Keep = []memory.Rule{}, 1
	asks := func(spec tools.Spec) tools.Tool {
		spec.Approval = tools.AskAlways
		return tools.New(spec, func(context.Context, Number) (string, error) { return "ok", nil })
	}
	all := append(s.tools(), asks(tools.Spec{Name: "pay"}), asks(tools.Spec{Name: "peek", ReadOnly: true}))
	a := newAgent(t, agent.Config{Memory: mem, Journal: &journal.MapStore{}, Provider: obedient(requests), Tools: all})
	return &teller{t, a, "s", requests}
}

// do does a turn, and returns false if it can't be done.
func (l *teller) do(turn *turn, start uint64) bool {
	s, ctx := l.a.Session(l.session), l.t.Context()
	switch turn.do {
	case "compact":
		_, err := s.Compact(ctx, 0)
		require.NoError(l.t, err)
		return true
	case "undo":
		got, err := s.Undo(ctx, agent.Rollback{})
		if err != nil {
			require.ErrorIs(l.t, err, agent.ErrCannotUndo) // a copy's
		}
		return err == nil && !got.Pruned
	case "reject":
		res, err := s.Result(ctx)
		require.NoError(l.t, err)
		runInput(l.t, l.a, agent.Resume(l.session, agent.Reject(res.Pending[0].ID, "no")))
		return true
	}
	turn.run = runInput(l.t, l.a, agent.Input{Session: l.session, Prompt: turn.do, Replaces: start}).Run
	return true
}

func (l *teller) paused() bool {
	res, err := l.a.Session(l.session).Result(l.t.Context())
	return err == nil && res.Status == agent.Paused
}

// shown returns what the model is sent for another prompt, without what it is told about effects.
func (l *teller) shown() []string {
	if l.paused() {
		l.do(&turn{do: "reject"}, 0)
	}
	l.do(&turn{do: "say 99"}, 0)
	last := (*l.requests)[len(*l.requests)-1]
	return said(slices.DeleteFunc(slices.Clone(last.Messages), isAboutEffects))
}

func isAboutEffects(m provider.Message) bool {
	return strings.Contains(m.Text(), wentBack) || strings.Contains(m.Text(), "Effects of these earlier calls")
}

func TestASessionThatWentBackIsOneThatNeverHadTheReplacedTurns(t *testing.T) {
	did := map[string]int{}
	for seed := range max(3, 12 / *every) {
		rng := rand.New(rand.NewPCG(uint64(seed), 7))
		l, turns, forks := newTeller(t), []*turn(nil), 0
		// what the model is told of effects may change what a compaction leaves out
		do, between := []string{"put", "put", "say", "pay"}, "undo"
		if seed%2 == 0 {
			do, between = []string{"look", "look", "say", "peek"}, "compact"
		}
		for n := range 25 {
			next := &turn{do: fmt.Sprint(do[rng.IntN(4)], " ", n)}
			start := uint64(0)
			switch what := rng.IntN(10); {
			case what < 3 && len(turns) > 0:
				i := rng.IntN(len(turns))
				for _, f := range facts(t, l.a, l.session) {
					if f, ok := f.(*agent.RunStarted); ok && f.Run() == turns[i].run {
						start = f.Seq
					}
				}
				if start == 0 { // it was pruned, or isn't a prompt
					continue
				}
				turns = turns[:i]
				did["replaced"]++
			case l.paused():
				next.do = "reject"
			case what < 5 && len(turns) > 0:
				next.do = between
			case what == 5 && len(turns) > 0 && rng.IntN(3) == 0:
				_, err := l.a.Session(l.session).Prune(t.Context())
				require.NoError(t, err)
				did["pruned"]++
				continue
			case what == 6 && len(turns) > 0:
				forks++
				to := fmt.Sprint("fork ", forks)
				require.NoError(t, l.a.Session(l.session).Fork(t.Context(), to, 0))
				l.session = to
				did["forked"]++
				continue
			}
			if l.do(next, start) {
				turns = append(turns, next)
				did[strings.Fields(next.do)[0]]++
			}
			requireSound(t, l.session, facts(t, l.a, l.session))
		}
		other := newTeller(t)
		for _, turn := range turns {
			require.True(t, other.do(turn, 0))
		}
		require.Equal(t, other.shown(), l.shown(), "seed %d: %v", seed, turns)
		if _, pruned := facts(t, l.a, l.session)[0].(*machine.Snapshot); !pruned {
			require.Equal(t, said(conversation(t, other.a, "s")), said(conversation(t, l.a, l.session)))
		}
	}
	for _, what := range []string{"replaced", "pruned", "forked", "compact", "undo", "reject"} {
		require.NotZero(t, did[what], what)
	}
}
