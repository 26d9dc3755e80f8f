package crew

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/agent/plan"
	"github.com/pawlkit/pawl/examples/team/internal/board"
	"github.com/pawlkit/pawl/provider"
)

// Staged returns what a step has changed, whether or not it is merged.
func (c *Crew) Staged(ctx context.Context, run, node string) ([]board.FileChange, error) {
	w, err := c.copies.of(plan.SessionOf(run, 0, node))
	if err != nil {
		return nil, err
	}
	r := receipt{}
	if err := w.load(receiptFile, &r); err != nil {
		return nil, err
	}
	diff, err := w.staging.Diff(ctx)
	if err != nil || r.Diff != "" && strings.Contains(r.Diff, diff) {
		diff = ""
	}
	return changesIn(r.Diff + diff), err
}

var newFile = regexp.MustCompile(`(?m)^--- (?:a/(.*)|/dev/null)\n\+\+\+ (?:b/(.*)|/dev/null)\n`)

// changesIn returns the files of a unified diff. A later change of a file follows the earlier one.
func changesIn(diff string) (list []board.FileChange) {
	at := slices.DeleteFunc(newFile.FindAllStringSubmatchIndex(diff, -1), func(m []int) bool {
		next := diff[m[1]:] // else these are lines of a file
		return next != "" && !strings.HasPrefix(next, "@@ ") && !strings.HasPrefix(next, "--- ")
	})
	for i, m := range at {
		end := len(diff)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		one := board.FileChange{Diff: diff[m[0]:end]}
		if m[4] >= 0 {
			one.Name = diff[m[4]:m[5]]
		} else {
			one.Name = diff[m[2]:m[3]]
		}
		for line := range strings.Lines(diff[m[1]:end]) {
			switch line[0] {
			case '+':
				one.Added++
			case '-':
				one.Removed++
			}
		}
		list = append(list, one)
	}
	return list
}

// Checks returns the checks of a step so far.
func (c *Crew) Checks(_ context.Context, run, node string) (runs []board.CheckRun, err error) {
	w, err := c.copies.of(plan.SessionOf(run, 0, node))
	if err != nil {
		return nil, err
	}
	return runs, w.load(checksFile, &runs)
}

// Done returns what a plan has made; nil until it has completed or was stopped, and after it was
// undone.
func (c *Crew) Done(ctx context.Context, run string) (*board.Summary, error) {
	s, err := c.Plans.State(ctx, run)
	undone := func(n plan.NodeState) bool { return n.Undone }
	if err != nil || slices.ContainsFunc(s.Nodes, undone) {
		return nil, err
	}
	steps := written(s)
	if len(steps) == 0 {
		return nil, nil
	}
	var sum board.Summary
	rows := make(map[string]*board.AgentRow)
	for i := range steps {
		n := &steps[i].Node
		files, err := c.Staged(ctx, run, n.ID)
		if err != nil {
			return nil, err
		}
		sum.Files = append(sum.Files, files...)
		if rows[n.Worker] == nil {
			rows[n.Worker] = &board.AgentRow{Name: n.Worker}
			sum.Agents = append(sum.Agents, board.AgentRow{Name: n.Worker})
		}
		if err := c.tell(ctx, plan.SessionOf(run, 0, n.ID), rows[n.Worker], &sum); err != nil {
			return nil, err
		}
	}
	for i := range sum.Agents {
		sum.Agents[i] = *rows[sum.Agents[i].Name]
	}
	return &sum, nil
}

// tell adds what happened in the session of a step to what its agent has done, and to the summary.
func (c *Crew) tell(ctx context.Context, session string, row *board.AgentRow, sum *board.Summary) error {
	facts, err := c.library.Agent().Session(session).Facts(ctx) // whichever agent reads them
	if errors.Is(err, agent.ErrNothingOpen) {                   // it was skipped
		return nil
	}
	var began time.Time
	for _, f := range facts {
		switch f := f.(type) {
		case *agent.RunStarted:
			began = f.Time
		case *agent.Replied:
			row.Steps++
			row.In, row.Out = row.In+int(f.Usage.Input), row.Out+int(f.Usage.Output)
		case *machine.RunEnded:
			row.Seconds += f.Time.Sub(began).Seconds()
			began = f.Time
		case *agent.ToolFinished:
			var in goInput
			if f.Call.Name == "go" && json.Unmarshal(f.Call.Input, &in) == nil && len(in.Args) > 0 &&
				in.Args[0] == "run" && f.Result.Succeeded() {
				_, text, _ := strings.Cut(f.Result.Text(), "\n")
				sum.Command, sum.Output = in.line(), strings.TrimSuffix(text, "It ended well.")
			}
		}
	}
	return err
}

