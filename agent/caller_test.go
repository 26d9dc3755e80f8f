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
	"github.com/pawlkit/pawl/provider/guard"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/ratelimit/budget"
	"github.com/pawlkit/pawl/tools"
)

const (
	parentOfCaller = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	traceOfCaller  = "4bf92f3577b34da6a3ce929d0e0e4736"
)

// request is an input with all that says for whom a run works.
func request(session, key string) agent.Input {
	return agent.Input{Session: session, Prompt: "go", User: "ann", Task: "t", Pipeline: "p", Key: key,
		Trace:  parentOfCaller,
		Labels: map[string]string{"tenant": "acme", "team": "a&b"}}
}

// requireDuplicate says that session s had the key before, in that run.
func requireDuplicate(t *testing.T, err error, key, run string) {
	t.Helper()
	require.ErrorIs(t, err, agent.ErrDuplicate)
	require.EqualError(t, err,
		fmt.Sprintf("agent: session \"s\": it had an input with the key %q before, in run %s", key, run))
	found, _ := errors.AsType[*agent.SessionError](err)
	require.Equal(t, "s", found.Session)
	require.Equal(t, run, found.Run)
}

func TestLabelsUserAndTraceReachEventsCallsAndTheLedger(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		labels := provider.LabelsOf(map[string]string{"tenant": "acme", "team": "a&b"})
		type seen struct {
			user   string
			labels provider.LabelSet
		}
		var inTool, inHook, inChild seen
		observe := func(to *seen) func(context.Context, Number) (string, error) {
			return func(ctx context.Context, _ Number) (string, error) {
				c, _ := tools.CallOf(ctx)
				*to = seen{c.User, c.Labels}
				return "done", nil
			}
		}
		ledger := budget.NewLedger(budget.LedgerConfig{})
		guarded := func(steps ...providertest.Step) provider.Provider {
			p, err := guard.New(providertest.Script(steps...), guard.Config{Ledger: ledger})
			require.NoError(t, err)
			return p
		}
		child := newAgent(t, agent.Config{Name: "child", Provider: guarded(call("work", 1), say("Done.")),
			Tools: []tools.Tool{tools.Func[Number, string]{Spec: tools.Spec{Name: "work"}, Run: observe(&inChild)}}})
		a := newAgent(t, agent.Config{Name: "parent", Journal: store,
			Provider: guarded(call("look", 1), task("child", "do it"), say("All done.")),
			Hooks: []agent.Hooks{{Name: "h", BeforeTool: func(_ context.Context, c *agent.ToolCall) error {
				inHook = seen{c.User, c.Labels}
				return nil
			}}},
			Tools: []tools.Tool{
				tools.Func[Number, string]{Spec: tools.Spec{Name: "look"}, Run: observe(&inTool)},
				agent.AsTool(child, tools.Spec{}),
			}})
		all, err := events(a.Stream(t.Context(), request("s", "")))
		require.NoError(t, err)
		for _, ev := range all {
			require.Equal(t, labels, ev.Envelope().Labels(), "%T", ev)
			require.Equal(t, traceOfCaller, ev.Envelope().Trace(), "%T", ev)
		}
		for _, f := range facts(t, a, "s") {
			require.Equal(t, labels, f.Envelope().Labels(), "%T", f)
		}
		started := of[*agent.RunStarted](all)[0]
		require.Equal(t, machine.Caller{User: "ann", Task: "t", Pipeline: "p", TraceParent: parentOfCaller},
			started.Caller)
		require.Equal(t, "ann", started.By, "who asks is the user, if nobody else is named")
		want := seen{"ann", labels}
		require.Equal(t, []seen{want, want, want}, []seen{inTool, inHook, inChild})

		entries := ledger.Entries(budget.Filter{User: "ann", Pipeline: "p"})
		require.Len(t, entries, 5, "of the agent and of its subagent")
		for _, e := range entries {
			require.Equal(t, string(labels), e.Extra)
			require.Equal(t, "s", e.Session)
		}
		require.EqualValues(t, 5, ledger.Total(budget.Filter{User: "ann"}).Calls)
	})
}

func TestSessionsAreFoundByALabel(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		a, _ := scripted(t, agent.Config{Journal: store}, say("1"), say("2"), say("3"), say("4"))
		for name, user := range map[string]string{"s-1": "ann", "s-2": "bob"} {
			runInput(t, a, agent.Input{Session: name, Prompt: "go", Labels: map[string]string{"user": user}})
		}
		list := func(key, value string) (names []string) {
			for info, err := range a.Sessions(t.Context(), agent.SessionFilter{Label: agent.Label(key, value)}) {
				require.NoError(t, err)
				require.Equal(t, value, info.Labels[key])
				names = append(names, info.Session)
			}
			return names
		}
		require.Equal(t, []string{"s-1"}, list("user", "ann"))
		require.Empty(t, list("user", "eve"))

		runInput(t, a, agent.Input{Session: "s-1", Prompt: "again"})
		require.Equal(t, []string{"s-1"}, list("user", "ann"), "a run without labels keeps them")
		runInput(t, a, agent.Input{Session: "s-1", Prompt: "again", Labels: map[string]string{"user": "eve"}})
		require.Empty(t, list("user", "ann"))
		require.Equal(t, []string{"s-1"}, list("user", "eve"))
		_, err := a.Session("s-1").Prune(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"s-1"}, list("user", "eve"))
	})
}

