package crew

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/terminal"
)

// mostBeside is how many conversations there may be beside another one. More than one is needed if
// messages come faster than they are answered.
const mostBeside = 4

// besideOf returns the name of a conversation beside another one.
func besideOf(session string, n int) string { return fmt.Sprintf("%s-beside-%d", session, n) }

// Beside has the guide answer a message in a conversation beside the one that it was sent to, if
// there a plan is at work: its own run would read the message only at the end of the plan. The
// result is false if the conversation can take the message itself, which may change a plan that
// waits for approval.
func (c *Crew) Beside(ctx context.Context, session, text, user string) (taken bool, err error) {
	if !c.atWork(ctx, session) {
		return false, nil
	}
	in := agent.Input{Prompt: text, Mode: modeBeside, User: user, Owner: user, Interactive: true,
		Title: "Beside the work", Labels: map[string]string{labelBeside: session}}
	for n := range mostBeside {
		in.Session = besideOf(session, n)
		if _, err = c.Hub.Start(ctx, in); !errors.Is(err, agent.ErrBusy) {
			return true, err
		}
	}
	_, err = c.Hub.Send(ctx, in)
	return true, err
}

// atWork reports whether a plan of a conversation was approved and hasn't ended.
func (c *Crew) atWork(ctx context.Context, session string) bool {
	own := c.Hub.Agent().Session(session)
	res, err := own.Result(ctx)
	switch {
	case err != nil:
		return false
	case res.Status == agent.Paused: // a step asks, or the conversation itself
		return len(res.Pending) > 0 && len(res.Pending[0].Flat()[0].Path) > 0
	}
	messages, err := own.Messages(ctx)
	if err != nil || res.Status != agent.Running || len(messages) == 0 {
		return false
	}
	calls := messages[len(messages)-1].Calls()
	return len(calls) > 0 && strings.HasPrefix(calls[0].Name, "plan.")
}

// reportBegins begins the messages of agent/team, which no person has written.
const reportBegins = "The program says, not a person:"

// FirstAnswer returns the first of the answers that a question offers; for a step that is stuck,
// the last, which gives the plan up.
func FirstAnswer(p *agent.Pause) (any, bool) {
	var s struct {
		Enum       []any `json:"enum"`
		Properties struct {
			Decision struct {
				Enum []any `json:"enum"`
			} `json:"decision"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(p.Schema, &s); err != nil {
		return nil, false
	}
	if list := s.Properties.Decision.Enum; len(list) > 0 {
		return map[string]any{"decision": "give up"}, slices.Contains(list, any("give up"))
	}
	if len(s.Enum) > 0 {
		return s.Enum[0], true
	}
	return nil, false
}

// Commands are what can be typed in the terminal of a conversation beside requests.
func (c *Crew) Commands(session, user string) []terminal.Command {
	return []terminal.Command{{Name: "beside",
		Help: "TEXT  asks the guide something while the team is at work; without TEXT it shows what came of that",
		Run: func(ctx context.Context, text string, w io.Writer) error {
			if text != "" {
				taken, err := c.Beside(ctx, session, text, user)
				if err == nil && !taken {
					err = errors.New("no plan is at work; type it without /beside")
				}
				return err
			}
			list, err := c.Background(ctx, session)
			for _, p := range list {
				state := p.State
				if state == string(agent.Paused) {
					state = waits
				}
				fmt.Fprintf(w, "%s, %s: %s\n%s\n", p.Member, state, p.Task, p.Report)
			}
			return err
		}}}
}
