package serve_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/approvals"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/serve"
)

// A damaged store can't read the log, or the head, of session "ann/1".
type damaged struct {
	journal.Store
	head, log error
	records   []journal.Record // in place of the log, without an error
}

func (s *damaged) Head(ctx context.Context, session string) (journal.Head, error) {
	if session == "ann/1" && s.head != nil {
		return journal.Head{}, s.head
	}
	return s.Store.Head(ctx, session)
}

func (s *damaged) Read(ctx context.Context, session string, after uint64) iter.Seq2[journal.Record, error] {
	if session != "ann/1" {
		return s.Store.Read(ctx, session, after)
	}
	return func(yield func(journal.Record, error) bool) {
		for _, r := range s.records {
			if !yield(r, nil) {
				return
			}
		}
		if s.log != nil {
			yield(journal.Record{}, s.log)
		}
	}
}

func TestASessionThatCannotBeReadIsAnUnknownOneToThoseWhoMayNotSeeIt(t *testing.T) {
	broken := errors.New("sqlite: session \"ann/1\": it is damaged; the password is hunter2")
	for name, store := range map[string]damaged{
		"its log can't be read":        {log: broken},
		"its head can't be read":       {head: broken},
		"its log is of another format": {records: []journal.Record{{Seq: 1, Kind: "what", V: 99}}},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, agent.Config{}, call("cms.remove", "home"))
			id := d.run("ann/1")[0].ID
			store.Store = d.store
			d.store = &store
			d.restart()

			answers := map[string]bool{}
			for _, session := range []string{"ann/1", "nowhere"} {
				for _, q := range []asked{
					{method: "GET", target: itemPath(session, id)},
					{method: "GET", target: itemPath(session, "p-0")},
					{method: "POST", target: "/decide", body: body(session, id, "approve")},
				} {
					q.user = "tom"
					w := d.ask(q)
					require.Equal(t, 404, w.Code, "%s %s", q.method, q.target)
					answers[untraced(t, w)] = true

					q.user = "ann"
					status, code, message := verdict(t, d.ask(q))
					require.NotContains(t, message, "password")
					if session == "nowhere" {
						require.Equal(t, 404, status)
						continue
					}
					require.Equal(t, 500, status, "%s %s", q.method, q.target)
					require.Equal(t, serve.CodeInternal, code)
				}
			}
			require.Len(t, answers, 1)
		})
	}
}

func TestASessionThatCannotBeReadDoesNotEndTheList(t *testing.T) {
	var many []journal.Open
	for i := range journal.MaxOpen {
		many = append(many, journal.Open{ID: fmt.Sprint("p-", i), Kind: "approval", Title: "cms.remove: x"})
	}
	broken := errors.New("the log is damaged")
	d := newDesk(t, agent.Config{})
	d.store = &damaged{Store: waiting(t,
		map[string][]journal.Open{"ann/0": many[:1], "ann/1": many, "ann/2": many[:1]}), log: broken}
	d.restart()

	var page struct {
		Items []approvals.Open
		Next  string
	}
	require.Equal(t, 200, d.get("ann", "/", &page))
	require.Equal(t, 1+journal.MaxOpen, len(page.Items))
	require.Equal(t, "ann/1", page.Next)
}
