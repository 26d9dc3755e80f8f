package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/approvals"
	"github.com/pawlkit/pawl/agent/terminal"
)

// checkApprovals checks the arguments of the approvals command, and turns them into a decision if
// they are one.
func (o *options) checkApprovals(given func(string) bool) error {
	for _, name := range []string{"p", "mode", "continue", "resume", "decide", "id", "undo"} {
		if given(name) {
			return fmt.Errorf("-%s can't be used with approvals", name)
		}
	}
	if len(o.approvals) == 0 {
		o.approvals = []string{"list"}
	}
	what, args := o.approvals[0], o.approvals[1:]
	wants := ""
	switch {
	case slices.Contains(decisions, what):
		o.decide, wants = what, "the id of a pending decision, as listed by approvals"
	case what == "revoke":
		wants = "the name of a tool, as listed by approvals rules"
	case what != "list" && what != "rules":
		return fmt.Errorf("unknown approvals command %q; the commands are list, %s, rules and revoke", what,
			strings.Join(decisions, ", "))
	}
	switch {
	case wants != "" && len(args) != 1:
		return fmt.Errorf("approvals %s needs %s, and nothing else", what, wants)
	case wants == "" && len(args) > 0:
		return fmt.Errorf("approvals %s takes no argument %q", what, args[0])
	case o.decide == "" && (o.reason != "" || o.input != ""):
		return errors.New("-reason and -input need a decision")
	}
	return o.checkDecision()
}

// approve runs the approvals command.
func (p *program) approve(ctx context.Context) int {
	switch what := p.approvals[0]; what {
	case "list":
		return p.listApprovals(ctx)
	case "rules":
		return p.listRules(ctx)
	case "revoke":
		return p.revoke(ctx, p.approvals[1])
	}
	p.id = p.approvals[1]
	all, err := p.opened(ctx)
	if err != nil {
		return p.failed(err)
	}
	i := slices.IndexFunc(all, func(o opened) bool { return o.ID == p.id })
	if i < 0 {
		return p.failed(
			&agent.ArgError{Func: "approvals", Field: "id",
				Problem: fmt.Sprintf(
					"there is no pending decision with the id %q; it may be decided already, see the list of approvals",
					p.id)})
	}
	p.session = all[i].Session
	d, err := p.decision(ctx)
	if err != nil {
		return p.failed(err)
	}
	if !p.json {
		return p.decideAndResume(ctx, d)
	}
	p.quiet = true
	status := p.decideAndResume(ctx, d)
	p.printJSON(struct {
		Session  string `json:"session"`
		ID       string `json:"id"`
		Decision string `json:"decision"`
		Status   int    `json:"status"` // the exit status of the program
	}{p.session, p.id, p.decide, status})
	return status
}

// An opened is a pending decision of a session.
type opened struct {
	Session string          `json:"session"`
	ID      string          `json:"id"`
	Kind    agent.PauseKind `json:"kind"`
	Title   string          `json:"title"`
	Tool    string          `json:"tool"`
	Input   json.RawMessage `json:"input,omitempty"`
	Reason  string          `json:"reason,omitempty"`
	Risk    string          `json:"risk,omitempty"`
	By      string          `json:"by,omitempty"` // who started the run
	Since   time.Time       `json:"since,omitzero"`
	Expires time.Time       `json:"expires,omitzero"` // absent if it never expires
	Expired bool            `json:"expired,omitempty"`
	Sent    bool            `json:"sent,omitempty"` // the session has unread inbox items, perhaps a decision

	pause agent.Pause
}

// opened lists the pending decisions of all sessions, or of the session that the options name.
func (p *program) opened(ctx context.Context) ([]opened, error) {
	all := []opened{}
	for item, err := range approvals.List(ctx, p.store, approvals.Filter{}) {
		switch {
		case err != nil && item.Session == "":
			return nil, err
		case err != nil: // the list goes on
			fmt.Fprintln(p.err, "cms:", err)
			continue
		}
		if p.session != "" && p.session != item.Session {
			continue
		}
		detail, err := approvals.Find(ctx, p.store, item.Session, item.ID, 0)
		if err != nil {
			return nil, err
		}
		pause := detail.Pause
		o := opened{
			Session: item.Session, ID: pause.ID, Kind: pause.Kind, Title: pause.Title, Tool: pause.Call.Name,
			Reason: pause.Reason, Risk: pause.Risk,
			By: detail.User, Since: detail.Since, Expires: pause.Expires, Expired: item.Expired, Sent: item.Sent,
			pause: pause,
		}
		if pause.Call.Invalid == "" {
			o.Input = pause.Call.Input
		}
		all = append(all, o)
	}
	return all, nil
}

