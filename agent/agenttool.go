package agent

import (
	"cmp"
	"context"
	"maps"
	"strconv"
	"time"

	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/internal/work"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/tools"
)

// An openCall is a call of a subagent that was started and has no result.
type openCall struct {
	id    string
	child *Agent
}

// openChildren returns the calls of subagents in a run that were started and have no result.
func (a *Agent) openChildren(r *machine.RunState) (open []openCall) {
	for i := range r.Calls {
		c := &r.Calls[i]
		if t := a.children[c.Call.Name]; t != nil && c.Started && c.Status != machine.CallDone {
			open = append(open, openCall{c.Call.ID, t.child})
		}
	}
	return open
}

const (
	// childPrefix begins the names of subagents' sessions. The id of the call follows, then a hash
	// of the session that made it, because a fork has the same calls.
	childPrefix = machine.ChildPrefix
	// childTimeout is the default time limit of a call.
	childTimeout = 30 * time.Minute
)

// An agentTool is a tool whose calls are runs of a subagent.
type agentTool struct {
	child *Agent
	spec  tools.Spec
	run   func(context.Context, Task) (tools.Result, error)
}

// A Task is the input of a call of a subagent: see [AsTool].
type Task struct {
	Task string `json:"task" jsonschema:"What to do, with all that is needed to know: nothing else of this conversation is seen."`
}

// A parentCall is the call that a subagent's run belongs to.
type parentCall struct {
	id       string
	trace    string
	account  string // the outermost session
	depth    int
	leg      *legState   // that the run is driven for which has made the call; nil without one
	drains   func() bool // whether the agent of the run that has made the call is being drained, or one above it
	halt     context.Context
	answers  []Decision // on what the subagent's run waits for
	spending *spending  // of the subagent's run
}

// account returns the session that model calls are made for: the outermost.
func (l *sessionLog) account() string {
	if l.parent != nil {
		return l.parent.account
	}
	return l.Name
}

// Define implements tools.Tool.
func (t *agentTool) Define() (*tools.Definition, error) {
	if t.child == nil || t.child.registry == nil {
		return nil, &tools.SpecError{Tool: t.spec.Name, Problem: "the Agent is nil or empty; make one with agent.New"}
	}
	spec := t.spec
	spec.Name = cmp.Or(spec.Name, t.child.cfg.Name)
	spec.Description = cmp.Or(spec.Description,
		"Gives a task to the agent "+spec.Name+", which works on it and reports back.")
	spec.Timeout = cmp.Or(spec.Timeout, childTimeout)
	spec.Idempotent, spec.Progress, spec.Inline = true, true, false // the child's journal repeats nothing
	// The child's model and tools have breakers and retries of their own.
	spec.NoBreaker, spec.Resource, spec.NoRetries, spec.Retries = true, "", true, nil
	return tools.New(spec, t.run).Define()
}

// adopt registers the tools that own work, among them subagents.
func (a *Agent) adopt(list []tools.Tool) []tools.Tool {
	for _, tool := range list {
		inner := unwrapped(tool)
		owner, ok := inner.(work.Owner)
		t, isAgent := owner.(*agentTool)
		if !ok || isAgent && t == nil {
			continue
		}
		var d *tools.Definition
		err := contained(func() (err error) {
			d, err = inner.Define() // a wrapper keeps its name
			return err
		})
		if err != nil || d == nil { // New says so
			continue
		}
		if a.owners == nil {
			a.children, a.owners = make(map[string]*agentTool), make(map[string]work.Owner)
		}
		if isAgent {
			t = t.in(a)
			a.children[d.Name()], owner = t, t
		}
		a.owners[d.Name()] = owner
	}
	return list
}

// in returns t as a tool of parent: a child without a journal uses the parent's.
func (t *agentTool) in(parent *Agent) *agentTool {
	if t.child.cfg.Journal != nil {
		return t
	}
	child := &Agent{setup: t.child.setup}
	stored := parent.sessions.Config
	stored.Redact, stored.Logger, stored.Delete = child.redact, child.logger, child.deleteOwn
	child.sessions = session.New(stored)
	child.children, child.owners = maps.Clone(child.children), maps.Clone(child.owners)
	for name, grandchild := range child.children {
		own := grandchild.in(child)
		child.children[name], child.owners[name] = own, own
	}
	return &agentTool{child, t.spec, t.run}
}

// childSession returns the name of the session that belongs to a call in a session.
func childSession(session, call string) string {
	return childPrefix + call + "@" + strconv.FormatUint(machine.Hash(session), 36)
}
