package transcripts

import (
	"context"
	"strconv"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/provider"
)

// others are the commands of a session that run nothing.
var others = map[string]func(*command, context.Context) error{
	"decide": func(c *command, ctx context.Context) error {
		ds, err := c.decisions()
		if err != nil {
			return err
		}
		c.returned(c.s.Decide(ctx, ds...))
		return nil
	},
	"steer": func(c *command, ctx context.Context) error {
		_, err := c.s.Steer(ctx, c.rest(), c.options["key"])
		c.returned(err)
		return nil
	},
	"cancel": func(c *command, ctx context.Context) error { c.returned(c.s.Cancel(ctx)); return nil },
	"stop":   func(c *command, ctx context.Context) error { c.returned(c.s.Stop(ctx)); return nil },
	"pause":  func(c *command, ctx context.Context) error { c.returned(c.s.Pause(ctx)); return nil },
	"mode":   func(c *command, ctx context.Context) error { c.returned(c.s.SetMode(ctx, c.rest())); return nil },
	"revoke": func(c *command, ctx context.Context) error {
		c.returned(c.s.Revoke(ctx, c.rest(), c.options["by"]))
		return nil
	},
	"delete": func(c *command, ctx context.Context) error { c.returned(c.s.Delete(ctx)); return nil },
	"prune": func(c *command, ctx context.Context) error {
		_, err := c.s.Prune(ctx)
		c.returned(err)
		return nil
	},
	"compact": func(c *command, ctx context.Context) error {
		_, err := c.s.Compact(ctx, 0)
		c.returned(err)
		return nil
	},
	"fork": func(c *command, ctx context.Context) error {
		at, _ := strconv.ParseUint(c.options["at"], 10, 64)
		c.returned(c.s.Fork(ctx, c.rest(), at))
		return nil
	},
	"undo": func(c *command, ctx context.Context) error {
		steps, _ := strconv.Atoi(c.options["steps"])
		receipt, err := c.s.Undo(ctx, agent.Rollback{Steps: steps, User: c.options["by"]})
		if receipt != nil {
			c.p.print("", "%d undone, %d impossible", len(receipt.Undone), len(receipt.Impossible))
		}
		c.returned(err)
		return nil
	},
	"status": func(c *command, ctx context.Context) error {
		res, err := c.s.Result(ctx)
		if err != nil {
			c.returned(err)
			return nil
		}
		c.p.print("", "%s", res.Status)
		return nil
	},
	"pending": func(c *command, ctx context.Context) error {
		all, err := c.s.Pending(ctx)
		for i := range all {
			c.p.print("", "%s", c.w.names.pause(&all[i]))
		}
		if len(all) == 0 && err == nil {
			c.p.print("", "none")
		}
		return err
	},
	"rules": func(c *command, ctx context.Context) error {
		all, err := c.s.Rules(ctx)
		for _, r := range all {
			c.p.print("", "%s %s", r.Tool, r.Scope)
		}
		if len(all) == 0 && err == nil {
			c.p.print("", "none")
		}
		return err
	},
	"facts": func(c *command, ctx context.Context) error {
		all, err := c.s.Facts(ctx)
		for _, f := range all {
			c.p.print("", "%d %s", f.Envelope().Seq, c.w.names.fact(f))
		}
		if len(all) == 0 && err == nil {
			c.p.print("", "none")
		}
		return err
	},
	"messages": func(c *command, ctx context.Context) error {
		all, err := c.s.Messages(ctx)
		c.messages(all)
		return err
	},
	// what the model was shown in the newest call
	"shown": func(c *command, ctx context.Context) error {
		steps, err := c.s.Trace(ctx)
		if len(steps) > 0 {
			c.messages(steps[len(steps)-1].Messages)
		}
		return err
	},
}

func (c *command) messages(all []provider.Message) {
	for _, m := range all {
		c.p.print("", "%s %s", m.Role, c.w.names.message(m))
	}
}
