package agent_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A catalog is a source whose list a test changes.
type catalog struct {
	name string
	hang func(ctx context.Context) // called by List

	mu      sync.Mutex // guards what follows
	list    []tools.Tool
	err     error
	changed chan struct{}
	asked   []tools.Listing
}

func newCatalog(name string, list ...tools.Tool) *catalog {
	return &catalog{name: name, list: list, changed: make(chan struct{})}
}

func (c *catalog) Name() string { return c.name }

func (c *catalog) Changed() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changed
}

func (c *catalog) List(ctx context.Context) ([]tools.Tool, error) {
	if c.hang != nil {
		c.hang(ctx)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	l, _ := tools.ListingOf(ctx)
	c.asked = append(c.asked, l)
	return slices.Clone(c.list), c.err
}

// set changes the list and says so.
func (c *catalog) set(err error, list ...tools.Tool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list, c.err = list, err
	close(c.changed)
	c.changed = make(chan struct{})
}

// named returns tools with these names.
func named(done *effects, names ...string) (list []tools.Tool) {
	for _, name := range names {
		list = append(list, done.tool(tools.Spec{Name: name}))
	}
	return list
}

// doing returns a tool that calls fn.
func doing(name string, fn func(ctx context.Context) error) tools.Tool {
	return tools.New(tools.Spec{Name: name}, func(ctx context.Context, _ Number) (string, error) {
		return "ok", fn(ctx)
	})
}

// requireOffered requires the names of the tools in each request, and that where the names begin
// like those of the request before, the definitions are the same, too.
func requireOffered(t *testing.T, m *providertest.Model, want ...[]string) {
	t.Helper()
	reqs := m.Requests()
	require.Len(t, reqs, len(want))
	for i, req := range reqs {
		var names []string
		for _, tool := range req.Tools {
			names = append(names, tool.Name)
		}
		require.Equal(t, want[i], names, "request %d", i)
		if i > 0 {
			n := 0
			for n < min(len(want[i]), len(want[i-1])) && want[i][n] == want[i-1][n] {
				n++
			}
			require.Equal(t, reqs[i-1].Tools[:n], req.Tools[:n], "request %d", i)
		}
	}
}

// lastText returns what the model read last.
func lastText(m *providertest.Model) string {
	reqs := m.Requests()
	messages := reqs[len(reqs)-1].Messages
	return partsOf(messages[len(messages)-1].Parts)
}

func partsOf(parts []provider.Part) (text string) {
	for _, p := range parts {
		text += p.Text
		if p.Result != nil {
			text += partsOf(p.Result.Parts)
		}
	}
	return text
}

func changesIn(facts []agent.Fact) (out []*machine.ToolsChanged) {
	return of[*machine.ToolsChanged](eventsOf(facts))
}

func TestTheEarlierToolsStayAPrefixOfTheLaterOnes(t *testing.T) {
	for name, store := range map[string]journal.Store{"in memory": nil, "in a journal": &journal.MapStore{}} {
		t.Run(name, func(t *testing.T) {
			var done effects
			b, c := newCatalog("b", named(&done, "b1", "b2")...), newCatalog("c", named(&done, "c1")...)
			cfg := agent.Config{Journal: store, Tools: named(&done, "own"), Sources: []tools.Source{c, b}}
			a, m := scripted(t, cfg, call("b1", 1), call("c1", 2), say("Done."), call("b0", 3), say("Done."),
				say("Done."))
			require.Equal(t, agent.Completed, run(t, a).Status)
			b.set(nil, named(&done, "b0", "b1", "b2")...)
			require.Equal(t, agent.Completed, run(t, a).Status)
			c.set(nil)
			run(t, a)
			all := []string{"own", "b1", "b2", "c1"}
			later := []string{"own", "b1", "b2", "c1", "b0"}
			requireOffered(t, m, all, all, all, later, later, []string{"own", "b1", "b2", "b0"})
			require.Equal(t, 3, done.all())

			changes := changesIn(facts(t, a, "s"))
			require.Len(t, changes, 2)
			require.Equal(t, "b0", changes[0].Tools[0].Name)
			require.NotEmpty(t, changes[0].Tools[0].Schema)
			require.Equal(t, "c1", changes[1].Tools[0].Name)
			require.True(t, changes[1].Tools[0].Gone)
			requireSound(t, "s", facts(t, a, "s"))
			require.Equal(t, tools.Listing{Session: "s"}, b.asked[0])
		})
	}
}

func TestAToolThatDisappearsIsOfferedUntilTheRunEnds(t *testing.T) {
	var done effects
	src := newCatalog("src", named(&done, "x", "y")...)
	remove := doing("remove", func(context.Context) error { src.set(nil, named(&done, "y", "z")...); return nil })
	restore := doing("restore", func(context.Context) error { src.set(nil, named(&done, "x", "y")...); return nil })
	a, m := scripted(t, agent.Config{Tools: []tools.Tool{remove, restore}, Sources: []tools.Source{src}},
		call("remove", 0), call("x", 1), call("restore", 0), call("x", 2), call("remove", 0), say("Done."),
		say("Done."))
	res := run(t, a)
	require.Equal(t, agent.Completed, res.Status)
	require.Zero(t, done.of(1), "it was gone")
	require.Equal(t, 1, done.of(2), "it was back")
	require.Contains(t, partsOf(m.Requests()[2].Messages[len(m.Requests()[2].Messages)-1].Parts),
		`the tool "x" is no longer available`)
	all := []string{"remove", "restore", "x", "y"}
	run(t, a)
	requireOffered(t, m, all, all, all, all, all, all, []string{"remove", "restore", "y", "z"})
}

func TestASourceThatFailsInARunKeepsItsTools(t *testing.T) {
	var done effects
	src := newCatalog("src", named(&done, "x")...)
	other := newCatalog("other", named(&done, "o")...)
	fail := doing("fail", func(ctx context.Context) error {
		src.set(errors.New("no connection"))
		return agent.LoadTools(ctx)
	})
	a, m := scripted(t, agent.Config{Tools: []tools.Tool{fail}, Sources: []tools.Source{src, other}}, call("fail", 1),
		call("x", 1), say("1"), say("2"))
	failed := func() []*agent.SourceFailed {
		all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
		require.NoError(t, err)
		return of[*agent.SourceFailed](all)
	}
	for _, f := range failed() {
		require.True(t, f.Kept)
		require.EqualError(t, f.Err,
			`agent: source "src" can't list its tools; those that it listed before are used: no connection`)
	}
	require.Equal(t, 1, done.of(1))
	later := failed()
	require.Len(t, later, 1)
	require.False(t, later[0].Kept)
	require.EqualError(t, later[0].Err,
		`agent: source "src" can't list its tools, so that the run has none of them: no connection`)
	requireOffered(t, m, []string{"fail", "o", "x"}, []string{"fail", "o", "x"}, []string{"fail", "o", "x"},
		[]string{"fail", "o"})
}

// TestASourceThatHangsDelaysOneRun: those that follow it within half a minute wait for a second.
func TestASourceThatHangsDelaysOneRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var done effects
		hangs := true
		src := newCatalog("src", named(&done, "x")...)
		src.hang = func(ctx context.Context) {
			if hangs {
				<-ctx.Done()
			}
			<-time.After(time.Second / 2)
		}
		src.err = context.DeadlineExceeded
		a, m := scripted(t, agent.Config{Sources: []tools.Source{src}}, say("1"), say("2"), say("3"), say("4"),
			say("5"))
		took := func() time.Duration {
			began := time.Now()
			run(t, a)
			return time.Since(began)
		}
		const returns = time.Second / 2
		require.Equal(t, 10*time.Second+returns, took())
		require.Equal(t, time.Second+returns, took())
		<-time.After(time.Minute)
		require.Equal(t, 10*time.Second+returns, took(), "it is given all of its time again")
		hangs, src.err = false, nil
		require.Equal(t, returns, took())
		hangs, src.err = true, context.DeadlineExceeded
		require.Equal(t, 10*time.Second+returns, took(), "it has listed in time before")
		var offered []int
		for _, req := range m.Requests() {
			offered = append(offered, len(req.Tools))
		}
		require.Equal(t, []int{0, 0, 0, 1, 0}, offered)
	})
}

