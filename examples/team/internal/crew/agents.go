package crew

import (
	"context"
	"embed"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/plan"
	"github.com/pawlkit/pawl/agent/policy"
	"github.com/pawlkit/pawl/agent/team"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// The modes of the guide.
const (
	modeTalk   = "talk"
	modePlan   = "plan"
	modeBeside = "beside" // of conversations beside a plan that is at work
)

//go:embed rules.json
var rules []byte

//go:embed prompts
var prompts embed.FS

// says returns what an agent is told about itself, or the guide about a mode.
func says(name string) string {
	text, _ := prompts.ReadFile("prompts/" + name + ".txt") // it is part of the program
	return string(text)
}

// makeAgents makes everybody.
func (c *Crew) makeAgents() (err error) {
	parsed, err := policy.Parse(rules)
	if err != nil {
		return err
	}
	c.permissions, err = policy.New(policy.Config{Rules: parsed, Book: policy.File(c.file("grants.json")),
		Project: func(*tools.Call) string { return c.Place.Dir },
		Mode:    func(*tools.Call) policy.Mode { return policy.Auto }})
	if err != nil {
		return err
	}
	run := c.Place.goTool("go", "Runs the go command in your copy of the directory: build, vet, test, run, doc, list.",
		func(ctx context.Context) (string, error) {
			w, err := c.copies.ownCopy(ctx)
			if err != nil {
				return "", err
			}
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.tree(ctx)
		})
	code, err := c.copies.fileTools(noTests)
	if err != nil {
		return err
	}
	tests, err := c.copies.fileTools(onlyTests)
	if err != nil {
		return err
	}
	code = slices.Concat(code, []tools.Tool{run}, c.Place.skills)
	for _, note := range c.permissions.Check(code...) {
		if c.cfg.Logger != nil {
			c.cfg.Logger.Warn("team: " + note)
		}
	}
	engineer, err := c.worker("engineer", c.cfg.Engineer, says("engineer"), code)
	if err != nil {
		return err
	}
	tester, err := c.worker("tester", c.cfg.Tester, says("tester"), append(tests, c.Place.skills...))
	if err != nil {
		return err
	}
	desk, err := c.worker("desk", c.cfg.Guide, "", nil) // nobody asks it: the steps have workers
	if err != nil {
		return err
	}
	c.Plans, err = plan.New(plan.Config{
		Agent: desk, Workers: map[string]*agent.Agent{"engineer": engineer, "tester": tester},
		Checks: c.inspector(), AskOnFailure: true, Event: c.cfg.Event, Input: c.before, Lease: lease, Grace: grace,
		Logger: c.cfg.Logger,
	})
	if err != nil {
		return err
	}
	return c.makeGuide()
}

// makeLibrary makes the librarian, who is asked by the guide and works in the background, too.
func (c *Crew) makeLibrary(read []tools.Tool) (look tools.Tool, err error) {
	doc := c.Place.goTool("go.doc", "Shows the documentation of Go: args are doc and a symbol, such as strings.Fields.",
		func(context.Context) (string, error) { return c.Place.State, nil }, "doc")
	cfg := agent.Config{Name: "librarian", Provider: c.cfg.Librarian, Instructions: says("librarian"),
		Tools: append(read[:len(read):len(read)], doc), Logger: c.cfg.Logger}
	asked, err := agent.New(cfg)
	if err != nil {
		return nil, err
	}
	cfg.Name, cfg.Journal, cfg.Lease, cfg.Hooks = "librarian-in-the-background", c.cfg.Journal, lease, c.hooks()
	away, err := agent.New(cfg)
	if err != nil {
		return nil, err
	}
	if c.library, err = live.New(live.Config{Agent: away, Drain: grace, Logger: c.cfg.Logger}); err != nil {
		return nil, err
	}
	c.team, err = team.New(team.Config{Logger: c.cfg.Logger, Members: map[string]team.Member{
		"librarian": {Hub: c.library, About: "looks something up in the directory and in the documentation of Go"}}})
	return agent.AsTool(asked, tools.Spec{Name: "librarian", ReadOnly: true, Description: "Reads the directory, the " +
		"skills of the project and the documentation of Go, and reports what matters for a task."}), err
}

// makeGuide makes the guide.
func (c *Crew) makeGuide() error {
	var read []tools.Tool
	for _, t := range c.Place.ws.Tools() {
		if d, err := t.Define(); err == nil && d.Spec().ReadOnly {
			read = append(read, t)
		}
	}
	read = append(read, c.Place.skills...)
	look, err := c.makeLibrary(read)
	if err != nil {
		return err
	}
	talk := agent.Mode{Name: modeTalk, Instructions: says("talk"),
		Tools: tools.Not(tools.Named(plan.ToolSubmit, plan.ToolChoose, "plan.change"))}
	planning := plan.Mode(modePlan)
	reads := planning.Tools
	planning.Instructions = says("plan")
	planning.Tools = func(d *tools.Definition) bool {
		group, _, _ := strings.Cut(d.Name(), ".")
		return (reads(d) || slices.Contains([]string{"transfer", "team", "work"}, group)) && d.Name() != plan.ToolChoose
	}
	beside := agent.Mode{Name: modeBeside, Instructions: says("beside"), Tools: func(d *tools.Definition) bool {
		return strings.HasPrefix(d.Name(), "team.") || d.Name() == "work.status" || d.Name() == "work.stop"
	}}
	list := slices.Concat(read, []tools.Tool{agent.AskTool(), look}, c.finishing(plan.Tools(c.Plans)), c.workTools(),
		team.Transfer(talk, planning), c.team.Tools())
	guide, err := agent.New(agent.Config{Name: "guide", Provider: c.cfg.Guide, Instructions: says("guide"),
		Tools: list, Modes: []agent.Mode{talk, planning, beside}, Policies: []tools.Policy{checked},
		Limits:  agent.Limits{Tokens: 10_000_000}, // of a message, with its plan and its background work
		Journal: c.cfg.Journal, Lease: lease, Hooks: c.hooks(), Logger: c.cfg.Logger})
	if err != nil {
		return err
	}
	c.Hub, err = live.New(live.Config{Agent: guide, Recover: time.Second, Drain: grace,
		Logger: c.cfg.Logger})
	return err
}

// worker makes an agent that does steps, with the permissions of the directory.
func (c *Crew) worker(name string, model provider.Provider, prompt string, list []tools.Tool) (*agent.Agent, error) {
	return agent.New(agent.Config{Name: name, Provider: model, Instructions: prompt, Tools: list,
		Journal: c.cfg.Journal, Lease: lease, Policies: []tools.Policy{c.permissions.Policy()},
		Hooks:  []agent.Hooks{c.permissions.Hooks()},
		Logger: c.cfg.Logger})
}

// checked is a policy: what engineers and testers do is inspected, whatever a model thinks of that.
func checked(_ context.Context, _ *tools.Definition, call *tools.Call) tools.Verdict {
	p, ok := plan.Submitted(call.Name, call.Input)
	if !ok {
		return tools.Verdict{Effect: tools.Allow}
	}
	for _, n := range nodesOf(call.Input) {
		if n.Worker == "" || !slices.Contains(n.Checks, checkVet) ||
			n.Worker != "tester" && !slices.Contains(n.Checks, checkTest) {
			return tools.Verdict{Effect: tools.Deny,
				Reason: fmt.Sprintf("the step %q of the plan %q has the worker %q and the checks %q: steps of an engineer "+
					"have the checks vet and test, those of a tester vet, and every step is of one of them", n.ID, p.Title,
					n.Worker, n.Checks)}
		}
	}
	return tools.Verdict{Effect: tools.Allow}
}
