package file

import (
	"bytes"
	"context"
	"crypto/md5"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal"
)

// A script is a sequence of changes of some sessions. A step that fails is repeated until it
// succeeds.
type script struct {
	steps []func(ctx context.Context, st *Store) error
	lease map[string]journal.Lease
	most  map[string]uint64 // the highest fence of each session
}

var sessions = []string{"a", "B/b", "gone"}

func newScript() *script {
	s := &script{lease: map[string]journal.Lease{}, most: map[string]uint64{}}
	add := func(do func(ctx context.Context, st *Store) error) { s.steps = append(s.steps, do) }
	appendTo := func(session string, after uint64, status string, taken []string, records ...journal.Record) {
		add(func(ctx context.Context, st *Store) error {
			a := journal.Append{Session: session, After: after, Fence: s.lease[session].Fence, Records: records,
				Taken: taken}
			if status != "" {
				a.Head = &journal.HeadUpdate{Status: status, Open: []journal.Open{{ID: "o", Title: status}}}
			}
			return st.Append(ctx, a)
		})
	}
	lease := func(session string) {
		add(func(ctx context.Context, st *Store) error {
			l, err := st.Lease(ctx, session, "me", time.Hour)
			if err == nil {
				if l.Fence <= s.most[session] {
					return fmt.Errorf("fence %d of %q after %d", l.Fence, session, s.most[session])
				}
				s.lease[session], s.most[session] = l, l.Fence
			}
			return err
		})
	}
	release := func(session string) {
		add(func(ctx context.Context, st *Store) error { return st.Release(ctx, s.lease[session]) })
	}
	post := func(session, id string, size int, closes ...string) {
		add(func(ctx context.Context, st *Store) error {
			err := st.Post(ctx, session, journal.Item{ID: id, Kind: "k", Time: time.Unix(1, 2),
				Data: bytes.Repeat([]byte{7}, size), Closes: closes})
			if errors.As(err, new(*journal.PostedError)) {
				return nil // our own post, stored by an earlier try
			}
			return err
		})
	}
	remove := func(session string, upTo uint64) {
		add(func(ctx context.Context, st *Store) error {
			if upTo == journal.All {
				defer delete(s.lease, session)
			}
			return st.Delete(ctx, session, upTo)
		})
	}

	lease("a")
	appendTo("a", 0, "running", nil, rec(1))
	appendTo("a", 1, "", nil, rec(2), rec(3), rec(4))
	appendTo("B/b", 0, "", nil, rec(1))
	post("B/b", "x", 150)
	lease("gone")
	appendTo("gone", 0, "gone soon", nil, rec(1))
	post("a", "i-1", 10)
	post("a", "i-2", 300, "q-1", "q-2")
	appendTo("a", 4, "decided", []string{"i-1", "never posted"}, rec(5))
	remove("a", 2)
	appendTo("a", 5, "paused", nil)
	lease("a")
	remove("gone", journal.All)
	appendTo("a", 5, "", nil, journal.Record{Kind: "big", Data: bytes.Repeat([]byte("big\n"), 200)}, rec(7))
	appendTo("B/b", 1, "on", []string{"x"}, rec(2))
	lease("gone")
	appendTo("gone", 0, "", nil, rec(1))
	release("gone")
	remove("a", 6)
	add(func(ctx context.Context, st *Store) error {
		_, err := st.Renew(ctx, s.lease["a"], 2*time.Hour)
		return err
	})
	appendTo("a", 7, "", []string{"i-2"}, rec(8))
	remove("B/b", 1)
	remove("gone", journal.All)
	appendTo("B/b", 2, "", nil, rec(3))
	release("a")
	return s
}

// dump describes the sessions without times and fences, which differ from run to run.
func dump(t testing.TB, st *Store) string {
	t.Helper()
	var out bytes.Buffer
	for _, name := range sessions {
		h, err := st.Head(t.Context(), name)
		if errors.Is(err, journal.ErrNoSession) {
			continue
		}
		require.NoError(t, err)
		fmt.Fprintf(&out, "%s: status %q, open %v, records %d to %d, owner %q, inbox", name, h.Status, h.Open, h.Pruned,
			h.Seq, h.Owner)
		var items []journal.Item
		if h.Owner != "" || h.Fence == 0 {
			items, err = st.Take(t.Context(), name, h.Fence)
			require.NoError(t, err)
			require.Len(t, items, h.Inbox)
		}
		for _, it := range items {
			fmt.Fprintf(&out, " %s %s %v %x", it.ID, it.Kind, it.Time, md5.Sum(it.Data))
		}
		require.NoError(t, st.run(t.Context(), name, false, func(s *session) error {
			fmt.Fprintf(&out, "\n  ids %v", s.ids)
			return nil
		}))
		for _, r := range read(t, st, name, h.Pruned) {
			fmt.Fprintf(&out, "\n  %d %v %s %d %x", r.Seq, r.Time, r.Kind, r.V, md5.Sum(r.Data))
		}
		fmt.Fprintln(&out)
	}
	return out.String()
}

// snapshots returns the dumps before and after each step if nothing fails, and the number of
// operations.
func snapshots(t *testing.T, d Durability) (shots []string, ops int) {
	t.Helper()
	disk, s := newMemDisk(0), newScript()
	st := testStore(t, disk, d)
	shots = append(shots, dump(t, st))
	for i, step := range s.steps {
		require.NoError(t, step(t.Context(), st), "step %d", i)
		before := disk.ops
		shots = append(shots, dump(t, st))
		disk.ops = before // those of dump don't count
	}
	require.NoError(t, st.Close())
	require.Zero(t, disk.open)
	return shots, disk.ops
}

