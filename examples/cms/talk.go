package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/terminal"
	"github.com/pawlkit/pawl/examples/cms/internal/assistant"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

const user = "you" // the only one of this computer

// talk leads the conversation of the session as t says, and says how to continue it.
func (p *program) talk(ctx context.Context, t terminal.Config, errs io.Writer) (int, error) {
	t.Session, t.Provider = p.session, p.model
	t.Input = agent.Input{User: user, Mode: p.mode, Labels: assistant.Screen("")}
	if p.yes {
		t.Decide = func(pause agent.Pause) (agent.Decision, bool) {
			return agent.Approve(pause.ID).By(user), pause.Kind == agent.PauseApproval
		}
	}
	code, err := terminal.Run(ctx, p.hub, t)
	if code == terminal.CodeWaits || errors.Is(err, terminal.ErrInterrupted) {
		fmt.Fprintf(errs, "Go on with: cms -db %s chat -session %s\n", p.db, p.session)
	}
	return code, err
}

// history lists the sessions, or prints the conversation or the log of one.
func (p *program) history(ctx context.Context, out io.Writer) (int, error) {
	a := p.hub.Agent()
	if p.session == "" {
		for info, err := range a.Sessions(ctx, agent.SessionFilter{}) {
			if err != nil {
				return 1, err
			}
			fmt.Fprintf(out, "%s  %-9s  %s  %s\n", info.Updated.Local().Format(time.DateTime), info.Status,
				info.Session, info.Title)
		}
		return 0, nil
	}
	if _, err := a.Session(p.session).Result(ctx); err != nil {
		return 2, err // there is no such session
	}
	if p.asLog {
		return 0, a.Session(p.session).Export(ctx, out)
	}
	messages, err := a.Session(p.session).Messages(ctx)
	did := map[string]string{} // what calls do, by id
	for _, m := range messages {
		for _, part := range m.Parts {
			switch call, result := part.Call, part.Result; {
			case call != nil:
				did[call.ID] = tools.TitleOf(call.Name, call.Input)
				if d, ok := a.Tools().Lookup(call.Name); ok {
					did[call.ID] = tools.CleanTitle(d.Title(ctx, call.Input))
				}
			case result != nil && result.Error:
				why, _, _ := strings.Cut(result.Text(), "\n") // the rest is for the model
				fmt.Fprintf(out, "✗ %s: %s\n", did[result.CallID], why)
			case result != nil:
				fmt.Fprintf(out, "✓ %s\n", did[result.CallID])
			case m.Role == provider.RoleUser:
				fmt.Fprintf(out, "> %s\n", part.Text)
			case part.Kind == provider.PartText || part.Kind == provider.PartRefusal:
				fmt.Fprintln(out, part.Text)
			}
		}
	}
	return 0, err
}

// export prints all contents as JSON.
func (p *program) export(ctx context.Context, out io.Writer) error {
	all, err := p.site.Export(ctx)
	if err != nil {
		return err
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(all)
}
