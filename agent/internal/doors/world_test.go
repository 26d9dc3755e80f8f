package doors

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A world has a session "s" of ann's that waits for a decision on a refund. Only a manager may
// decide on it, and not who started the run. Ann and bob are managers.
type world struct {
	t     *testing.T
	store journal.Store
	agent *agent.Agent
	hub   *live.Hub
	owner string // of the session

	mu      sync.Mutex // guards what follows
	down    bool       // nobody's roles are known
	asked   []string   // the sessions that roles were asked for
	refunds int
}

var errDown = errors.New("the database doesn't answer")

func (w *world) roles(_ context.Context, session, user string) ([]string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = append(w.asked, session)
	switch {
	case w.down:
		return nil, errDown
	case slices.Contains([]string{"ann", "bob"}, user):
		return []string{"manager"}, nil
	}
	return nil, nil
}

func (w *world) setDown(down bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.down = down
}

func (w *world) paid() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.refunds
}

// An amount is the input of the tool.
type amount struct {
	Cents int `json:"cents"`
}

// refund returns the tool.
func (w *world) refund() tools.Tool {
	return tools.New(tools.Spec{Name: "refund", Approvers: []string{"manager"}, NotSelf: true},
		func(context.Context, amount) (string, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.refunds++
			return "refunded", nil
		})
}

func newWorld(t *testing.T) *world { return &world{t: t, store: &journal.MapStore{}, owner: "ann"} }

// use gives the world its agent, and a hub that resumes nothing by itself.
func (w *world) use(cfg agent.Config) *world {
	w.t.Helper()
	cfg.Name, cfg.Journal, cfg.Roles = "desk", w.store, w.roles
	if cfg.Provider == nil {
		cfg.Tools = append(cfg.Tools, w.refund())
		cfg.Provider = providertest.Script(providertest.Call("refund", amount{500}), providertest.Say("Done."))
	}
	var err error
	w.agent, err = agent.New(cfg)
	require.NoError(w.t, err)
	w.hub, err = live.New(live.Config{Agent: w.agent, Recover: -1})
	require.NoError(w.t, err)
	w.t.Cleanup(func() { require.NoError(w.t, w.hub.Close()) })
	return w
}

// ask has ann ask for the refund, so that the session waits.
func (w *world) ask() *world {
	w.t.Helper()
	_, err := w.agent.Run(w.t.Context(), agent.Input{Session: "s", Prompt: "Refund it.", User: "ann", Owner: w.owner})
	require.ErrorAs(w.t, err, new(*agent.PausedError))
	return w
}

// open returns what the session waits for; nil if it waits for nothing.
func (w *world) open() *agent.Pause {
	w.t.Helper()
	pending, err := w.agent.Session("s").Pending(w.t.Context())
	require.NoError(w.t, err)
	if len(pending) == 0 {
		return nil
	}
	require.Len(w.t, pending, 1)
	return &pending[0]
}

// goOn resumes the session, as live.Hub and workers do in time.
func (w *world) goOn() {
	w.t.Helper()
	for range 20 {
		if n, err := w.agent.Recover(w.t.Context(), agent.Recovery{}); n == 0 || err != nil {
			require.NoError(w.t, err)
			return
		}
	}
	w.t.Fatal("the session is resumed again and again")
}

// An outcome is what a door says at once.
type outcome string

const (
	taken     outcome = "taken"
	forbidden outcome = "forbidden" // this person may not
	later     outcome = "later"     // it isn't known now; the person tries again
)

func outcomeOf(t *testing.T, err error) outcome {
	t.Helper()
	var refused *agent.DecisionError
	switch {
	case err == nil:
		return taken
	case errors.As(err, new(*agent.RolesError)):
		return later
	case errors.As(err, &refused) && refused.Code == machine.DecisionForbidden:
		return forbidden
	}
	require.NoError(t, err)
	return ""
}
