package crew

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/plan"
	"github.com/pawlkit/pawl/agent/policy"
	"github.com/pawlkit/pawl/agent/team"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// lease is how long a session belongs to a process that has died.
const lease = 4 * time.Second

// grace is how long work in progress has when the program ends: it goes on with the next start.
const grace = 500 * time.Millisecond

// A Config configures a [Crew]. All but Event, Changed and Logger are required.
type Config struct {
	Place   *Place
	Journal journal.Store
	// Guide, Librarian, Engineer and Tester are the models.
	Guide, Librarian, Engineer, Tester provider.Provider
	// Event is called for each event of the steps of plans: see [plan.Config].
	Event func(node string, ev agent.Event)
	// Changed, if it isn't nil, is called when a run of the guide, or of the librarian in the
	// background, has ended or paused.
	Changed func()
	Logger  *slog.Logger // nil: nothing is logged
}

// A Crew is the team. Make one with [New], and call Run.
type Crew struct {
	Place *Place
	Hub   *live.Hub    // the guide's conversations
	Plans *plan.Runner // of all conversations

	cfg         Config
	copies      *copies
	permissions *policy.Set
	library     *live.Hub // of the librarian in the background
	team        *team.Team
}

// New makes the team. It does nothing before [Crew.Run].
func New(cfg Config) (*Crew, error) {
	c := &Crew{Place: cfg.Place, cfg: cfg, copies: &copies{place: cfg.Place, open: make(map[string]*workcopy)}}
	if err := c.makeAgents(); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// hooks have the host told when a run has ended.
func (c *Crew) hooks() []agent.Hooks {
	return []agent.Hooks{{Name: "changed", Observer: true, AfterRun: func(context.Context, *agent.Result) error {
		if c.cfg.Changed != nil {
			c.cfg.Changed()
		}
		return nil
	}}}
}

// file returns the path of a file that the team keeps.
func (c *Crew) file(name string) string { return filepath.Join(c.Place.State, name) }

// Run drives plans and what is done in the background until ctx ends. Nothing is lost then: the
// next process goes on.
func (c *Crew) Run(ctx context.Context) {
	var all sync.WaitGroup
	defer all.Wait()
	all.Go(func() { c.Plans.Serve(ctx) })
	all.Go(func() { _ = c.team.Run(ctx, c.Hub) }) // its error is a mistake in New
}

// Close ends the hub and releases the staging copies. Call it after Run has returned.
func (c *Crew) Close() error {
	return errors.Join(c.Hub.Close(), c.library.Close(), c.copies.close())
}

// A planNode is a node of a plan that is submitted.
type planNode struct {
	ID, Worker, Prompt string
	Checks             []string
}

func nodesOf(input json.RawMessage) []planNode {
	var in struct{ Nodes []planNode }
	_ = json.Unmarshal(input, &in) // plan.submit says what is wrong
	return in.Nodes
}

// before merges what a person has accepted as it is, before a step begins that needs it.
func (c *Crew) before(node *plan.Node, in *agent.Input) {
	for _, id := range node.After {
		if err := c.mergeLeft(context.Background(), in.Pipeline, id); err != nil && c.cfg.Logger != nil {
			c.cfg.Logger.Error("team: a step that was accepted as it is can't be merged", "step", id, "error", err)
		}
	}
}

// mergeLeft merges a step that has ended and isn't merged: its checks didn't count.
func (c *Crew) mergeLeft(ctx context.Context, run, node string) error {
	w, err := c.copies.of(plan.SessionOf(run, 0, node))
	if err != nil || !w.unmerged() {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	conflict, err := w.merge(ctx)
	if err == nil && conflict != "" {
		err = errors.New(conflict)
	}
	return err
}

// finishing wraps the tools of plans: when a plan has completed, all that was accepted is merged,
// and the guide reads what the program has printed.
func (c *Crew) finishing(list []tools.Tool) []tools.Tool {
	for i, t := range list {
		list[i] = tools.Wrap(t, func(ctx context.Context, in json.RawMessage, next tools.Runner) (tools.Result, error) {
			res, err := next(ctx, in)
			call, _ := tools.CallOf(ctx)
			run, s, _ := c.planOf(ctx, call.Session)
			if err != nil || s == nil || s.Status != plan.Completed {
				return res, err
			}
			for i := range s.Nodes {
				if n := &s.Nodes[i]; n.Status == plan.NodeDone || n.Status == "waived" {
					err = errors.Join(err, c.mergeLeft(ctx, run, n.Node.ID))
				}
			}
			if sum, failed := c.Done(ctx, run); failed == nil && sum != nil && sum.Command != "" && err == nil {
				text := provider.TextPart(fmt.Sprintf("The program was tried:\n```\n$ %s\n%s\n```", sum.Command,
					strings.TrimSpace(sum.Output)))
				res.Parts = append(res.Parts, text)
			}
			return res, err
		})
	}
	return list
}

// planOf returns the newest plan of a conversation; an empty name if it has none.
func (c *Crew) planOf(ctx context.Context, session string) (run string, s *plan.State, err error) {
	var newest time.Time
	for h, err := range c.cfg.Journal.Heads(ctx, journal.Filter{Kind: "plan", Parent: session}) {
		if err != nil {
			return "", nil, err
		}
		if h.Created.After(newest) || run == "" {
			run, newest = h.Session, h.Created
		}
	}
	if run == "" {
		return "", nil, nil
	}
	s, err = c.Plans.State(ctx, run)
	return run, s, err
}

// labelBeside names, in conversations beside a plan, the conversation of the plan.
const labelBeside = "beside"

// about returns the conversation that a call of the guide is about: its own, or that beside which
// it is.
func about(ctx context.Context) string {
	call, ok := tools.CallOf(ctx)
	if !ok {
		return ""
	}
	if other := call.Labels.Map()[labelBeside]; other != "" {
		return other
	}
	return call.Session
}

// workTools returns the tools with which the guide says how far the team is, stops it, and undoes
// what it has done.
func (c *Crew) workTools() []tools.Tool {
	type nothing struct{}
	return []tools.Tool{
		tools.New(tools.Spec{Name: "work.status", ReadOnly: true, NoBreaker: true, Polls: true,
			Description: "Says how far the plan of this conversation is."},
			func(ctx context.Context, _ nothing) (string, error) {
				_, s, err := c.planOf(ctx, about(ctx))
				if err != nil || s == nil {
					return "Nothing is at work, and nothing was built in this conversation yet.", err
				}
				return c.statusText(ctx, s), nil
			}),
		tools.New(tools.Spec{Name: "work.stop", Idempotent: true, NoBreaker: true, Risk: tools.Medium,
			Description: "Stops the plan that is at work. What its steps have written stays, and work.undo takes it back. " +
				"Only if the person says so."},
			func(ctx context.Context, _ nothing) (string, error) {
				err := c.Hub.Cancel(ctx, about(ctx))
				if errors.Is(err, agent.ErrNothingOpen) {
					return "Nothing is at work.", nil
				}
				return "The work stops. What its finished steps have written stays; “undo everything” takes it back.", err
			}),
		tools.Func[nothing, string]{
			Spec: tools.Spec{Name: "work.undo", Idempotent: true, NoBreaker: true, Risk: tools.Medium,
				Approval: tools.AskAlways, Timeout: 2 * time.Minute,
				Description: "Undoes all that the newest plan of this conversation has written."},
			Title: func(context.Context, nothing) string { return "Undo everything that the newest plan has written" },
			Run: func(ctx context.Context, _ nothing) (string, error) {
				run, s, err := c.planOf(ctx, about(ctx))
				if err != nil || s == nil || !mayStay(s) {
					return "There is nothing to undo.", err
				}
				err = c.Plans.Undo(ctx, run)
				if err != nil && !errors.Is(err, agent.ErrCannotUndo) {
					return "", err
				}
				if s, err = c.Plans.State(ctx, run); err != nil {
					return "", err
				}
				return undoneText(s), nil
			},
		},
	}
}

// written returns the steps of a plan that has ended whose work is in the directory.
func written(s *plan.State) (steps []*plan.NodeState) {
	if s.Status != plan.Completed && s.Status != plan.Canceled {
		return nil // it is at work, or was undone
	}
	for i := range s.Nodes {
		if n := &s.Nodes[i]; (n.Status == plan.NodeDone || n.Status == "waived") && !n.Undone {
			steps = append(steps, n)
		}
	}
	return steps
}

// mayStay reports whether a plan that has ended may have left something, be it a part of a step.
func mayStay(s *plan.State) bool {
	return (s.Status == plan.Completed || s.Status == plan.Canceled) &&
		slices.ContainsFunc(s.Nodes, func(n plan.NodeState) bool { return n.Attempts > 0 && !n.Undone })
}

// undoneText says what came back, and then what stays.
func undoneText(s *plan.State) string {
	var back, stays []string
	for i := range s.Nodes {
		switch n := &s.Nodes[i]; {
		case n.Undone:
			back = append(back, n.Node.ID)
		case n.Left != "":
			stays = append(stays, fmt.Sprintf("%s (%s)", n.Node.ID, n.Left))
		}
	}
	if len(stays) == 0 {
		return "All files are as they were before the plan."
	}
	text := "This stays: " + strings.Join(stays, "; ") + "."
	if len(back) > 0 {
		text = "Undone: " + strings.Join(back, ", ") + ". " + text
	}
	return text
}

// waits is how a step or other work stands that waits for a person.
const waits = "waits for a permission"

// statusText says how far a plan is.
func (c *Crew) statusText(ctx context.Context, s *plan.State) string {
	o := s.Overview()
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d of %d steps are done.", o.Title, o.Done, len(o.Steps))
	for i := range s.Nodes {
		n := &s.Nodes[i]
		status := string(n.Status)
		if head, err := c.cfg.Journal.Head(ctx, plan.SessionOf(s.Run, s.Current, n.Node.ID)); err == nil &&
			n.Status == "running" && len(head.Open) > 0 && head.Inbox == 0 {
			status = waits
		}
		fmt.Fprintf(&b, "\n- %s (%s): %s", n.Node.ID, n.Node.Worker, status)
		if n.Status == "running" && n.Round > 1 {
			fmt.Fprintf(&b, ", round %d of %d", n.Round, n.Rounds)
		}
	}
	return b.String()
}