func TestTheSameKeyStartsOneRun(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		a, model := scripted(t, agent.Config{Journal: store}, say("1"), say("2"), say("3"))
		first := runInput(t, a, request("s", "k-1"))
		duplicate := func(a *agent.Agent, key string) {
			t.Helper()
			res, err := a.Run(t.Context(), request("s", key))
			requireDuplicate(t, err, key, first.Run)
			require.Nil(t, res)
		}
		duplicate(a, "k-1")
		runInput(t, a, request("s", "k-2"))
		duplicate(a, "k-1")
		_, err := a.Session("s").Prune(t.Context())
		require.NoError(t, err)
		duplicate(a, "k-1")
		if store != nil { // another process, which knows only the snapshot
			duplicate(reopen(t, agent.Config{Journal: store}), "k-1")
		}
		require.Len(t, model.Requests(), 2)
		runInput(t, a, request("other", "k-1"))
	})
}

func TestTheSameKeyDuringItsRunIsADuplicate(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		a, _ := scripted(t, agent.Config{Journal: store}, say("1"))
		other := a
		if store != nil {
			other = reopen(t, agent.Config{Journal: store}) // another process
		}
		runs := 0
		for ev, err := range a.Stream(t.Context(), request("s", "k")) {
			require.NoError(t, err)
			if _, ok := ev.(*agent.StepStarted); !ok {
				continue
			}
			runs++
			for _, a := range []*agent.Agent{a, other} {
				_, err := a.Run(t.Context(), request("s", "k"))
				requireDuplicate(t, err, "k", ev.Envelope().Run())
				_, err = a.Run(t.Context(), request("s", "another"))
				require.ErrorIs(t, err, agent.ErrBusy)
			}
		}
		require.Equal(t, 1, runs)
	})
}

func TestASessionRemembersItsNewestKeys(t *testing.T) {
	m := machine.New("s")
	apply := func(f machine.Fact) {
		t.Helper()
		require.NoError(t, m.Apply(f))
	}
	for i := range 150 {
		meta := machine.Meta{Origin: &machine.Origin{Session: "s", Run: "r-" + strings.Repeat("x", i)},
			Seq: uint64(2*i) + 1}
		apply(&machine.RunStarted{Meta: meta, Message: provider.User("go"), Key: "k-" + strings.Repeat("x", i),
			Limits: new(machine.Limits)})
		meta.Seq++
		apply(&machine.RunEnded{Meta: meta, Status: machine.Stopped, Code: machine.CodeHost})
	}
	require.Len(t, m.State().Keys, 100)
	require.Empty(t, m.State().RunOf("k-"))
	require.Equal(t, "r-"+strings.Repeat("x", 149), m.State().RunOf("k-"+strings.Repeat("x", 149)))
	require.Equal(t, "r-"+strings.Repeat("x", 50), m.State().RunOf("k-"+strings.Repeat("x", 50)))
}

func TestWhatIsWrongWithACallerIsSaid(t *testing.T) {
	a, model := scripted(t, agent.Config{})
	many := make(map[string]string)
	for i := range 17 {
		many[strings.Repeat("k", i+1)] = "v"
	}
	for field, list := range map[string][]agent.Input{
		"Labels": {{Labels: many}, {Labels: map[string]string{"": "v"}}, {Labels: map[string]string{"k": ""}},
			{Labels: map[string]string{"k": "a\nb"}},
			{Labels: map[string]string{strings.Repeat("k", 65): "v"}},
			{Labels: map[string]string{"k": strings.Repeat("v", 257)}}},
		"User":     {{User: "a\nb"}, {User: "\xff"}, {User: strings.Repeat("n", 513)}},
		"Task":     {{Task: "\xff"}, {Task: strings.Repeat("n", 513)}},
		"Pipeline": {{Pipeline: "a\x00"}},
		"Key":      {{Key: strings.Repeat("k", 201)}, {Key: "a\tb"}, {Key: "k", Session: "-"}},
		"Trace": {{Trace: "x"}, {Trace: strings.ToUpper(parentOfCaller)}, {Trace: "ff" + parentOfCaller[2:]},
			{Trace: parentOfCaller + "-more"},
			{Trace: "00-00000000000000000000000000000000-00f067aa0ba902b7-01"},
			{Trace: "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01"},
			{Trace: "01" + parentOfCaller[2:] + "more"}, {Trace: parentOfCaller[:54]}},
	} {
		for _, in := range list {
			in.Prompt = "go"
			if in.Session == "" {
				in.Session = "s"
			} else {
				in.Session = ""
			}
			_, err := a.Run(t.Context(), in)
			var wrong *agent.ArgError
			require.ErrorAs(t, err, &wrong, "%+v", in)
			require.Equal(t, "Input."+field, wrong.Field, "%+v", in)
		}
	}
	require.Empty(t, model.Requests())
	a, _ = scripted(t, agent.Config{}, say("ok"))
	require.Equal(t, traceOfCaller,
		runInput(t, a, agent.Input{Prompt: "go", Trace: "01" + parentOfCaller[2:] + "-more"}).Trace, "a later version")
}

