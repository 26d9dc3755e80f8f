package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/examples/cms/internal/model"
	"github.com/pawlkit/pawl/examples/cms/internal/site"
)

// interact asks for requests until there are no more.
func (p *program) interact(ctx context.Context) int {
	p.out.print(p.banner())
	p.out.line("Type a request, or /help.")
	if status, ok := p.takeUp(ctx); !ok {
		return status
	}
	if status, ok := p.takeUpOthers(ctx); !ok {
		return status
	}
	for {
		said, err := p.read("\n> ")
		if errors.Is(err, io.EOF) {
			return exitOK
		}
		if err != nil {
			return p.finish(nil, err)
		}
		command, rest, _ := strings.Cut(said, " ")
		switch {
		case said == "":
			continue
		case command == "/quit" || command == "/exit":
			return exitOK
		case strings.HasPrefix(command, "/"):
			p.command(ctx, command, strings.TrimSpace(rest))
			continue
		}
		in := agent.Input{Session: p.session, Prompt: said, Mode: p.mode, Interactive: true, By: p.by}
		if status, ok := p.after(p.carryOut(ctx, in)); !ok {
			return status
		}
	}
}

// takeUp finishes what a session was about when its last process ended. It reports false if the program is to end.
func (p *program) takeUp(ctx context.Context) (status int, ok bool) {
	head, err := p.store.Head(ctx, p.session)
	if errors.Is(err, journal.ErrNoSession) {
		return exitOK, true
	}
	if err != nil {
		return p.finish(nil, err), false
	}
	switch agent.Status(head.Status) {
	case agent.Running:
		p.out.line("The last run of this session was interrupted. It continues.")
		return p.after(p.carryOut(ctx, agent.Continue(p.session)))
	case agent.Paused:
		pending, err := p.agent.Session(p.session).Pending(ctx)
		if err != nil {
			return p.finish(nil, err), false
		}
		p.out.line("This session waits for a decision.")
		decided, err := p.decideAll(pending)
		if err != nil || len(decided) == 0 {
			return p.finish(&agent.Result{Status: agent.Paused, Pending: pending}, err), false
		}
		return p.after(p.carryOut(ctx, agent.Resume(p.session, decided...)))
	}
	return exitOK, true
}

// after says how a run ended. It reports false if the program is to end: nobody is there to decide, or whoever was asked
// has interrupted it.
func (p *program) after(res *agent.Result, err error) (status int, ok bool) {
	status = p.finish(res, err)
	if p.drained {
		return exitStopped, false
	}
	return status, status != exitWaiting && !errors.Is(err, errInterrupted)
}

// command carries out what begins with a slash.
func (p *program) command(ctx context.Context, command, rest string) {
	switch command {
	case "/help":
		p.out.line("%s", model.Help())
		p.out.line("Commands: /mode [cms-crud|architect|debug|ask], /pages, /help, /quit. Ctrl-C brings a run to rest and ends the program.")
	case "/pages":
		pages, err := p.site.ListPages(ctx, site.Query{})
		if err != nil {
			p.out.line("%v", err)
			return
		}
		for _, page := range pages.Items {
			p.out.line("%-24s %-25s sections: %d", page.Name, site.Path(page.Slug), page.Sections)
		}
	case "/mode":
		p.switchMode(rest)
	default:
		p.out.line("There is no command %s. /help says what there is.", command)
	}
}

// switchMode changes the mode of the requests to come, or says which it is.
func (p *program) switchMode(name string) {
	switch {
	case slices.Contains(modeNames(), name):
		p.mode = name
	case name != "":
		p.out.line("There is no mode %q.", name)
	}
	p.out.line("mode: %s (of %s)", cmp.Or(p.mode, modes[0].name), strings.Join(modeNames(), ", "))
}
