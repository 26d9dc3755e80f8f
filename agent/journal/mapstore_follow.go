package journal

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

var _ Follower = (*MapStore)(nil)

// A turn is a change of a session: its number among all changes, and that of its last record.
type turn struct{ n, seq uint64 }

const memoryPrefix = "memory:"

func memoryCursor(n uint64) string { return memoryPrefix + strconv.FormatUint(n, 10) }

// Changes implements [Follower]. It returns all that there are.
func (m *MapStore) Changes(ctx context.Context, cursor string) (changes []Change, next string, err error) {
	if err := ctx.Err(); err != nil {
		return nil, "", fmt.Errorf("journal: changes: %w", err)
	}
	var after uint64
	if text, ok := strings.CutPrefix(cursor, memoryPrefix); ok {
		after, err = strconv.ParseUint(text, 10, 64)
	}
	if err != nil || after == 0 && cursor != "" && cursor != Newest && cursor != memoryCursor(0) {
		return nil, "", errCursor
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	next = memoryCursor(m.turn)
	if cursor == Newest || after == m.turn {
		return nil, next, nil
	}
	if after > m.turn { // it is of another process
		after = 0
	}
	type numbered struct {
		n uint64
		Change
	}
	var all []numbered
	for name, s := range m.sessions {
		from := s.head.Pruned
		for _, t := range s.turns {
			if t.n > after && t.seq > from {
				all = append(all,
					numbered{t.n, Change{Session: name, After: from, Seq: t.seq, Cursor: memoryCursor(t.n)}})
			}
			from = max(from, t.seq)
		}
	}
	slices.SortFunc(all, func(x, y numbered) int { return cmp.Compare(x.n, y.n) })
	for i := range all {
		changes = append(changes, all[i].Change)
	}
	return changes, next, nil
}
