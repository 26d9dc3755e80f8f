//go:build unix

package live_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/internal/roletest"
	"github.com/pawlkit/pawl/provider/providertest"
)

func init() { roles["deliver"] = deliver }

// deliver writes what is delivered to a file, a line for each, and says so.
func deliver(args []string) error {
	store, err := sqlite.Open(args[0], sqlite.Config{})
	if err != nil {
		return err
	}
	lines, err := os.OpenFile(args[1], os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	a, err := agent.New(agent.Config{Journal: store, Provider: providertest.Script()})
	if err != nil {
		return err
	}
	_, err = live.New(live.Config{Agent: a, Recover: -1, Deliver: func(_ context.Context, d live.Delivery) error {
		_, err := fmt.Fprintln(lines, d.Session, d.Fact.Envelope().Seq)
		fmt.Println("delivered")
		return err
	}})
	if err != nil {
		return err
	}
	fmt.Println("begun")
	select {} // until it is killed
}

// beginning says when how far the deliveries have come is stored for the first time.
type beginning struct {
	journal.Store
	begun chan struct{}
	once  sync.Once
}

func (b *beginning) Append(ctx context.Context, a journal.Append) error {
	err := b.Store.Append(ctx, a)
	b.once.Do(func() { close(b.begun) })
	return err
}

func (b *beginning) Changes(ctx context.Context, cursor string) ([]journal.Change, string, error) {
	return journal.Changes(ctx, b.Store, cursor)
}

// A process that delivers is killed in the middle, again and again, while others run sessions.
func TestAKilledProcessMissesNoDelivery(t *testing.T) {
	dir := t.TempDir()
	path, lines := filepath.Join(dir, "runs.db"), filepath.Join(dir, "lines.txt")
	store, err := sqlite.Open(path, sqlite.Config{})
	require.NoError(t, err)
	defer store.Close()
	begins := &beginning{Store: store, begun: make(chan struct{})}
	h := newHub(t, live.Config{Agent: newAgent(t, agent.Config{Journal: begins}), Deliver: new(mailbox).deliver})
	<-begins.begun
	require.NoError(t, h.Close())
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	defer db.Close()

	a := askingAgent(t, store)
	delivered := func() (all []string) {
		text, err := os.ReadFile(lines)
		require.NoError(t, err)
		for line := range bytes.Lines(text) {
			all = append(all, strings.TrimSpace(string(line)))
		}
		return all
	}
	for round := range 5 {
		for i := range 3 {
			approved(t, a, fmt.Sprint("s-", round, "-", i))
		}
		// the lease of the process that was killed has ended
		_, err := db.Exec("UPDATE pawl_sessions SET until = 0 WHERE name = 'call/live/deliver'")
		require.NoError(t, err)
		p := roletest.Start(t, "deliver", path, lines)
		for range 1 + 1 + 3*round { // begun, and so many
			require.NotEmpty(t, p.Line())
		}
		if round == 4 {
			for !subset(delivered(), mustBeTold(t, store)) {
				require.NotEmpty(t, p.Line())
			}
		}
		p.Kill(t)
	}
	told := delivered()
	require.GreaterOrEqual(t, len(told), 60)
	require.LessOrEqual(t, len(told), 64, "each kill repeats one at most")
}

func subset(all, of []string) bool {
	have := make(map[string]bool)
	for _, s := range all {
		have[s] = true
	}
	for _, s := range of {
		if !have[s] {
			return false
		}
	}
	return true
}
