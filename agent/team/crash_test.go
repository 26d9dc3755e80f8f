package team

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/internal/roletest"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

var kills = flag.Int("kills", 2, "how many processes TestCrashesLoseNoReportAndRepeatNone kills, at least")

const (
	crashSessions = 3
	crashPrompt   = "start books maps borrow-1 wait-1"
	crashWork     = 4
)

// serveTeam is the role of the processes that are killed: it begins the conversations, approves
// what they ask, and ends when all of their work is told. It prints a line for each fact.
func serveTeam(args []string) error {
	store, err := sqlite.Open(filepath.Join(args[0], "runs.db"), sqlite.Config{Durability: sqlite.Process})
	if err != nil {
		return err
	}
	defer store.Close()
	work := func(name string) tools.Tool {
		return tools.New(tools.Spec{Name: name, Idempotent: true, Approval: map[string]tools.Approval{
			"borrow": tools.AskAlways}[name]}, func(context.Context, item) (string, error) {
			time.Sleep(time.Duration(rand.IntN(20)) * time.Millisecond)
			return "done", nil
		})
	}
	hub := func(name string, m provider.Provider, list ...tools.Tool) (*live.Hub, error) {
		a, err := agent.New(agent.Config{Name: name, Journal: store, Lease: time.Second, Provider: m, Tools: list})
		if err != nil {
			return nil, err
		}
		return live.New(live.Config{Agent: a, Recover: 50 * time.Millisecond, Drain: time.Second})
	}
	librarian, err := hub("librarian", model(reader), work("borrow"), work("wait"))
	if err != nil {
		return err
	}
	background, err := New(Config{Members: map[string]Member{"librarian": {Hub: librarian}}, Parallel: 3,
		Every: 20 * time.Millisecond})
	if err != nil {
		return err
	}
	lead, err := hub("guide", model(guide), append(background.Tools(), work("wait"))...)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	all.Go(func() { _ = background.Run(ctx, lead) })
	for n := range crashSessions {
		s := fmt.Sprint("s-", n)
		all.Go(func() {
			for after := uint64(0); ctx.Err() == nil; {
				for ev, err := range lead.Watch(ctx, s, after) {
					if err != nil {
						break
					}
					if seq := ev.Envelope().Seq; seq > after {
						after = seq
						fmt.Printf("%T\n", ev)
					}
				}
				time.Sleep(5 * time.Millisecond)
			}
		})
	}
	for begun := map[string]bool{}; ; {
		sum := 0
		for n := range crashSessions {
			s := fmt.Sprint("s-", n)
			if !begun[s] {
				_, err := lead.Start(ctx, agent.Input{Session: s, Prompt: crashPrompt, Key: "first"})
				begun[s] = err == nil || errors.Is(err, agent.ErrDuplicate)
			}
			list, err := background.list(ctx, journal.Filter{Parent: s, Label: agent.Label(labelWork, reported)})
			if err != nil {
				return err
			}
			sum += len(list)
			if pending, err := lead.Agent().Session(s).Pending(ctx); err == nil && len(pending) > 0 {
				_, _ = lead.Decide(ctx, s, agent.Approve(pending[0].ID))
			}
		}
		if sum == crashSessions*crashWork {
			return errors.Join(lead.Close(), librarian.Close())
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// TestCrashesLoseNoReportAndRepeatNone kills processes that share a team, at random moments: each
// call has started one piece of work, and the log of each conversation has one report of each.
func TestCrashesLoseNoReportAndRepeatNone(t *testing.T) {
	t.Parallel()
	var killed atomic.Int64
	for first := true; first || killed.Load() < int64(*kills); first = false {
		dir := t.TempDir()
		var done atomic.Bool
		for !done.Load() {
			var both sync.WaitGroup
			for range 2 {
				p := roletest.Start(t, "serve", dir)
				both.Go(func() {
					n := -1
					if killed.Load() < int64(*kills) {
						n = 1 + rand.IntN(100)
						defer time.AfterFunc(5*time.Second, func() { _ = p.Process.Kill() }).Stop()
					}
					for line := p.Line(); line != ""; line = p.Line() {
						if n--; n == 0 {
							<-time.After(time.Duration(rand.IntN(5000)) * time.Microsecond)
							_ = p.Process.Kill()
						}
					}
					switch err := p.Wait(); {
					case err == nil:
						done.Store(true)
					case p.ProcessState.ExitCode() != -1:
						t.Errorf("a process has failed: %v", err)
						done.Store(true)
					default:
						killed.Add(1)
					}
				})
			}
			both.Wait()
		}
		checkReports(t, dir)
	}
	t.Logf("%d processes killed", killed.Load())
}

func checkReports(t *testing.T, dir string) {
	store, err := sqlite.Open(filepath.Join(dir, "runs.db"), sqlite.Config{})
	require.NoError(t, err)
	defer store.Close()
	for n := range crashSessions {
		reports, work := map[string]int{}, 0
		for rec, err := range store.Read(t.Context(), fmt.Sprint("s-", n), 0) {
			require.NoError(t, err)
			f, err := machine.Decode(fmt.Sprint("s-", n), rec)
			require.NoError(t, err)
			if id, ok := reportOf(f); ok {
				reports[id]++
			}
		}
		for h, err := range store.Heads(t.Context(), journal.Filter{Parent: fmt.Sprint("s-", n)}) {
			require.NoError(t, err)
			work++
			require.Equal(t, string(agent.Completed), h.Status, h.Session)
			require.Equal(t, 1, reports[new(Team).workOf(h).ID], "%s in %v", h.Session, reports)
		}
		require.Equal(t, crashWork, work)
		require.Len(t, reports, crashWork)
	}
}
