package approvals_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/approvals"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A Page is the input of the tools in these tests.
type Page struct {
	ID string `json:"id"`
}

// effects notes what tools did: the ids of pages, in order.
type effects struct {
	mu  sync.Mutex
	ids []string
}

func (e *effects) tool(spec tools.Spec) tools.Tool {
	return tools.New(spec, func(_ context.Context, in Page) (string, error) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.ids = append(e.ids, in.ID)
		return in.ID + " is gone", nil
	})
}

func (e *effects) done() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]string{}, e.ids...)
}

// remove is a tool that asks; touch asks too, but may be allowed for good.
var (
	remove = tools.Spec{Name: "cms.remove", Risk: tools.High}
	touch  = tools.Spec{Name: "cms.touch", Approval: tools.AskAlways}
)

func call(tool, id string) providertest.Step { return providertest.Call(tool, Page{id}) }

func calls(tool string, ids ...string) providertest.Step {
	var specs []providertest.CallSpec
	for _, id := range ids {
		specs = append(specs, providertest.CallSpec{Tool: tool, Input: Page{id}})
	}
	return providertest.Calls(specs...)
}

func say(text string) providertest.Step { return providertest.Say(text) }

// A desk is where people decide on what one agent, named "cms", waits for.
type desk struct {
	approvals.Inbox
	t    *testing.T
	done effects
	cfg  agent.Config
	a    *agent.Agent
}

func newDesk(t *testing.T, cfg agent.Config, steps ...providertest.Step) *desk {
	d := &desk{t: t, cfg: cfg}
	d.Store = &journal.MapStore{}
	d.cfg.Name = "cms"
	if d.cfg.Tools == nil {
		d.cfg.Tools = []tools.Tool{d.done.tool(remove), d.done.tool(touch)}
	}
	d.restart(steps...)
	return d
}

// restart lets another process take over: a new agent over the same store.
func (d *desk) restart(steps ...providertest.Step) {
	d.t.Helper()
	d.cfg.Provider, d.cfg.Journal = providertest.Script(steps...), d.Store
	a, err := agent.New(d.cfg)
	require.NoError(d.t, err)
	d.a, d.Agents = a, map[string]*agent.Agent{"cms": a}
}

// run runs a prompt in a session and returns what it waits for then.
func (d *desk) run(session string) []agent.Pause {
	d.t.Helper()
	res, err := d.a.Run(d.t.Context(), agent.Input{Session: session, Prompt: "Tidy up.", User: "bob"})
	if err != nil {
		require.ErrorAs(d.t, err, new(*agent.PausedError))
	}
	return res.Pending
}

// decide decides on an item.
func (d *desk) decide(session string, dec agent.Decision) error {
	d.t.Helper()
	item, err := d.Find(d.t.Context(), session, dec.ID, 0)
	require.NoError(d.t, err)
	return d.Decide(d.t.Context(), item, dec.By("ann"))
}

// inbox returns how much was sent to a session that it hasn't read.
func (d *desk) inbox(session string) int {
	d.t.Helper()
	h, err := d.Store.Head(d.t.Context(), session)
	require.NoError(d.t, err)
	return h.Inbox
}