func TestASourceThatHangsIsWaitedForABoundedTime(t *testing.T) {
	for name, c := range map[string]struct {
		respectsContext bool
		want            time.Duration
	}{"until its context ends": {true, 10 * time.Second}, "if it ignores its context": {false, 15 * time.Second}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var done effects
				release := make(chan struct{})
				src := newCatalog("src", named(&done, "x")...)
				src.hang = func(ctx context.Context) {
					if c.respectsContext {
						<-ctx.Done()
						return
					}
					<-release
				}
				src.err = context.DeadlineExceeded
				a, m := scripted(t, agent.Config{Tools: named(&done, "own"),
					Sources: []tools.Source{src, newCatalog("other", named(&done, "o")...)}}, say("Done."))
				began := time.Now()
				require.Equal(t, agent.Completed, run(t, a).Status)
				require.Equal(t, c.want, time.Since(began))
				requireOffered(t, m, []string{"own", "o"})
				if !c.respectsContext {
					require.Equal(t, 1, a.Abandoned())
				}
				close(release)
				synctest.Wait()
				require.Zero(t, a.Abandoned())
			})
		})
	}
}

func TestToolsThatCannotBeUsedAreLeftOutAndReported(t *testing.T) {
	var done effects
	bad := tools.Raw{Spec: tools.Spec{Name: "bad", Schema: []byte(`{"type":7}`)}}
	child := newAgent(t, agent.Config{Name: "child", Provider: providertest.Script()})
	src := newCatalog("src", append(named(&done, "own", "x", "x"), bad, nil, agent.AsTool(child, tools.Spec{}),
		done.tool(tools.Spec{Name: "mode", Modes: []string{"edit"}}),
		done.tool(tools.Spec{Name: "needs", Requires: []string{"nothing"}}))...)
	a, m := scripted(t, agent.Config{Tools: named(&done, "own"), Sources: []tools.Source{src}}, say("Done."))
	all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
	require.NoError(t, err)
	require.Len(t, of[*agent.SourceFailed](all), 7)
	requireOffered(t, m, []string{"own", "x"})

	src.set(nil, tools.Tool((*nobody)(nil)))
	all, err = events(reopen(t, agent.Config{Sources: []tools.Source{src}}, say("Done.")).Stream(t.Context(),
		agent.Input{Prompt: "go"}))
	require.NoError(t, err)
	require.Len(t, of[*agent.SourceFailed](all), 1)
}

