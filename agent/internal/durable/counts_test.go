package durable

import (
	"context"
	"encoding/binary"
	"iter"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// standardRun makes a run of 11 model calls and 10 tool calls, one in each step but the last.
func standardRun(tb testing.TB, store journal.Store, session string) {
	type input struct {
		N int `json:"n"`
	}
	type output struct {
		N int `json:"n"`
	}
	add := tools.New(tools.Spec{Name: "add", Description: "Adds one."},
		func(_ context.Context, in input) (output, error) { return output{in.N + 1}, nil })
	n := 0
	a, err := agent.New(agent.Config{Journal: store, Tools: []tools.Tool{add},
		Provider: providertest.Func(func(context.Context, *provider.Request) (*provider.Response, error) {
			if n++; n > 10 {
				return providertest.Say("All is counted.").Response(), nil
			}
			return providertest.Call("add", map[string]int{"n": n}).Response(), nil
		})})
	require.NoError(tb, err)
	res, err := a.Run(tb.Context(), agent.Input{Session: session, Prompt: "Count to ten, please."})
	require.NoError(tb, err)
	require.Equal(tb, 11, res.Steps)
}

// A callCounter counts the calls of a store by their names.
type callCounter struct {
	journal.Store
	calls map[string]int
}

func counted(s journal.Store) *callCounter { return &callCounter{s, make(map[string]int)} }

func (c *callCounter) Append(ctx context.Context, a journal.Append) error {
	c.calls["append"]++
	return c.Store.Append(ctx, a)
}

func (c *callCounter) Read(ctx context.Context, session string, after uint64) iter.Seq2[journal.Record, error] {
	c.calls["read"]++
	return c.Store.Read(ctx, session, after)
}

func (c *callCounter) Head(ctx context.Context, session string) (journal.Head, error) {
	c.calls["head"]++
	return c.Store.Head(ctx, session)
}

func (c *callCounter) Lease(ctx context.Context, session, owner string, ttl time.Duration) (journal.Lease, error) {
	c.calls["lease"]++
	return c.Store.Lease(ctx, session, owner, ttl)
}

func (c *callCounter) Release(ctx context.Context, l journal.Lease) error {
	c.calls["release"]++
	return c.Store.Release(ctx, l)
}

func (c *callCounter) Take(ctx context.Context, session string, fence uint64) ([]journal.Item, error) {
	c.calls["take"]++
	return c.Store.Take(ctx, session, fence)
}

func TestAStandardRunAsksItsStoreForNoMoreThanItNeeds(t *testing.T) {
	c := counted(&journal.MapStore{})
	standardRun(t, c, "s")
	require.Equal(t, map[string]int{"append": 24, "take": 2, "lease": 1, "head": 1, "release": 1}, c.calls)
}

func TestAStandardRunCommitsNoMoreToSQLiteThanItNeeds(t *testing.T) {
	file := filepath.Join(t.TempDir(), "runs.db")
	store, err := sqlite.Open(file, sqlite.Config{})
	require.NoError(t, err)
	defer store.Close()
	standardRun(t, store, "first")
	frames, commits := walOf(t, file)
	c := counted(store)
	standardRun(t, c, "s")
	f, n := walOf(t, file)
	require.Equal(t, 24, c.calls["append"])
	require.Equal(t, 26, n-commits, "the appends, the lease and its release")
	// two are of the index by which workers find runs whose process has died
	require.LessOrEqual(t, f-frames, 86, "pages")
}

// walOf returns how many pages and how many commits are in the write-ahead log of a SQLite file.
func walOf(t *testing.T, file string) (pages, commits int) {
	data, err := os.ReadFile(file + "-wal")
	require.NoError(t, err)
	page := int(binary.BigEndian.Uint32(data[8:]))
	for at := 32; at+24+page <= len(data); at += 24 + page {
		pages++
		if binary.BigEndian.Uint32(data[at+4:]) > 0 {
			commits++
		}
	}
	return pages, commits
}
