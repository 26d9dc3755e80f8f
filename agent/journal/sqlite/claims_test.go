package sqlite

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/internal/sqljournal"
)

var claimOfA = journal.Claim{Agents: []string{"a"}}

// A ripening database has a session become due after each transaction.
type ripening struct {
	*seeing
	tb testing.TB
	n  int
}

func (r *ripening) Write(ctx context.Context, fn func(context.Context, sqljournal.Tx) error) error {
	defer func() {
		r.n++
		fillQueue(r.tb, r.seeing, fmt.Sprintf("ripe-%d-", r.n), 1, "''", "i", "1", "0")
	}()
	return r.seeing.Write(ctx, fn)
}

func TestAClaimTakesWhatIsReadyThoughMoreBecomesDue(t *testing.T) {
	_, db := openQueue(t)
	waiting["of one group"](t, db, 20)
	fillQueue(t, db, "ripe", 1, "''", "i", "1", "0")
	store := sqljournal.New(&ripening{seeing: db, tb: t}, dialect)
	for range 20 {
		q, _, err := store.Claim(t.Context(), claimOfA, "w", time.Minute)
		require.NoError(t, err)
		require.NotEmpty(t, q.Session)
	}
}
