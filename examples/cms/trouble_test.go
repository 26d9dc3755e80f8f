package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/examples/cms/internal/assistant"
	"github.com/pawlkit/pawl/examples/cms/internal/cmstools"
	"github.com/pawlkit/pawl/examples/internal/consent/consenttest"
)

// unclear is a message that the rules leave to the judge. The model obeys it by a call that asks
// nobody otherwise.
const unclear = "la seconde"

// A troubled is the program with a model that obeys, and a judge that a test makes.
type troubled struct {
	*program
	t       *testing.T
	env     map[string]string
	bench   *bench
	before  string // the site
	judged  atomic.Int64
	session string
	asked   func() // is called when a request comes; may be nil
}

func newTroubled(t *testing.T, judge func(ctx context.Context) string) *troubled {
	t.Helper()
	w := &troubled{t: t, bench: newBench(t), session: "s"}
	model := &consenttest.Prompted{
		Calls: map[string]consenttest.Call{unclear: {Name: "cms_syncPageContents",
			Input: `{"page":"home","contents":{"hero":{"title":"Changed"}}}`}},
		Judge: func(ctx context.Context) string {
			w.judged.Add(1)
			return judge(ctx)
		}}
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if w.asked != nil {
			w.asked()
		}
		model.ServeHTTP(rw, r)
	}))
	t.Cleanup(server.Close)
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	w.env = map[string]string{"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": server.URL, "OPENAI_MODEL": "m"}
	return w
}

// open opens the program in this process.
func (w *troubled) open() *troubled {
	w.t.Helper()
	o, err := readOptions([]string{"-db", w.bench.db}, func(name string) string { return w.env[name] }, w.t.Output())
	require.NoError(w.t, err)
	w.program, err = o.open("", w.t.Output())
	require.NoError(w.t, err)
	w.t.Cleanup(func() { require.NoError(w.t, w.close()) })
	w.before, err = wholeSite(w.t.Context(), w.site)
	require.NoError(w.t, err)
	return w
}

func (w *troubled) changed() bool {
	w.t.Helper()
	now, err := wholeSite(w.t.Context(), w.site)
	require.NoError(w.t, err)
	return now != w.before
}

func (w *troubled) start() live.Started {
	w.t.Helper()
	started, err := w.hub.Start(w.t.Context(), agent.Input{User: user, Session: w.session, Prompt: unclear,
		Mode: cmstools.CRUD, Labels: assistant.Screen("/pages/home")})
	require.NoError(w.t, err)
	return started
}

func (w *troubled) pending() []agent.Pause {
	w.t.Helper()
	p, err := w.hub.Agent().Session(w.session).Pending(w.t.Context())
	require.NoError(w.t, err)
	return p
}

// process prepares a process of the program, which is held at a fact.
func (w *troubled) process(at, typed string, args ...string) *exec.Cmd {
	cmd := w.bench.process(at, args...)
	for name, value := range w.env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.Env = append(cmd.Env, "PAWL_MODEL=openai", typedVar+"="+typed)
	return cmd
}

// Whenever the process is killed, the call waits for the person in the next one, and runs once they
// have approved it, and once.
func TestAKilledProcessRunsNothingThatNobodyApproved(t *testing.T) {
	t.Parallel()
	title := func(w *troubled) (title string) {
		w.t.Helper()
		p := w.open()
		page, err := p.site.GetPage(t.Context(), "home", "")
		require.NoError(t, err)
		return page.Sections[0].Content["title"].(string)
	}
	const approve = "approve\n"
	for name, c := range map[string]struct {
		at    string // the fact at which the first process is killed; empty: while the judge is asked
		typed string // into the first process
		next  []string
		done  bool
	}{
		"the judge is asked":     {next: []string{"", approve}, done: true},
		"the judge is asked, no": {next: []string{"reject\nno\n"}},
		"the call is known":      {at: "replied cms.syncPageContents", next: []string{""}},
		"the question is stored": {at: "suspended cms.syncPageContents", next: []string{"", ""}},
		"the decision is stored": {at: "decided approve", typed: approve, next: []string{""}, done: true},
		"a rejection is stored":  {at: "decided reject", typed: "reject\nno\n", next: []string{""}},
		"the call has begun": {at: "tool_started cms.syncPageContents", typed: approve, next: []string{""},
			done: true},
		"the call has ended": {at: "tool_finished cms.syncPageContents", typed: approve, next: []string{""},
			done: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked, hang := make(chan int, 100), atomic.Bool{}
			w := newTroubled(t, func(ctx context.Context) string {
				asked <- 0
				if hang.Load() {
					<-ctx.Done()
				}
				return "forbids"
			})
			if c.at == "" {
				hang.Store(true)
				cmd := w.process("", "", "-session", "s", "-p", unclear)
				require.NoError(t, cmd.Start())
				<-asked
				require.NoError(t, cmd.Process.Kill())
				require.Error(t, cmd.Wait())
				hang.Store(false)
			} else if c.typed == "" {
				w.bench.start(w.process(c.at, "", "-session", "s", "-p", unclear), heldMark).kill()
			} else {
				o, _ := w.bench.until(w.process("", "", "-session", "s", "-p", unclear), 1<<20, 0)
				require.Equal(t, 3, o.status, "%s\n%s", o.out, o.err)
				w.bench.start(w.process(c.at, c.typed, "chat", "-session", "s"), heldMark).kill()
			}
			w.bench.leaseEnds()
			for i, typed := range c.next {
				o, _ := w.bench.until(w.process("", typed, "chat", "-session", "s"), 1<<20, 0)
				if i < len(c.next)-1 || !c.done && typed == "" && c.typed == "" {
					require.Equal(t, 3, o.status, "it asks: %s\n%s", o.out, o.err)
					require.Contains(t, o.out, "You wrote “"+unclear+"”, or forbade this before.")
				} else {
					require.Zero(t, o.status, "%s\n%s", o.out, o.err)
				}
			}
			require.Equal(t, map[bool]string{true: "Changed", false: "Welcome to Fern and Flour"}[c.done], title(w))
		})
	}
}

