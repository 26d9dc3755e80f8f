package coding

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/policy"
	"github.com/pawlkit/pawl/agent/terminal"
	"github.com/pawlkit/pawl/tools"
)

// Commands are what can be typed in the terminal, besides what every conversation has. input is
// what each input has.
func (c *Coder) Commands(input agent.Input) []terminal.Command {
	return []terminal.Command{
		{Name: "plan", Help: "REQUEST  has a plan made first; nothing changes before you approve it",
			Run: func(ctx context.Context, args string, w io.Writer) error {
				if args == "" {
					fmt.Fprintln(w, "Say what to plan, as in: /plan split the package in two. /mode goes back afterwards.")
					return nil
				}
				in := input
				in.Session, in.Prompt, in.Title = terminal.SessionOf(ctx), args, tools.CleanTitle(args)
				in.Mode, in.Interactive = string(policy.Plan), true
				sent, err := c.Hub.Send(ctx, in)
				if sent.Steered {
					fmt.Fprintln(w, "The run in progress reads it, in its own mode.")
				}
				return err
			}},
		{Name: "mcp", Help: "[test|on|off NAME]  lists, connects or switches the servers of MCP", Run: c.mcp},
		{Name: "grants", Help: "[revoke N]  lists what is permitted for good in this folder and session",
			Run: c.grants},
	}
}

// mcp lists the servers, or does what is asked with one.
func (c *Coder) mcp(ctx context.Context, args string, w io.Writer) error {
	verb, name, _ := strings.Cut(args, " ")
	switch verb {
	case "on", "off":
		if err := c.Switch(name, verb == "on"); err != nil {
			return err
		}
		fmt.Fprintf(w, "%s is %s from the next request on.\n", name, verb)
	case "test":
		s, err := c.server(name)
		if err != nil {
			return err
		}
		list, err := s.Server.List(ctx)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s answers, and has %d tools:\n", name, len(list))
		for _, t := range list {
			if d, err := t.Define(); err == nil {
				about, _, _ := strings.Cut(d.Spec().Description, "\n")
				fmt.Fprintf(w, "  %s  %.100s\n", d.Name(), about)
			}
		}
	case "":
		for _, s := range c.servers {
			why, _ := s.failed.Load().(string)
			state := map[bool]string{true: "off", false: "on"}[s.off.Load()]
			wrong, _ := s.wrong.Load().(string)
			fmt.Fprintf(w, "%-3s  %s  %s%s\n%s", state, s.Name(), s.at, why, wrong)
		}
		if len(c.servers) == 0 {
			fmt.Fprintln(w, "There are no servers. -mcp names a file that has some.")
		}
	default:
		return fmt.Errorf("unknown %q: it is /mcp, or /mcp test, on or off with a name", verb)
	}
	return nil
}

// grants lists what is permitted for good, or revokes one of it.
func (c *Coder) grants(ctx context.Context, args string, w io.Writer) error {
	session := c.Hub.Agent().Session(terminal.SessionOf(ctx))
	list, err := c.Permissions.Standing(ctx, session, c.Dir)
	if err != nil {
		return err
	}
	if which, ok := strings.CutPrefix(args, "revoke "); ok {
		n, err := strconv.Atoi(strings.TrimSpace(which))
		if err != nil || n < 1 || n > len(list) {
			return fmt.Errorf("there is no grant %q: /grants lists %d", which, len(list))
		}
		err = c.Permissions.Revoke(ctx, session, c.Dir, list[n-1].Text, "you")
		if err == nil {
			fmt.Fprintln(w, "Revoked:", list[n-1].Text)
		}
		return err
	}
	for i, g := range list {
		fmt.Fprintf(w, "%d  %s\n", i+1, g.Text)
	}
	if len(list) == 0 {
		fmt.Fprintln(w, "Nothing is permitted for good. A at a question permits more of the kind.")
	}
	return nil
}
