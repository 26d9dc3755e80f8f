package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/postgres"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/memory/pgmemory"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// A store is a journal that is open.
type store interface {
	journal.Queue
	io.Closer
}

// open opens the journal.
func (p *program) open(ctx context.Context, migrate bool) (err error) {
	switch p.journal = cmp.Or(p.journal, os.Getenv("PAWL_JOURNAL")); { // an address may have a password
	case p.journal == "":
		return fmt.Errorf("no journal is named; give -journal or set PAWL_JOURNAL; %w", errUsage)
	case p.isPostgres():
		p.store, err = postgres.Open(ctx, postgres.Config{DSN: p.journal, Schema: p.schema, NoMigrate: !migrate})
	default:
		p.store, err = sqlite.Open(p.journal, sqlite.Config{NoMigrate: !migrate})
	}
	if errors.Is(err, sqlite.ErrOlder) || errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf(`%w; "pawl migrate" does that`, err)
	}
	if err == nil {
		p.agent, err = p.standIn(nil)
	}
	return err
}

// isPostgres reports whether the journal is in PostgreSQL.
func (p *program) isPostgres() bool {
	return strings.HasPrefix(p.journal, "postgres://") || strings.HasPrefix(p.journal, "postgresql://")
}

// migrate is a command: that the journal was opened has migrated it.
func migrate(f *flag.FlagSet) action {
	memory := f.Bool("memory", false, "also the tables of the working memory, which are in PostgreSQL")
	return func(ctx context.Context, p *program, _ []string) error {
		switch {
		case !*memory:
			return nil
		case !p.isPostgres():
			return fmt.Errorf("-memory takes a postgres:// address: a file is migrated when a program opens it; %w", errUsage)
		}
		s, err := pgmemory.Open(ctx, pgmemory.Config{DSN: p.journal, Schema: p.schema})
		if err != nil {
			return err
		}
		return s.Close()
	}
}

// standIn returns an agent that decides on pauses. It has no model, which it would call in vain,
// and a tool for each subagent that these pauses are of: so the sessions of subagents check what is
// decided, and their runs end with the session's.
func (p *program) standIn(pauses []agent.Pause) (*agent.Agent, error) {
	nested := make(map[string][]agent.Pause)
	for i := range pauses {
		if name := pauses[i].Call.Name; pauses[i].Kind == machine.PauseAgent {
			nested[name] = append(nested[name], pauses[i].Nested...)
		}
	}
	var list []tools.Tool
	for name, pauses := range nested {
		child, err := p.standIn(pauses)
		if err != nil {
			return nil, err
		}
		list = append(list, agent.AsTool(child, tools.Spec{Name: name}))
	}
	return agent.New(agent.Config{Name: "pawl", Journal: p.store, Tools: list,
		Provider: provider.Func(provider.Func(nil).Stream)})
}

// standInFor is standIn for what a session waits for.
func (p *program) standInFor(ctx context.Context, session string) (*agent.Agent, error) {
	_, m, err := p.load(ctx, session)
	if err != nil || m.State().Run == nil {
		return p.agent, err
	}
	var pauses []agent.Pause
	for _, c := range m.State().Run.Calls {
		if c.Pause != nil {
			pauses = append(pauses, *c.Pause)
		}
	}
	return p.standIn(pauses)
}

// load returns the facts of a session, and its state.
func (p *program) load(ctx context.Context, session string) ([]agent.Fact, *machine.Machine, error) {
	facts, err := p.agent.Session(session).Facts(ctx)
	m, replayErr := machine.Replay(session, facts...)
	return facts, m, cmp.Or(err, replayErr)
}
