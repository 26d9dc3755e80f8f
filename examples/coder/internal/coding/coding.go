package coding

import (
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/plan"
	"github.com/pawlkit/pawl/agent/policy"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/memory/recall"
	"github.com/pawlkit/pawl/memory/sqlmemory"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/file"
	"github.com/pawlkit/pawl/tools/process"
)

// Lease is how long a session stays with a process that has died.
const Lease = 4 * time.Second

// A Config says what a Coder works on. Dir, DB and Model are required.
type Config struct {
	Dir string // the folder, which exists
	// DB is the file for conversations, outside of Dir. Other files whose names begin with it have
	// what is needed for undo, and what was permitted for good.
	DB      string
	Model   provider.Provider
	Rules   string   // a file of rules, as policy.Parse reads them; empty: those that are built in
	Own     []string // files, such as that of Rules, that must be outside of Dir
	Servers []Server // of MCP
	Jail    string   // "", JailTry or JailMust
	// Recover resumes what was left open by processes that have died, also what nobody looks at.
	Recover bool
	Logger  *slog.Logger // nil: nothing is logged
}

// A Coder is the agent in one folder. Its methods may be called from several goroutines.
type Coder struct {
	Config      // its Dir and DB are absolute, and its Dir is without links
	Hub         *live.Hub
	Plans       *plan.Runner
	Permissions *policy.Set
	NoJail      string   // why programs run without a jail that was asked for; "": they don't
	Notes       []string // what people should know at the start, such as that there is no go command

	store  *sqlite.Store
	memory *sqlmemory.Store // todo lists, and what a compaction has removed
	files  *file.Workspace
	jail   *process.Jail // nil: programs run without one
	book   policy.Book
	// ownRules says that there are other rules than those that are built in.
	ownRules bool
	summary  *memory.Summarise
	servers  []*server
	told     func() string // what the agent is told about the folder
	closers  []func() error
}

// tenant is whose the memory is: that of everybody who works in the folder.
const tenant = "coder"

//go:embed prompt.txt
var prompt string

// Limits of a run. Tokens and Cost hold for all that it starts, such as the steps of a plan. The
// person hasn't asked for a limit of cost, so a model whose price isn't known works, too: the line
// of the state says that the cost is unknown.
var limits = agent.Limits{Steps: 100, Tokens: 10_000_000, Cost: 5 * provider.USD, AllowUnknownPrices: true,
	Duration: time.Hour}

// Open makes a Coder, which connects to nothing and runs no program yet.
func Open(cfg Config) (c *Coder, err error) {
	c = &Coder{Config: cfg}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
		}
	}()
	if err := c.place(); err != nil {
		return c, err
	}
	if err := c.tryJail(); err != nil {
		return c, err
	}
	if err := c.permit(); err != nil {
		return c, err
	}
	if c.store, err = sqlite.Open(c.DB, sqlite.Config{}); err == nil {
		c.closers = append(c.closers, c.store.Close)
		c.memory, err = sqlmemory.Open(c.DB, sqlmemory.Config{})
	}
	if err != nil {
		return c, fmt.Errorf("%w; choose another file with -db", err)
	}
	c.closers = append(c.closers, c.memory.Close)
	list, err := c.tools()
	if err != nil {
		return c, err
	}
	if c.summary, err = memory.NewSummarise(memory.Summary{Provider: cfg.Model}); err != nil {
		return c, err
	}
	calls, err := c.agent("coder-calls", list)
	worker, err2 := c.agent("coder-steps", list)
	if err := errors.Join(err, err2); err != nil {
		return c, err
	}
	c.Plans, err = plan.New(plan.Config{Agent: calls, Workers: map[string]*agent.Agent{"coder": worker},
		AskOnFailure: true, Lease: Lease, Logger: cfg.Logger,
		Input: func(n *plan.Node, in *agent.Input) { in.Mode = string(policy.Edits) }})
	if err != nil {
		return c, err
	}
	list = append(append(list, agent.AskTool()), plan.Tools(c.Plans)...)
	c.checkRules(list)
	main, err := c.agent("coder", list, c.planned())
	if err != nil {
		return c, err
	}
	every := map[bool]time.Duration{true: time.Second, false: -1}[cfg.Recover]
	c.Hub, err = live.New(live.Config{Agent: main, Recover: every, Drain: 3 * time.Second, Logger: cfg.Logger})
	if err == nil {
		c.closers = append(c.closers, c.Hub.Close)
	}
	return c, err
}

