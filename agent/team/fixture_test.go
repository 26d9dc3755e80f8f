package team

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

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
}

// options are what a test changes of the fixture.
type options struct {
	lead, librarian agent.Config
	team            Config
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
	case len(since) > 0 || words[0] != "start":
		return providertest.Say("Well.")
	}
	var calls []providertest.CallSpec
	for _, word := range words[1:] {
		calls = append(calls, providertest.CallSpec{Tool: toolStart, Input: startInput{"librarian", word}})
	}
	return providertest.Calls(calls...)
}

// reader is the model of a member: it answers with its task.
func reader(prompt string, _ []provider.Message) providertest.Step {
	return providertest.Say("Found " + prompt + ".")
}

func newFixture(t *testing.T, o options) *fixture {
	t.Helper()
	f := &fixture{t: t, store: o.lead.Journal}
	if f.store == nil {
		f.store = journal.NewMemory()
	}
	hub := func(cfg agent.Config, model provider.Provider) *live.Hub {
		cfg.Journal = f.store
		if cfg.Provider == nil {
			cfg.Provider = model
		}
		a, err := agent.New(cfg)
		require.NoError(t, err)
		h, err := live.New(live.Config{Agent: a})
		require.NoError(t, err)
		return h
	}
	f.librarian = hub(o.librarian, model(reader))
	o.team.Members = map[string]Member{"librarian": {Hub: f.librarian, About: "finds things"}}
	var err error
	f.team, err = New(o.team)
	require.NoError(t, err)
	o.lead.Tools = append(o.lead.Tools, f.team.Tools()...)
	f.lead = hub(o.lead, model(guide))
	return f
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

var _ = tools.Text