// A nobody is a tool that panics.
type nobody struct{ spec tools.Spec }

func (n *nobody) Define() (*tools.Definition, error) { panic(n.spec.Name) }

func TestMistakesInSourcesAreErrorsOfTheConfig(t *testing.T) {
	for _, list := range [][]tools.Source{{nil}, {(*catalog)(nil)}, {newCatalog("")},
		{newCatalog("a"), newCatalog("a")}} {
		_, err := agent.New(agent.Config{Provider: providertest.Script(), Sources: list})
		var bad *agent.ArgError
		require.ErrorAs(t, err, &bad)
		require.Contains(t, bad.Field, "Config.Sources[")
	}
}

func TestARunWithSourcesIsResumedByAnotherProcess(t *testing.T) {
	store := &journal.MapStore{}
	var done effects
	list := func(names ...string) *catalog {
		src := newCatalog("src", named(&done, names...)...)
		src.list = append(src.list, done.tool(tools.Spec{Name: "risky", Risk: tools.High}))
		return src
	}
	a, m := scripted(t, agent.Config{Journal: store, Sources: []tools.Source{list("x")}}, calls("risky", 1, 2))
	res := run(t, a)
	require.Len(t, res.Pending, 2)
	requireOffered(t, m, []string{"x", "risky"})

	down := newCatalog("src")
	down.err = errors.New("no connection")
	b := reopen(t, agent.Config{Journal: store, Sources: []tools.Source{down}})
	_, err := b.Run(t.Context(), agent.Resume("s", agent.Approve(res.Pending[0].ID)))
	var changed *agent.ChangedError
	require.ErrorAs(t, err, &changed, "nothing is lost while the source is down")
	require.Equal(t, "risky is gone", changed.Tools[0].String())

	c, m := scripted(t, agent.Config{Journal: store, Sources: []tools.Source{list("new", "x")}}, call("x", 4),
		call("new", 5), say("Done."))
	res = runInput(t, c, agent.Resume("s", agent.Edit(res.Pending[0].ID, Number{3}), agent.Approve(res.Pending[1].ID)))
	require.Equal(t, agent.Completed, res.Status)
	for _, n := range []int{2, 3, 4, 5} {
		require.Equal(t, 1, done.of(n), n)
	}
	all := []string{"x", "risky", "new"}
	requireOffered(t, m, all, all, all)
	requireSound(t, "s", facts(t, c, "s"))
}