// Background returns what is done beside a conversation: by the librarian, or by the guide in
// conversations beside it.
func (c *Crew) Background(ctx context.Context, session string) (list []board.BackgroundWork, err error) {
	for n := -1; n < mostBeside && err == nil; n++ {
		if n < 0 {
			list, err = c.lookedUp(ctx, session, list)
			continue
		}
		beside := besideOf(session, n)
		if list, err = c.lookedUp(ctx, beside, list); err == nil {
			list, err = c.asked(ctx, beside, list)
		}
	}
	return list, err
}

// lookedUp adds what the librarian does for a conversation.
func (c *Crew) lookedUp(ctx context.Context, lead string, list []board.BackgroundWork) ([]board.BackgroundWork, error) {
	for h, err := range c.cfg.Journal.Heads(ctx, journal.Filter{Parent: lead, NoKind: true, Prefix: "team/"}) {
		if err != nil {
			return nil, err
		}
		res, err := c.library.Agent().Session(h.Session).Result(ctx)
		if err != nil {
			return nil, err
		}
		one := board.BackgroundWork{ID: h.Session, Member: "librarian", Task: h.Title, State: string(res.Status)}
		if len(res.Pending) > 0 {
			one.State = string(agent.Paused)
		}
		if res.Status == agent.Completed {
			one.Report = res.Text()
		}
		list = append(list, one)
	}
	return list, nil
}

// asked adds what a person has asked beside a conversation, and what the guide has answered.
func (c *Crew) asked(ctx context.Context, beside string, list []board.BackgroundWork) ([]board.BackgroundWork, error) {
	talk := c.Hub.Agent().Session(beside)
	res, err := talk.Result(ctx)
	if errors.Is(err, agent.ErrNothingOpen) {
		return list, nil
	} else if err != nil {
		return list, err
	}
	messages, err := talk.Messages(ctx)
	var last *board.BackgroundWork
	for i := range messages {
		switch m := &messages[i]; {
		case m.Role == provider.RoleUser && strings.HasPrefix(m.Text(), reportBegins):
			last = nil // it is shown where it was looked up
		case m.Role == provider.RoleUser && m.Text() != "":
			list = append(list, board.BackgroundWork{ID: fmt.Sprint(beside, " ", i), Member: "guide", Task: m.Text(),
				State: string(agent.Running)})
			last = &list[len(list)-1]
		case m.Role == provider.RoleAssistant && m.Text() != "" && last != nil && len(m.Calls()) == 0:
			last.Report, last.State = m.Text(), string(agent.Completed)
		}
	}
	if last != nil && last.State == string(agent.Running) && len(res.Pending) > 0 {
		last.State = string(agent.Paused)
	}
	return list, err
}

// Undo takes back all that a plan of a conversation has written that has completed or was stopped.
func (c *Crew) Undo(ctx context.Context, session, run string) error {
	head, err := c.cfg.Journal.Head(ctx, run)
	if err == nil && head.Parent != session {
		err = journal.ErrNoSession
	}
	if err != nil {
		return err
	}
	return c.Plans.Undo(ctx, run)
}

// Grants returns what is allowed in the directory without a question.
func (c *Crew) Grants(ctx context.Context) (list []board.Grant, err error) {
	standing, err := c.permissions.Standing(ctx, nil, c.Place.Dir)
	for _, g := range standing {
		list = append(list, board.Grant{ID: g.Text, Text: g.Text, By: g.Rule.By})
	}
	return list, err
}

// Revoke ends a permission that Grants lists.
func (c *Crew) Revoke(ctx context.Context, id string) error {
	return c.permissions.Revoke(ctx, nil, c.Place.Dir, id, "you")
}