func (p *program) listApprovals(ctx context.Context) int {
	all, err := p.opened(ctx)
	if err != nil {
		return p.failed(err)
	}
	if p.json {
		p.printJSON(all)
		return exitOK
	}
	if len(all) == 0 {
		p.out.line("There are no pending decisions.")
	}
	for i := range all {
		o := &all[i]
		if err := terminal.Describe(p.out, &o.pause); err != nil {
			return p.failed(err)
		}
		p.out.line("  asked: by %s, at %s, in session %s", cmp.Or(o.By, "somebody"),
			o.Since.Local().Format(time.DateTime), o.Session)
		base := fmt.Sprintf("%s -db %s approvals", self(), quoted(p.db))
		switch {
		case o.Expired:
			p.out.line("  It can't be decided any more. To continue without it:\n  %s", p.continuing(o.Session))
			continue
		case o.Sent:
			p.out.line("  It may be decided already. To continue then:\n  %s", p.continuing(o.Session))
		}
		p.out.line("  %s %s %s", base, strings.Join(decisionsOn(&o.pause), "|"), o.ID)
	}
	return exitOK
}

// A rule is a standing approval.
type rule struct {
	Session string    `json:"session"`
	Tool    string    `json:"tool"`
	By      string    `json:"by,omitempty"`
	Since   time.Time `json:"since,omitzero"`
}

// rules lists the standing approvals of all sessions, or of the session that the options name.
func (p *program) rules(ctx context.Context) ([]rule, error) {
	all := []rule{}
	for info, err := range p.agent.Sessions(ctx, agent.SessionFilter{}) {
		if err != nil {
			return nil, err
		}
		if p.session != "" && p.session != info.Session {
			continue
		}
		rules, err := p.agent.Session(info.Session).Rules(ctx)
		if err != nil {
			return nil, err
		}
		for _, r := range rules {
			all = append(all, rule{info.Session, r.Tool, r.By, r.Since})
		}
	}
	return all, nil
}

func (p *program) listRules(ctx context.Context) int {
	all, err := p.rules(ctx)
	if err != nil {
		return p.failed(err)
	}
	if p.json {
		p.printJSON(all)
		return exitOK
	}
	if len(all) == 0 {
		p.out.line("There are no standing approvals.")
	}
	for _, r := range all {
		p.out.line("%s in session %s, by %s, since %s", r.Tool, r.Session, cmp.Or(r.By, "somebody"),
			r.Since.Local().Format(time.DateTime))
	}
	return exitOK
}

// revoke ends the standing approvals of a tool, in the session that the options name or in all
// sessions.
func (p *program) revoke(ctx context.Context, tool string) int {
	all, err := p.rules(ctx)
	if err != nil {
		return p.failed(err)
	}
	ended := []rule{}
	for _, r := range all {
		if r.Tool != tool {
			continue
		}
		if err := p.agent.Session(r.Session).Revoke(ctx, tool, p.by); err != nil {
			return p.failed(err)
		}
		ended = append(ended, r)
	}
	switch {
	case len(ended) == 0:
		return p.failed(&agent.ArgError{Func: "approvals revoke", Field: "tool",
			Problem: fmt.Sprintf("%q has no standing approval; approvals rules lists those that exist", tool)})
	case p.json:
		p.printJSON(ended)
	default:
		for _, r := range ended {
			p.out.line("%s needs approval again in session %s.", r.Tool, r.Session)
		}
	}
	return exitOK
}

func (p *program) printJSON(v any) {
	enc := json.NewEncoder(p.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	_ = enc.Encode(v) // p.out keeps the error
}
