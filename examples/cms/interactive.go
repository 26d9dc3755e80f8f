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

// interact asks for requests until there are no more.
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
		in := agent.Input{Session: p.session, Prompt: said, Mode: p.mode, Interactive: true, By: p.by}
		if status, ok := p.after(p.carryOut(ctx, in)); !ok {
			return status
		}
	}
}

// resumeOwn resumes the last run of the session if that wasn't finished. It reports false if the program is to end.
func (p *program) resumeOwn(ctx context.Context) (status int, ok bool) {
	last, err := p.agent.Session(p.session).Result(ctx)
	if errors.As(err, new(*agent.NothingOpenError)) {
		return exitOK, true // a new session
	}
	if err != nil {
		return p.finish(nil, err), false
	}
	switch {
	case last.Status == agent.Running, last.Status == agent.Paused && len(last.Pending) == 0: // its process died, or was told to end
		p.out.line("The last run of this session was interrupted. It continues.")
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