func TestAPanicOfASourceIsAFailureToList(t *testing.T) {
	src := newCatalog("src")
	src.hang = func(context.Context) { panic("no") }
	a, m := scripted(t, agent.Config{Sources: []tools.Source{src}}, say("Done."))
	require.Equal(t, agent.Completed, run(t, a).Status)
	requireOffered(t, m, nil)
}

func TestEffectsOfToolsOfASourceAreUndone(t *testing.T) {
	undone := 0
	tool := tools.Func[Number, string]{Spec: tools.Spec{Name: "x"},
		Run:  func(context.Context, Number) (string, error) { return "ok", nil },
		Undo: func(context.Context, Number, string) error { undone++; return nil }}
	a, _ := scripted(t, agent.Config{Sources: []tools.Source{newCatalog("src", tool)}}, call("x", 1), say("Done."))
	run(t, a)
	rec, err := a.Session("s").Undo(t.Context(), agent.Rollback{})
	require.NoError(t, err)
	require.Len(t, rec.Undone, 1)
	require.Equal(t, 1, undone)
}

func TestASourceIsToldForWhomItLists(t *testing.T) {
	src := newCatalog("src", tools.External(tools.Spec{Name: "x"}))
	cfg := agent.Config{Journal: &journal.MapStore{}, Sources: []tools.Source{src}}
	a, _ := scripted(t, cfg, say("Done."), providertest.Call("x", struct{}{}))
	in := agent.Input{Session: "s", Prompt: "go", User: "ann", Labels: map[string]string{"tenant": "acme"}}
	runInput(t, a, in)
	in.Labels = nil
	res := runInput(t, a, in)
	b := reopen(t, cfg, say("Done."))
	runInput(t, b, agent.Resume("s", agent.Answer(res.Pending[0].ID, 1)))
	require.Len(t, src.asked, 3)
	for _, l := range src.asked {
		require.Equal(t, tools.Listing{Session: "s", User: "ann", Labels: "tenant=acme"}, l)
	}
}

func TestAnOpenRunKeepsWhatItsSourcesHaveListed(t *testing.T) {
	var done effects
	src := newCatalog("src", done.tool(tools.Spec{Name: "risky", Risk: tools.High}))
	a, m := scripted(t, agent.Config{Sources: []tools.Source{src}, Journal: &journal.MapStore{}}, call("risky", 1),
		say("done"), say("again"), call("risky", 2), call("risky", 3))
	res := run(t, a)
	require.Len(t, res.Pending, 1)
	require.Equal(t, 1, agent.KeptLists(a))
	src.set(errors.New("no connection"))
	all, err := events(a.Stream(t.Context(), agent.Resume("s", agent.Approve(res.Pending[0].ID))))
	require.NoError(t, err)
	require.Equal(t, 1, done.of(1))
	failed := of[*agent.SourceFailed](all)
	require.Len(t, failed, 1)
	require.True(t, failed[0].Kept)
	require.Zero(t, agent.KeptLists(a), "it has ended")
	run(t, a)
	require.Len(t, m.Requests()[1].Tools, 1)
	require.Empty(t, m.Requests()[2].Tools)
	src.set(nil, done.tool(tools.Spec{Name: "risky", Risk: tools.High}))
	run(t, a)
	require.Equal(t, 1, agent.KeptLists(a))
	require.NoError(t, a.Session("s").Delete(t.Context()))
	require.Zero(t, agent.KeptLists(a), "it is deleted")
	run(t, a)
	require.Equal(t, 1, agent.KeptLists(a))
	require.NoError(t, a.Session("s").Cancel(t.Context()))
	require.Zero(t, agent.KeptLists(a), "it is canceled")
}