func TestASessionHasATitle(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		var done effects
		a, _ := scripted(t,
			agent.Config{Journal: store, Redact: func(s string) string { return strings.ReplaceAll(s, "secret", "…") },
				Tools: []tools.Tool{done.tool(tools.Spec{Name: "work"})}}, call("work", 1), say("Done."), say("Again."))
		title := func() string {
			for info, err := range a.Sessions(t.Context(), agent.SessionFilter{}) {
				require.NoError(t, err)
				return info.Title
			}
			return "no session"
		}
		s := a.Session("s")
		setTitle := func(title string) {
			t.Helper()
			require.NoError(t, s.SetTitle(t.Context(), title))
		}
		require.ErrorIs(t, s.SetTitle(t.Context(), "too early"), agent.ErrNothingOpen)

		for ev, err := range a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}) {
			require.NoError(t, err)
			switch ev := ev.(type) {
			case *agent.StepStarted:
				if ev.Step == 2 {
					require.Equal(t, "during the run", title(), "it is set at a safe point")
				}
				setTitle("during the run")
			case *agent.RunEnded:
				setTitle("at its end")
			}
		}
		require.Equal(t, "at its end", title())
		setTitle("“The secret” page")
		require.Equal(t, "“The …” page", title())
		runInput(t, a, agent.Input{Session: "s", Prompt: "again"})
		require.Equal(t, "“The …” page", title())
		_, err := s.Prune(t.Context())
		require.NoError(t, err)
		require.Equal(t, "“The …” page", title())
		require.NoError(t, s.Fork(t.Context(), "copy", 0))
		for info, err := range a.Sessions(t.Context(), agent.SessionFilter{Prefix: "copy"}) {
			require.NoError(t, err)
			require.Equal(t, "“The …” page", info.Title)
		}

		for _, bad := range []string{"", "a\nb", "\x7f", strings.Repeat("ü", 101)} {
			var wrong *agent.ArgError
			require.ErrorAs(t, s.SetTitle(t.Context(), bad), &wrong, "%q", bad)
			require.Equal(t, "Input.Title", wrong.Field)
		}
		setTitle(strings.Repeat("ü", 100))
		require.Len(t, title(), 200)
		var none *agent.Session
		require.Error(t, none.SetTitle(t.Context(), "x"))
	})
}

// Other packages keep logs of their own in the store. Agents leave them alone, whatever their
// status says.
func TestLogsOfOtherKindsAreLeftAlone(t *testing.T) {
	store := &journal.MapStore{}
	a, _ := scripted(t, agent.Config{Journal: store}, say("1"))
	runInput(t, a, agent.Input{Session: "own", Prompt: "go"})
	for _, status := range []agent.Status{agent.Running, agent.Paused, agent.Completed} {
		require.NoError(t, store.Append(t.Context(), journal.Append{Session: "plan-" + string(status),
			Records: []journal.Record{{Kind: "node", V: 9, Data: json.RawMessage(`{}`)}},
			Head:    &journal.HeadUpdate{Status: string(status), Kind: "plan", Open: []journal.Open{{ID: "p"}}}}))
		require.NoError(t, store.Post(t.Context(), "plan-"+string(status), journal.Item{ID: "i", Kind: "k"}))
	}
	for info, err := range a.Sessions(t.Context(), agent.SessionFilter{}) {
		require.NoError(t, err)
		require.Equal(t, "own", info.Session)
	}
	n, err := a.Recover(t.Context(), agent.Recovery{Each: func(r agent.Recovered) { t.Error(r.Session, r.Err) }})
	require.NoError(t, err)
	require.Zero(t, n)
	pruned, err := a.Retain(t.Context(), agent.Retention{Idle: 1, Open: true})
	require.NoError(t, err)
	require.Equal(t, 1, pruned.Sessions)
	for _, status := range []agent.Status{agent.Running, agent.Paused, agent.Completed} {
		h, err := store.Head(t.Context(), "plan-"+string(status))
		require.NoError(t, err)
		require.EqualValues(t, 1, h.Seq)
	}
}
