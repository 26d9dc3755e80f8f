package coding

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/agent/plan"
	"github.com/pawlkit/pawl/agent/policy"
	"github.com/pawlkit/pawl/tools"
)

//go:embed rules.json
var builtIn []byte

// permit reads the rules, and those of the folder, which may only forbid more.
func (c *Coder) permit() error {
	text, err := builtIn, error(nil)
	if c.Rules != "" {
		if text, err = os.ReadFile(c.Rules); err != nil {
			return err
		}
	}
	rules, err := policy.Parse(text)
	if err != nil {
		return fmt.Errorf("%s: %w", c.Rules, err)
	}
	own, err := os.ReadFile(filepath.Join(c.Dir, rulesFile))
	c.ownRules = c.Rules != "" || err == nil
	if err == nil {
		err = rules.Narrow(own)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", rulesFile, err)
	}
	rules.Hard = append(rules.Hard, c.withoutJail()...)
	c.book = policy.File(c.beside("grants.json"))
	c.Permissions, err = policy.New(policy.Config{Rules: rules, Book: c.book,
		Project: func(*tools.Call) string { return c.Dir }})
	return err
}

// checkRules tells what rules don't do with these tools: people if they wrote some, and the log.
func (c *Coder) checkRules(list []tools.Tool) {
	notes := c.Permissions.Check(list...)
	if c.ownRules {
		c.Notes = append(c.Notes, notes...)
	}
	for _, note := range notes {
		if c.Logger != nil {
			c.Logger.Warn("coder: " + note)
		}
	}
}

// modes are those of a session, which begins in ask.
func modes(s *policy.Set) []agent.Mode {
	list := s.Modes() // plan, ask, edits, auto
	list[0], list[1] = list[1], list[0]
	return list
}

// possible is a policy: nobody is asked about a command that would be refused anyway.
func possible(_ context.Context, d *tools.Definition, call *tools.Call) tools.Verdict {
	var in struct {
		Program string
		Args    []string
	}
	if commands[d.Name()] != nil && json.Unmarshal(call.Input, &in) == nil {
		if err := check(d.Name(), in.Program, in.Args); err != nil {
			return tools.Verdict{Effect: tools.Deny, Reason: err.Error()}
		}
	}
	return tools.Verdict{Effect: tools.Allow}
}

// planTime is how long the permissions of a plan last at most, if nobody ends them.
const planTime = 2 * time.Hour

// planned are hooks that permit an approved plan to build and test, until it has ended.
func (c *Coder) planned() agent.Hooks {
	plans := func(call *agent.ToolCall) bool { return call.Name == plan.ToolSubmit || call.Name == "plan.change" }
	return agent.Hooks{Name: "plans", Observer: true,
		AfterDecision: func(ctx context.Context, call *agent.ToolCall, p agent.Pause, d agent.Decision) error {
			if !plans(call) || len(p.Path) > 0 || d.Kind != machine.Approved && d.Kind != machine.Edited {
				return nil
			}
			var err error
			for _, command := range []string{"build", "test", "vet"} {
				err = errors.Join(err, c.book.Put(ctx, c.Dir, policy.Rule{Effect: tools.Allow, Tool: "run",
					Args: []string{"go", command}, By: "the plan " + call.ID, Until: time.Now().Add(planTime)}))
			}
			return err
		},
		AfterTool: func(ctx context.Context, call *agent.ToolCall, _ *agent.ToolResult) error {
			if !plans(call) {
				return nil
			}
			list, err := c.book.Rules(ctx, c.Dir)
			for _, r := range list {
				if r.By == "the plan "+call.ID {
					err = errors.Join(err, c.book.Drop(ctx, c.Dir, r))
				}
			}
			return err
		}}
}
