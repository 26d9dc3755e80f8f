package journaltest

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/pawlkit/pawl/agent/journal"
)

// follower is a store in memory with changes of its own.
type follower struct {
	journal.Store
	change func(m journal.Follower, ctx context.Context, cursor string) ([]journal.Change, string, error)
}

func (f *follower) Changes(ctx context.Context, cursor string) ([]journal.Change, string, error) {
	return f.change(f.Store.(journal.Follower), ctx, cursor)
}

// altered returns a store whose changes are altered when there are some.
func altered(alter func(list []journal.Change, next string) ([]journal.Change, string)) journal.Store {
	return &follower{&journal.MapStore{},
		func(m journal.Follower, ctx context.Context, cursor string) ([]journal.Change, string, error) {
			list, next, err := m.Changes(ctx, cursor)
			if len(list) > 0 {
				list, next = alter(list, next)
			}
			return list, next, err
		}}
}

func TestEveryDefectOfAFollowerIsCaught(t *testing.T) {
	for name, d := range map[string]struct {
		store journal.Store
		check func(*fixture)
	}{
		"the newest comes first": {altered(func(list []journal.Change, next string) ([]journal.Change, string) {
			list[0], list[len(list)-1] = list[len(list)-1], list[0]
			return list, next
		}), changesInOrder},
		"each cursor is the last one": {altered(func(list []journal.Change, next string) ([]journal.Change, string) {
			for i := range list {
				list[i].Cursor = next
			}
			return list, next
		}), changesInOrder},
		"one of several is missed": {altered(func(list []journal.Change, next string) ([]journal.Change, string) {
			return list[:max(1, len(list)-1)], next
		}), changesInParts},
		"only the last record is one of the change": {
			altered(func(list []journal.Change, next string) ([]journal.Change, string) {
				for i := range list {
					list[i].After = list[i].Seq - 1
				}
				return list, next
			}), changesWithRecords},
		"the newest is the oldest": {&follower{&journal.MapStore{},
			func(m journal.Follower, ctx context.Context, cursor string) ([]journal.Change, string, error) {
				if cursor == journal.Newest {
					return nil, "memory:0", nil
				}
				return m.Changes(ctx, cursor)
			}}, changesFromNow},
		"pruned records are told": {altered(func(list []journal.Change, next string) ([]journal.Change, string) {
			list[0].After = 0
			return list, next
		}), changesGone},
		"each cursor is taken": {&follower{&journal.MapStore{},
			func(m journal.Follower, ctx context.Context, cursor string) ([]journal.Change, string, error) {
				list, next, err := m.Changes(ctx, cursor)
				if err != nil {
					return m.Changes(ctx, "")
				}
				return list, next, nil
			}}, changesOfNoCursor},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				failure := failureOf(t.Context(), check{name, d.check}, d.store)
				if failure == "" {
					t.Fatal("it isn't caught")
				}
				t.Log(failure)
			})
		})
	}
	for _, c := range followChecks {
		if failure := failureOf(t.Context(), c, &journal.MapStore{}); failure != "" {
			t.Errorf("%s: %s", c.name, failure)
		}
	}
}