// agent makes an agent.
func (c *Coder) agent(name string, list []tools.Tool, hooks ...agent.Hooks) (*agent.Agent, error) {
	cfg := agent.Config{Name: name, Provider: c.Model, Instructions: prompt, Tools: list, Limits: limits,
		Modes: modes(c.Permissions), Policies: []tools.Policy{c.Permissions.Policy(), possible},
		Hooks: append(hooks, c.Permissions.Hooks(), c.hiding()), Journal: c.store, Lease: Lease,
		Owner: fmt.Sprintf("%d %s %s", os.Getpid(), name, rand.Text()),
		Memory: &agent.Memory{Config: memory.Config{ResultShare: .1, Steps: memory.DefaultSteps(c.summary)},
			Stores: func(session string) memory.Store {
				return c.memory.Texts(recall.Scope{Tenant: tenant, Session: session})
			},
			Context: func(context.Context, agent.ContextInput) (memory.Context, error) {
				return memory.Context{User: c.told()}, nil
			}},
		Logger: c.Logger}
	for _, s := range c.servers {
		cfg.Sources = append(cfg.Sources, s)
	}
	return agent.New(cfg)
}

// tools returns the tools that work in the folder.
func (c *Coder) tools() ([]tools.Tool, error) {
	run, err := c.programs()
	if err != nil {
		return nil, err
	}
	skills, err := c.skills()
	if err != nil {
		return nil, err
	}
	todo, err := recall.New(recall.Config{Store: c.memory, Scope: recall.OfCall(tenant)})
	if err != nil {
		return nil, err
	}
	list := slices.Concat(c.files.Tools(), run, skills, todo.Todo())
	for i, t := range list { // once for three agents
		if list[i], err = t.Define(); err != nil {
			return nil, err
		}
	}
	return list, c.connect()
}

// Last returns the newest session of the folder that isn't archived; "" if there is none.
func (c *Coder) Last(ctx context.Context) (agent.SessionInfo, error) {
	for info, err := range c.Hub.Agent().Sessions(ctx, agent.SessionFilter{Without: agent.Label("archived", "yes"),
		Limit: 1}) {
		return info, err
	}
	return agent.SessionInfo{}, nil
}

// Dead reports whether a run of a session is open, and the process that drove it has died.
func (c *Coder) Dead(ctx context.Context, session string) bool {
	head, err := c.store.Head(ctx, session)
	var pid int
	if err != nil || head.Status != string(agent.Running) {
		return false
	}
	_, err = fmt.Sscan(head.Owner, &pid)
	return err != nil || time.Now().After(head.Until) || !alive(pid)
}

// Close pauses what is in progress and releases everything.
func (c *Coder) Close() (err error) {
	for _, release := range slices.Backward(c.closers) {
		err = errors.Join(err, release())
	}
	return err
}

// beside returns the name of a file beside the conversations.
func (c *Coder) beside(name string) string { return c.DB + "-" + name }

// place finds the folder and opens it.
func (c *Coder) place() (err error) {
	if c.Dir, err = filepath.Abs(c.Dir); err == nil {
		c.Dir, err = filepath.EvalSymlinks(c.Dir)
	}
	if err != nil {
		return fmt.Errorf("%w; name a folder that exists with -dir", err)
	}
	if c.DB, err = filepath.Abs(c.DB); err != nil {
		return err
	}
	at := filepath.Dir(c.DB)
	if err := os.MkdirAll(at, 0o700); err != nil {
		return fmt.Errorf("%w; choose another file with -db", err)
	}
	for _, own := range append([]string{at}, c.Own...) {
		if err := c.outside(own); err != nil {
			return err
		}
	}
	return c.open()
}

// outside returns an error for a file or folder that the agent could change.
func (c *Coder) outside(own string) error {
	plain, err := filepath.Abs(own)
	if own == "" || err != nil {
		return err
	}
	real, err := filepath.EvalSymlinks(plain)
	for _, at := range []string{plain, real} {
		if rel, relErr := filepath.Rel(c.Dir, at); err == nil && relErr == nil && filepath.IsLocal(rel) {
			err = fmt.Errorf("%s isn't outside of %s, where the agent works; choose another place", own, c.Dir)
		}
	}
	return err
}