// A person who cancels while the judge thinks isn't made to wait, and nothing runs.
func TestACancellationWhileTheJudgeThinksEndsTheRun(t *testing.T) {
	t.Parallel()
	asked := make(chan int, 10)
	w := newTroubled(t, func(ctx context.Context) string {
		asked <- 0
		<-ctx.Done()
		return "requests"
	}).open()
	started := w.start()
	<-asked
	require.NoError(t, w.hub.Cancel(t.Context(), "s"))
	<-started.Done
	require.False(t, w.changed())
	res, err := w.hub.Agent().Session("s").Result(t.Context())
	require.NoError(t, err)
	require.Equal(t, agent.Stopped, res.Status)
	require.Empty(t, w.pending())
	require.EqualValues(t, 1, w.judged.Load())
}

// Two tabs decide at once, or one decides while the other cancels, or sends another message: the
// call runs once at most, and only if it was approved.
func TestTwoTabsThatDecideAtOnce(t *testing.T) {
	t.Parallel()
	w := newTroubled(t, func(context.Context) string { return "forbids" }).open()
	decide := func(d agent.Decision) error {
		started, err := w.hub.Decide(t.Context(), w.session, d.By(user))
		if err == nil && started.Done != nil { // a run in progress takes it
			<-started.Done
		}
		return err
	}
	for i := range 12 {
		w.session = fmt.Sprint("s", i)
		<-w.start().Done
		p := w.pending()
		require.Len(t, p, 1)
		require.False(t, w.changed(), i)
		others := []func() error{
			func() error { return decide(agent.Reject(p[0].ID, "no")) },
			func() error { return decide(agent.Approve(p[0].ID)) },
			func() error { return w.hub.Cancel(t.Context(), w.session) },
			func() error {
				sent, err := w.hub.Send(t.Context(), agent.Input{User: user, Session: w.session, Supersede: true,
					Prompt: "What is on it?"})
				if err == nil && sent.Done != nil {
					<-sent.Done
				}
				return err
			},
		}
		var tabs sync.WaitGroup
		var approved, other error
		tabs.Go(func() { approved = decide(agent.Approve(p[0].ID)) })
		tabs.Go(func() { other = others[i%len(others)]() })
		tabs.Wait()
		require.False(t, approved != nil && other != nil, "%v, %v", approved, other)
		session := w.hub.Agent().Session(w.session)
		// A cancellation may end the decision and not the run, which asks as before then.
		gone := approved == nil || other == nil && i%len(others) != 2
		for range w.hub.Watch(t.Context(), w.session, 0) { // until nothing is in progress
			res, err := session.Result(t.Context())
			require.NoError(t, err)
			if res.Status != agent.Running && (res.Status != agent.Paused || len(res.Pending) > 0 &&
				(res.Pending[0].ID != p[0].ID || !gone)) {
				break
			}
		}
		facts, err := session.Facts(t.Context())
		require.NoError(t, err)
		begun, allowed := 0, 0
		for _, f := range facts {
			switch f := f.(type) {
			case *agent.ToolStarted:
				begun++
			case *machine.Decided:
				if f.Decision.Kind == machine.Approved {
					allowed++
				}
			}
		}
		require.LessOrEqual(t, begun, allowed)
		require.LessOrEqual(t, begun, 1)
		require.Equal(t, begun == 1, w.changed())
		require.NoError(t, w.site.Seed(t.Context()))
		w.before, err = wholeSite(t.Context(), w.site)
		require.NoError(t, err)
	}
}

// A prohibition that comes while the model is at work holds for what it does next.
func TestAProhibitionThatComesDuringARunHolds(t *testing.T) {
	t.Parallel()
	w := newTroubled(t, func(context.Context) string { return "requests" })
	asked, sent, first := make(chan int), make(chan int), sync.Once{}
	w.asked = func() {
		first.Do(func() {
			close(asked)
			<-sent
		})
	}
	w.open()
	started := w.start()
	<-asked
	out, err := w.hub.Send(t.Context(), agent.Input{User: user, Session: w.session, Prompt: "Don't change anything!"})
	require.NoError(t, err)
	require.True(t, out.Steered)
	close(sent)
	<-started.Done
	require.False(t, w.changed())
}