// testStore returns a store that writes many checkpoints, and keeps few files open.
func testStore(t testing.TB, disk fsys, d Durability) *Store {
	t.Helper()
	require.NoError(t, Config{Durability: d}.check())
	st := open(disk, Config{Durability: d, Files: 2})
	st.every = 300
	return st
}

// finish runs the steps from number at on, the first of them perhaps for a second time.
func (s *script) finish(t testing.TB, st *Store, at int) {
	t.Helper()
	for i, step := range s.steps[at:] {
		require.NoError(t, step(t.Context(), st), "step %d", at+i)
	}
}

// until runs the steps until one fails, and returns its number.
func (s *script) until(t testing.TB, st *Store) (int, error) {
	t.Helper()
	for i, step := range s.steps {
		if err := step(t.Context(), st); err != nil {
			return i, err
		}
	}
	return len(s.steps), nil
}

func TestACrashAtAnyPointLosesNothingAcknowledged(t *testing.T) {
	for _, c := range []struct {
		name  string
		d     Durability
		power bool
		keep  float64
	}{
		{"the process dies", Process, false, 0},
		{"the process dies, to survive a loss of power", Power, false, 0},
		{"power is lost, and all that wasn't synced", Power, true, 0},
		{"power is lost, and some of what wasn't synced", Power, true, 0.5},
		{"power is lost, and little of what wasn't synced", Power, true, 0.9},
	} {
		t.Run(c.name, func(t *testing.T) {
			shots, ops := snapshots(t, c.d)
			for at := 1; at <= ops; at += stepBetween {
				for seed := range uint64(2) {
					disk, s := newMemDisk(uint64(at)<<8|seed), newScript()
					disk.dieAt = at
					done, err := s.until(t, testStore(t, disk, c.d))
					if done == len(s.steps) {
						continue // died while a checkpoint was written
					}
					require.ErrorIs(t, err, errDead)
					require.True(t, journal.Unclear(err))
					if c.power {
						disk.cut(c.keep)
					} else {
						disk.die()
					}
					st := testStore(t, disk, c.d)
					seen := dump(t, st)
					if seen != shots[done] {
						require.Equal(t, shots[done+1], seen, "operation %d, seed %d, step %d", at, seed, done)
					}
					s.finish(t, st, done)
					require.Equal(t, shots[len(s.steps)], dump(t, st), "operation %d, seed %d", at, seed)
				}
			}
		})
	}
}

// Another process sees what a dead process had written and not yet synced. It must be synced before
// it is acknowledged.
func TestAChangeOfADeadProcessIsSyncedBeforeItIsAcknowledged(t *testing.T) {
	shots, ops := snapshots(t, Power)
	for at := 1; at <= ops; at += stepBetween {
		for seed := range uint64(2) {
			disk, s := newMemDisk(uint64(at)<<8|seed), newScript()
			disk.dieAt = at
			done, _ := s.until(t, testStore(t, disk, Power))
			if done == len(s.steps) {
				continue
			}
			disk.die()
			require.NoError(t, s.steps[done](t.Context(), testStore(t, disk, Power)))
			disk.cut(0)
			require.Equal(t, shots[done+1], dump(t, testStore(t, disk, Power)), "operation %d, seed %d, step %d", at,
				seed, done)
		}
	}
}

func TestAFailedChangeIsTakenBackAndLeavesNothingToRepair(t *testing.T) {
	_, ops := snapshots(t, Power)
	for at := 1; at <= ops; at += stepBetween {
		disk, s := newMemDisk(uint64(at)), newScript()
		disk.failAt, disk.fails = at, 1
		st := testStore(t, disk, Power)
		st.cfg.OnRepair = func(r Repair) { require.Fail(t, "repaired", "operation %d: %+v", at, r) }
		for _, step := range s.steps {
			if step(t.Context(), st) != nil {
				require.NoError(t, step(t.Context(), st))
			}
		}
	}
}

func TestAFailureAtAnyPointIsReturnedAndTheSameChangeAgainSettlesIt(t *testing.T) {
	for _, d := range []Durability{Power, Process} {
		for _, fails := range []int{1, 2, 5} {
			t.Run(fmt.Sprintf("durability %d, %d in a row", d, fails), func(t *testing.T) {
				shots, ops := snapshots(t, d)
				for at := 1; at <= ops; at += stepBetween {
					disk, s := newMemDisk(uint64(at)), newScript()
					disk.failAt, disk.fails = at, fails
					st := testStore(t, disk, d)
					for i, step := range s.steps {
						for {
							err := step(t.Context(), st)
							if err == nil {
								break
							}
							require.ErrorIs(t, err, errInjected, "operation %d, step %d", at, i)
							require.True(t, journal.Unclear(err))
							if disk.fails > 0 {
								continue // not yet over
							}
							seen := dump(t, testStore(t, disk, d)) // another process
							if seen != shots[i] {
								require.Equal(t, shots[i+1], seen, "operation %d, step %d", at, i)
							}
						}
					}
					disk.fails = 0
					require.Equal(t, shots[len(s.steps)], dump(t, st), "operation %d", at)
					if d == Power {
						disk.cut(0)
						require.Equal(t, shots[len(s.steps)], dump(t, testStore(t, disk, d)),
							"operation %d, power lost afterwards", at)
					}
				}
			})
		}
	}
}
