package team

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A fixture is a team with one member, the librarian, and the hub of its lead.
type fixture struct {
	t               *testing.T
	team            *Team
	lead, librarian *live.Hub
	store           journal.Store // of both
	stop            func()
	gate            chan struct{}   // what waits ends when it is closed
	mu              sync.Mutex      // guards what follows
	pulse           chan struct{}   // what waits now ends when it is closed
	borrowed        chan<- struct{} // has an entry for each item that was borrowed
}

// options are what a test changes of the fixture.
type options struct {
	lead, librarian agent.Config
	team            Config
	own             journal.Store // of the librarian; nil: the lead's
}

// model is a model that answers what a function says, of the newest message of a user and the
// messages after it.
func model(answer func(prompt string, since []provider.Message) providertest.Step) provider.Provider {
	return providertest.Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
		last := 0
		for i := range req.Messages {
			if req.Messages[i].Role == provider.RoleUser {
				last = i
			}
		}
		return answer(req.Messages[last].Text(), req.Messages[last+1:]).Response(), nil
	})
}

// guide is the model of a lead: it starts a piece of work for each word of a prompt that begins
// with "start", and takes note of reports.
func guide(prompt string, since []provider.Message) providertest.Step {
	words := strings.Fields(prompt)
	switch {
	case strings.HasPrefix(prompt, "The program says"):
		return providertest.Say("Noted.")
	case len(since) == 0 && words[0] == "wait":
		return providertest.Call("wait", item{"lead"})
	case len(since) == 0 && strings.HasPrefix(words[0], "team."):
		id, text, _ := strings.Cut(strings.Join(words[1:], " "), " ")
		return providertest.Call(words[0], input{id, text})
	case len(since) > 0 || words[0] != "start":
		return providertest.Say("Well.")
	}
	var calls []providertest.CallSpec
	for _, word := range words[1:] {
		calls = append(calls, providertest.CallSpec{Tool: toolStart, Input: startInput{"librarian", word}})
	}
	return providertest.Calls(calls...)
}

// reader is the model of a member: it answers with its task. It borrows what it is to borrow, and
// waits where it is to wait, before that.
func reader(prompt string, since []provider.Message) providertest.Step {
	if what, _, _ := strings.Cut(prompt, "-"); len(since) == 0 && (what == "borrow" || what == "wait") {
		return providertest.Call(what, item{prompt})
	}
	return providertest.Say("Found " + prompt + ".")
}

type item struct {
	Name string `json:"name"`
}

func newFixture(t *testing.T, o options) *fixture {
	t.Helper()
	f := &fixture{t: t, store: o.lead.Journal, gate: make(chan struct{}), pulse: make(chan struct{}),
		borrowed: make(chan struct{}, 1000)}
	if f.store == nil {
		f.store = &journal.MapStore{}
	}
	hub := func(cfg agent.Config, model provider.Provider) *live.Hub {
		if cfg.Journal == nil {
			cfg.Journal = f.store
		}
		if cfg.Provider == nil {
			cfg.Provider = model
		}
		a, err := agent.New(cfg)
		require.NoError(t, err)
		h, err := live.New(live.Config{Agent: a})
		require.NoError(t, err)
		return h
	}
	o.librarian.Tools = append(o.librarian.Tools,
		tools.New(tools.Spec{Name: "borrow", Approval: tools.AskAlways},
			func(_ context.Context, in item) (string, error) {
				f.borrowed <- struct{}{}
				return "borrowed " + in.Name, nil
			}), f.waits())
	o.librarian.Journal = o.own
	f.librarian = hub(o.librarian, model(reader))
	o.team.Members = map[string]Member{"librarian": {Hub: f.librarian, About: "finds things"}}
	var err error
	f.team, err = New(o.team)
	require.NoError(t, err)
	o.lead.Tools = append(append(o.lead.Tools, f.team.Tools()...), f.waits())
	f.lead = hub(o.lead, model(guide))
	return f
}

// waits is a tool that waits for the gate.
func (f *fixture) waits() tools.Tool {
	return tools.New(tools.Spec{Name: "wait", Timeout: time.Hour, Idempotent: true, NoRetries: true},
		func(ctx context.Context, _ item) (string, error) {
			f.mu.Lock()
			pulse := f.pulse
			f.mu.Unlock()
			select {
			case <-f.gate:
				return "waited", nil
			case <-pulse:
				return "waited", nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		})
}

// letGo ends what waits now.
func (f *fixture) letGo() {
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.pulse)
	f.pulse = make(chan struct{})
}

// run runs the team until stop is called, or the test ends.
func (f *fixture) run() *fixture {
	ctx, cancel := context.WithCancel(f.t.Context())
	done := make(chan error, 1)
	go func() { done <- f.team.Run(ctx, f.lead) }()
	stopped := false
	f.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		require.NoError(f.t, <-done)
	}
	return f
}

// close ends the team and both hubs.
func (f *fixture) close() {
	f.stop()
	require.NoError(f.t, f.lead.Close())
	require.NoError(f.t, f.librarian.Close())
}

// passes lets some time pass.
func passes() {
	time.Sleep(10 * time.Second)
	synctest.Wait()
}

// status returns the status of a session of the journal, and what it waits for.
func (f *fixture) status(session string) (agent.Status, []journal.Open) {
	f.t.Helper()
	h, err := f.store.Head(f.t.Context(), session)
	require.NoError(f.t, err)
	return agent.Status(h.Status), h.Open
}

// say sends a prompt to a conversation and waits until all is quiet.
func (f *fixture) say(session, prompt string) {
	f.t.Helper()
	_, err := f.lead.Start(f.t.Context(), agent.Input{Session: session, Prompt: prompt})
	require.NoError(f.t, err)
	synctest.Wait()
}

// reports returns the reports in a conversation.
func (f *fixture) reports(session string) (list []string) {
	f.t.Helper()
	messages, err := f.lead.Agent().Session(session).Messages(f.t.Context())
	require.NoError(f.t, err)
	for i := range messages {
		text := messages[i].Text()
		if messages[i].Role == provider.RoleUser && strings.HasPrefix(text, "The program says") {
			list = append(list, text)
		}
	}
	return list
}

// open returns the work of a conversation that it wasn't told of.
func (f *fixture) open(session string) []Work {
	f.t.Helper()
	list, err := f.team.Open(f.t.Context(), session)
	require.NoError(f.t, err)
	return list
}

// told returns the work of a conversation that it was told of.
func (f *fixture) told(session string) []Work {
	f.t.Helper()
	list, err := f.team.list(f.t.Context(), journal.Filter{Parent: session, Label: agent.Label(labelWork, reported)})
	require.NoError(f.t, err)
	return list
}

// goroutines returns how many there are, when all is quiet.
func goroutines() int {
	synctest.Wait()
	return runtime.NumGoroutine()
}

// noted is the function of a tool that only takes note.
func noted(context.Context, item) (string, error) { return "noted", nil }

// beforeInput returns a hook that checks texts from outside.
func beforeInput(check func(text string) error) func(context.Context, *agent.IncomingText) error {
	return func(_ context.Context, in *agent.IncomingText) error { return check(in.Text) }
}

// logs returns how many sessions the journal has.
func (f *fixture) logs() (n int) {
	for _, err := range f.store.Heads(f.t.Context(), journal.Filter{}) {
		require.NoError(f.t, err)
		n++
	}
	return n
}

// bubble runs a test with fake time.
func bubble(t *testing.T, o options, test func(*testing.T, *fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, o).run()
		defer f.close()
		test(t, f)
	})
}
