package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/examples/cms/internal/model"
	"github.com/pawlkit/pawl/examples/cms/internal/site"
)

// interact reads requests and runs them until the input ends.
func (p *program) interact(ctx context.Context) int {
	p.out.print(p.banner())
	p.out.line("Type a request, or /help.")
	if status, ok := p.resumeOwn(ctx); !ok {
		return status
	}
	if status, ok := p.offerOthers(ctx); !ok {
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
		in := agent.Input{Session: p.session, Prompt: said, Mode: p.mode, Interactive: true, User: p.by}
		if status, ok := p.after(p.carryOut(ctx, in)); !ok {
			return status
		}
	}
}

// resumeOwn resumes the last run of the session if it is unfinished. ok is false if the program
// should end.
func (p *program) resumeOwn(ctx context.Context) (status int, ok bool) {
	last, err := p.agent.Session(p.session).Result(ctx)
	if errors.Is(err, agent.ErrNothingOpen) {
		return exitOK, true // a new session
	}
	if err != nil {
		return p.finish(nil, err), false
	}
	switch {
	case last.Status == agent.Running, last.Status == agent.Paused && len(last.Pending) == 0:
		// its process crashed or was stopped by a signal
		p.out.line("The last run of this session was interrupted. Resuming it.")
		return p.after(p.carryOut(ctx, agent.Continue(p.session)))
	case last.Status == agent.Paused:
		p.out.line("This session waits for a decision.")
		decided, err := p.decideAll(last.Pending)
		if err != nil || len(decided) == 0 {
			return p.finish(last, err), false
		}
		return p.after(p.carryOut(ctx, agent.Resume(p.session, decided...)))
	}
	return exitOK, true
}

// after prints how a run ended. ok is false if the program should end: there is no terminal to
// decide at, or a prompt was interrupted by a signal.
func (p *program) after(res *agent.Result, err error) (status int, ok bool) {
	status = p.finish(res, err)
	if p.drained {
		return exitStopped, false
	}
	return status, status != exitWaiting && !errors.Is(err, errInterrupted)
}

// command runs a command, which begins with a slash.
func (p *program) command(ctx context.Context, command, rest string) {
	switch command {
	case "/help":
		p.out.line("%s", model.Help())
		p.out.line(
			"Commands: /mode [cms-crud|architect|debug|ask], /pages, /help, /quit. Ctrl-C stops the run after its " +
				"current call and ends the program.")
	case "/pages":
		pages, err := p.services.Site.ListPages(ctx, site.Query{})
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
		p.out.line("Unknown command %s. /help lists the commands.", command)
	}
}

// switchMode sets the mode of the next requests; without a name it prints the mode.
func (p *program) switchMode(name string) {
	switch {
	case slices.Contains(modeNames(), name):
		p.mode = name
	case name != "":
		p.out.line("Unknown mode %q.", name)
	}
	p.out.line("mode: %s (of %s)", cmp.Or(p.mode, modes[0].name), strings.Join(modeNames(), ", "))
}