func TestTheListsOfFewOpenRunsAreKept(t *testing.T) {
	pauses := provider.Func(func(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
		return providertest.Script(call("risky", 1)).Stream(ctx, req)
	})
	var done effects
	src := newCatalog("src", done.tool(tools.Spec{Name: "risky", Risk: tools.High}))
	a := newAgent(t, agent.Config{Sources: []tools.Source{src}, Journal: &journal.MapStore{}, Provider: pauses})
	for i := range agent.MaxOpenLists + 2 {
		require.Equal(t, agent.Paused, runInput(t, a, agent.Input{Session: fmt.Sprint(i), Prompt: "go"}).Status)
	}
	require.Equal(t, agent.MaxOpenLists, agent.KeptLists(a))
}

// TestNoListOutlivesItsRun: what sources list is kept for no session, whether or not it is deleted.
func TestNoListOutlivesItsRun(t *testing.T) {
	const runs = 20
	gone := make(chan struct{}, runs)
	src := &freshSource{list: func() tools.Tool {
		state := new([1 << 10]byte)
		runtime.AddCleanup(state, func(int) { gone <- struct{}{} }, 0)
		return tools.New(tools.Spec{Name: "x"}, func(context.Context, Number) (string, error) {
			return string(state[:1]), nil
		})
	}}
	a := newAgent(t, agent.Config{Sources: []tools.Source{src}, Provider: playing(nil)})
	for i := range runs {
		require.Equal(t, agent.Completed, runInput(t, a, agent.Input{Session: fmt.Sprint(i), Prompt: "go"}).Status)
	}
	for tries := 0; len(gone) < runs; tries++ { // cleanups run some time after a collection
		require.Less(t, tries, 5_000, "a list is kept")
		runtime.GC()
		runtime.Gosched()
	}
	runtime.KeepAlive(a)
}

// A freshSource makes its tool each time it lists.
type freshSource struct{ list func() tools.Tool }

func (s *freshSource) Name() string                               { return "fresh" }
func (s *freshSource) Changed() <-chan struct{}                   { return nil }
func (s *freshSource) List(context.Context) ([]tools.Tool, error) { return []tools.Tool{s.list()}, nil }

// A slowSource takes some time to list its tools.
type slowSource struct{ takes time.Duration }

func (s *slowSource) Name() string { return "slow" }

func (s *slowSource) Changed() <-chan struct{} { return nil }

func (s *slowSource) List(ctx context.Context) ([]tools.Tool, error) {
	select {
	case <-time.After(s.takes):
		return nil, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func TestASourceThatHungOnceHasItsTimeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := &slowSource{}
		a, _ := scripted(t, agent.Config{Sources: []tools.Source{src}},
			slices.Repeat([]providertest.Step{say("x")}, 12)...)
		failed := 0
		for i := range 12 {
			if src.takes = 2 * time.Second; i == 1 {
				src.takes = time.Minute
			}
			all, err := events(a.Stream(t.Context(), agent.Input{Session: fmt.Sprint("s", i), Prompt: "x"}))
			require.NoError(t, err)
			failed += len(of[*agent.SourceFailed](all))
			time.Sleep(20 * time.Second)
		}
		require.Equal(t, 2, failed, "once without an answer, and once within 30 s")
	})
}

func TestTheListsOfOneRunDoNotStandInForAnother(t *testing.T) {
	var done effects
	store := &journal.MapStore{}
	src := newCatalog("src", done.tool(tools.Spec{Name: "old"}))
	cfg := agent.Config{Journal: store, Tools: []tools.Tool{done.tool(tools.Spec{Name: "risky", Risk: tools.High})}}
	other, _ := scripted(t, cfg, call("risky", 2))
	cfg.Sources = []tools.Source{src}
	a, m := scripted(t, cfg, call("risky", 1), say("Done."))
	require.Equal(t, agent.Paused, run(t, a).Status)
	res := runInput(t, other, agent.Input{Session: "s", Prompt: "something else", Supersede: true})
	src.set(errors.New("no connection"))
	all, err := events(a.Stream(t.Context(), agent.Resume("s", agent.Approve(res.Pending[0].ID))))
	require.NoError(t, err)
	require.False(t, of[*agent.SourceFailed](all)[0].Kept)
	require.Len(t, m.Requests()[1].Tools, 1, "the run has never had the tool of the source")
}
