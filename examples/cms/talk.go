package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/terminal"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/examples/cms/internal/model"
	"github.com/pawlkit/pawl/examples/cms/internal/site"
)

// chat leads a conversation in the terminal.
func (p *program) chat(ctx context.Context) int {
	fmt.Fprint(p.out, p.banner(), "Type a request, or /help.\n")
	if p.out.failed != nil {
		return exitFailed
	}
	p.mentionInterrupted(ctx)
	return p.status(p.talk(ctx, terminal.Config{}))
}

// oneShot runs a request, or without one what is open in the session.
func (p *program) oneShot(ctx context.Context, request string) int {
	fmt.Fprint(p.err, p.banner())
	return p.status(p.talk(ctx, terminal.Config{Prompt: request, Once: true}))
}

// talk leads a conversation of the session, or what cfg says of it.
func (p *program) talk(ctx context.Context, cfg terminal.Config) (code int, err error) {
	cfg.Session, cfg.Input = p.session, agent.Input{User: p.by, Mode: p.mode}
	cfg.In, cfg.Out = p.in, p.out.w
	if p.quiet {
		cfg.Out = io.Discard
	}
	if p.yes {
		cfg.Decide = func(pause agent.Pause) (agent.Decision, bool) {
			return agent.Approve(pause.ID).By(p.by + " (-yes)"), pause.Kind == agent.PauseApproval
		}
	}
	cfg.Commands = []terminal.Command{
		{Name: "pages", Help: " lists the pages", Run: p.listPages},
		{Name: "requests", Help: " lists what the built-in model understands",
			Run: func(_ context.Context, _ string, w io.Writer) error {
				_, err := io.WriteString(w, model.Help())
				return err
			}},
	}
	code, err = terminal.Run(ctx, p.hub, cfg)
	if (code == terminal.CodeWaits || errors.Is(err, terminal.ErrInterrupted)) && !p.quiet {
		pending, _ := p.agent.Session(p.session).Pending(ctx) // there may be no session yet
		for i := range pending {
			fmt.Fprint(p.out, p.later(&pending[i]))
		}
	}
	return code, err
}

func (p *program) listPages(ctx context.Context, _ string, w io.Writer) error {
	pages, err := p.site.ListPages(ctx, site.Query{})
	if err != nil {
		return err
	}
	for _, page := range pages.Items {
		fmt.Fprintf(w, "%-24s %-25s sections: %d\n", page.Name, site.Path(page.Slug), page.Sections)
	}
	return nil
}

// banner describes the model, the file and the session.
func (p *program) banner() string {
	return fmt.Sprintf("model: %s\ncontent: %s\nsession: %s\n", p.label, p.site.Path(), p.session)
}

// later returns the commands that decide a pause.
func (p *program) later(pause *agent.Pause) string {
	var b strings.Builder
	base := fmt.Sprintf("  %s -db %s -resume %s -id %s -decide", self(), quoted(p.db), quoted(p.session), pause.ID)
	b.WriteString("To continue, one of:\n")
	for _, decision := range decisionsOn(pause) {
		switch decision {
		case "reject":
			decision += ` -reason "why"`
		case "suggest":
			decision += ` -reason "what to do instead"`
		case "edit":
			input := string(pause.Call.Input)
			if input == "" {
				input = "{}"
			}
			decision += " -input " + quoted(input)
		case "answer":
			decision += ` -input '"the answer"'`
		}
		fmt.Fprintf(&b, "%s %s\n", base, decision)
	}
	return b.String()
}

// decisionsOn returns the possible decisions on a pause.
func decisionsOn(pause *agent.Pause) []string {
	switch pause.Kind {
	case agent.PauseApproval:
		if pause.Always {
			return []string{"approve", "reject", "suggest", "edit", "always"}
		}
		return []string{"approve", "reject", "suggest", "edit"}
	case agent.PauseInDoubt:
		return []string{"approve", "reject", "answer"}
	case agent.PauseCorrection:
		return []string{"edit", "reject", "suggest"}
	}
	return []string{"answer", "reject"}
}

// status prints why a conversation has failed, and returns the exit status.
func (p *program) status(code int, err error) int {
	var (
		paused   *agent.PausedError
		decision *agent.DecisionError
		arg      *agent.ArgError
		limit    *agent.LimitError
		stopped  *agent.StopError
	)
	switch {
	case err == nil && code == terminal.CodeWaits:
		return exitWaiting
	case err == nil:
		return exitOK
	case errors.Is(err, terminal.ErrInterrupted) && p.cmd == cmdChat:
		fmt.Fprintf(p.err, "To resume this session:\n  %s -db %s chat -session %s\n", self(), quoted(p.db),
			quoted(p.session))
		return exitStopped
	case errors.Is(err, terminal.ErrInterrupted):
		fmt.Fprintf(p.err, "The run was interrupted. To resume it:\n  %s\n", p.continuing(p.session))
		return exitStopped
	case errors.As(err, &paused):
		fmt.Fprintf(p.err, "cms: the last run of the session was interrupted; resume it first:\n  %s\n",
			p.continuing(p.session))
		return exitUsage
	}
	fmt.Fprintln(p.err, "cms:", strings.TrimPrefix(err.Error(), "terminal: "))
	switch {
	case errors.As(err, &stopped):
		return exitStopped
	case errors.As(err, &decision), errors.As(err, &arg) && arg.Fault() == fault.Invalid,
		errors.Is(err, agent.ErrNothingOpen), errors.As(err, &limit):
		return exitUsage
	}
	return exitFailed
}

// failed prints an error, and returns the exit status.
func (p *program) failed(err error) int { return p.status(exitFailed, err) }
