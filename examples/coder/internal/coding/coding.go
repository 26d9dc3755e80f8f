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
	Jail    bool     // run programs in bubblewrap
	// Recover resumes what was left open by processes that have died, also what nobody looks at.
	Recover bool
	Logger  *slog.Logger // nil: nothing is logged
}

// A Coder is the agent in one folder. Its methods may be called from several goroutines.
type Coder struct {
	Dir         string // absolute, without links
	Hub         *live.Hub
	Plans       *plan.Runner
	Permissions *policy.Set
	Notes       []string // what people should know at the start, such as that there is no go command

	cfg     Config
	store   *sqlite.Store
	memory  *sqlmemory.Store // todo lists, and what a compaction has removed
	files   *file.Workspace
	book    policy.Book
	summary *memory.Summarise
	servers []*server
	told    func() string // what the agent is told about the folder
}

// tenant is whose the memory is: that of everybody who works in the folder.
const tenant = "coder"

//go:embed prompt.txt
var prompt string

// Limits of a run.
var limits = agent.Limits{Steps: 100, Cost: 5 * provider.USD, Duration: time.Hour}

// Open makes a Coder, which connects to nothing and runs no program yet.
func Open(cfg Config) (c *Coder, err error) {
	c = &Coder{cfg: cfg}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
		}
	}()
	if err := c.place(); err != nil {
		return c, err
	}
	if err := c.permit(); err != nil {
		return c, err
	}
	if c.store, err = sqlite.Open(c.cfg.DB); err == nil {
		c.memory, err = sqlmemory.Open(c.cfg.DB)
	}
	if err != nil {
		return c, fmt.Errorf("%w; choose another file with -db", err)
	}
	list, err := c.tools()
	if err != nil {
		return c, err
	}
	if c.summary, err = memory.NewSummarise(memory.Summary{Provider: cfg.Model}); err != nil {
		return c, err
	}
	calls, err := agent.New(c.agent("coder-calls", list))
	if err != nil {
		return c, err
	}
	worker, err := agent.New(c.agent("coder-steps", list))
	if err != nil {
		return c, err
	}
	c.Plans, err = plan.New(plan.Config{Agent: calls, Workers: map[string]*agent.Agent{"coder": worker},
		AskOnFailure: true, Lease: Lease, Logger: cfg.Logger,
		Input: func(n *plan.Node, in *agent.Input) { in.Mode = string(policy.Edits) }})
	if err != nil {
		return c, err
	}
	main := c.agent("coder", append(list, append(plan.Tools(c.Plans), agent.AskTool())...))
	main.Hooks = append(main.Hooks, c.planned())
	a, err := agent.New(main)
	if err != nil {
		return c, err
	}
	every := time.Duration(-1)
	if cfg.Recover {
		every = time.Second
	}
	c.Hub, err = live.New(live.Config{Agent: a, Recover: every, Drain: 3 * time.Second, Logger: cfg.Logger})
	return c, err
}

// agent is the configuration of an agent.
func (c *Coder) agent(name string, list []tools.Tool) agent.Config {
	cfg := agent.Config{Name: name, Provider: c.cfg.Model, Instructions: prompt, Tools: list, Limits: limits,
		Modes: modes(c.Permissions), Policies: []tools.Policy{c.Permissions.Policy(), possible},
		Hooks: []agent.Hooks{c.Permissions.Hooks(), c.hiding()}, Journal: c.store, Lease: Lease,
		Owner: fmt.Sprintf("%d %s %s", os.Getpid(), name, rand.Text()),
		Memory: &agent.Memory{Config: memory.Config{ResultShare: .1, Steps: memory.DefaultSteps(c.summary)},
			Stores: func(session string) memory.Store {
				return c.memory.Texts(recall.Scope{Tenant: tenant, Session: session})
			},
			Context: func(context.Context, agent.ContextInput) (memory.Context, error) {
				return memory.Context{User: c.told()}, nil
			}},
		Logger: c.cfg.Logger}
	for _, s := range c.servers {
		cfg.Sources = append(cfg.Sources, s)
	}
	return cfg
}

// tools returns the tools that work in the folder.
func (c *Coder) tools() ([]tools.Tool, error) {
	list := c.files.Tools()
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
	list = append(append(append(list, run...), skills...), todo.Todo()...)
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
	if c.Hub != nil {
		err = c.Hub.Close()
	}
	for _, s := range c.servers {
		err = errors.Join(err, s.Close())
	}
	if c.memory != nil {
		err = errors.Join(err, c.memory.Close())
	}
	if c.store != nil {
		err = errors.Join(err, c.store.Close())
	}
	if c.files != nil {
		err = errors.Join(err, c.files.Close())
	}
	return err
}

// beside returns the name of a file beside the conversations.
func (c *Coder) beside(name string) string { return c.cfg.DB + "-" + name }

// place finds the folder and opens it.
func (c *Coder) place() (err error) {
	if c.Dir, err = filepath.Abs(c.cfg.Dir); err == nil {
		c.Dir, err = filepath.EvalSymlinks(c.Dir)
	}
	if err != nil {
		return fmt.Errorf("%w; name a folder that exists with -dir", err)
	}
	if c.cfg.DB, err = filepath.Abs(c.cfg.DB); err != nil {
		return err
	}
	at := filepath.Dir(c.cfg.DB)
	if err := os.MkdirAll(at, 0o700); err != nil {
		return fmt.Errorf("%w; choose another file with -db", err)
	}
	for _, own := range append([]string{at}, c.cfg.Own...) {
		if err := c.outside(own); err != nil {
			return err
		}
	}
	return c.open()
}

// Model returns the model.
func (c *Coder) Model() provider.Provider { return c.cfg.Model }

// outside returns an error for a file or folder that the agent could change.
func (c *Coder) outside(own string) error {
	if own == "" {
		return nil
	}
	plain, err := filepath.Abs(own)
	if err != nil {
		return err
	}
	real, err := filepath.EvalSymlinks(plain)
	for _, at := range []string{plain, real} {
		if rel, relErr := filepath.Rel(c.Dir, at); err == nil && relErr == nil && filepath.IsLocal(rel) {
			err = fmt.Errorf("%s is inside %s, where the agent works; choose another place", own, c.Dir)
		}
	}
	return err
}

// DB returns the absolute path of the file for conversations.
func (c *Coder) DB() string { return c.cfg.DB }
