package site

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/examples/worker/internal/ledger"
	"github.com/pawlkit/pawl/examples/worker/internal/report"
)

// prefix begins the names of the sessions of reports.
const prefix = "report-"

// A Queue takes inputs for workers.
type Queue func(ctx context.Context, in agent.Input) error

// InJournal is the queue of agent/work: the journal itself.
func InJournal(a *agent.Agent) Queue {
	return func(ctx context.Context, in agent.Input) error {
		return a.Enqueue(ctx, in, agent.QueueOptions{Attempts: report.Attempts})
	}
}

// Enqueue asks for a report, and returns its session. The same key gives the same session; for one
// that was used before, the error is [agent.ErrDuplicate].
func Enqueue(ctx context.Context, q Queue, l *ledger.Ledger, topic, key string) (session string, err error) {
	topic = strings.Join(strings.Fields(topic), " ")
	if topic == "" || len(topic) > 200 {
		return "", &agent.ArgError{Field: "topic", Problem: "give a topic of up to 200 bytes"}
	}
	id := sha256.Sum256([]byte(key))
	if key == "" {
		_, _ = rand.Read(id[:]) // it never fails
	}
	session = prefix + hex.EncodeToString(id[:4])
	if err := q(ctx, report.Input(session, topic, key)); err != nil {
		return session, err
	}
	return session, l.Accept(ctx, session, topic)
}

// Count counts from the ledger what was repeated and what is lost: effects that ended runs should
// have had, and runs that were accepted and aren't in the journal.
func Count(ctx context.Context, a *agent.Agent, l *ledger.Ledger) (t ledger.Totals, lost, open int, err error) {
	if t, err = l.Totals(ctx); err != nil {
		return t, 0, 0, err
	}
	lost = t.Missing
	sessions, err := l.Unended(ctx)
	for _, session := range sessions {
		switch _, err := a.Session(session).Info(ctx); {
		case errors.Is(err, agent.ErrNothingOpen):
			lost++
		case err != nil:
			return t, lost, open, err
		default:
			open++
		}
	}
	return t, lost, open, err
}
