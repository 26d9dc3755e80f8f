package journal

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

const (
	// behind is how far back the heads are listed: an append that takes longer could be missed.
	behind = 2 * time.Minute
	// listedAtOnce is the most changes that are returned at once.
	listedAtOnce = 200
	listedPrefix = "heads:"
)

// A listing is the cursor of a store that isn't a [Follower]: until when the sessions were listed,
// and what is known of those that had changed not long before.
type listing struct {
	Until int64             `json:"until"` // nanoseconds since 1970, by the store's clock; 0: nothing was listed
	Seen  map[string]listed `json:"seen,omitempty"`
}

// A listed is what is known of a session.
type listed struct {
	Created int64  `json:"created"` // another session of that name was created at another time
	Seq     uint64 `json:"seq"`
}

// from returns the time from which heads are listed.
func (l *listing) from() time.Time {
	if l.Until == 0 {
		return time.Time{}
	}
	return time.Unix(0, l.Until).Add(-behind)
}

// after returns the listing after a head.
func (l *listing) after(h *Head) {
	l.Until = max(l.Until, h.Updated.UnixNano())
	if l.Seen == nil {
		l.Seen = make(map[string]listed)
	}
	l.Seen[h.Session] = listed{h.Created.UnixNano(), h.Seq}
}

func (l *listing) cursor() string {
	text, _ := json.Marshal(l) // numbers and names
	return listedPrefix + string(text)
}

// listChanges is [Changes] by the heads.
func listChanges(ctx context.Context, store Store, cursor string) ([]Change, string, error) {
	var l listing
	text, ok := strings.CutPrefix(cursor, listedPrefix)
	if cursor != "" && cursor != Newest && (!ok || json.Unmarshal([]byte(text), &l) != nil) {
		return nil, "", errCursor
	}
	heads, err := changedHeads(ctx, store, &l, cursor == Newest)
	if err != nil {
		return nil, "", err
	}
	if cursor == Newest {
		l.Until = 1 // so that sessions to come aren't older than the order
		for i := range heads {
			l.after(&heads[i])
		}
		return nil, l.cursor(), nil
	}
	for name := range l.Seen { // what isn't listed any more needn't be known
		if !slices.ContainsFunc(heads, func(h Head) bool { return h.Session == name }) {
			delete(l.Seen, name)
		}
	}
	var changes []Change
	for i := range heads {
		h := &heads[i]
		saw, known := l.Seen[h.Session]
		known = known && saw.Created == h.Created.UnixNano()
		if known && saw.Seq >= h.Seq || h.Seq == h.Pruned {
			continue
		}
		if len(changes) == listedAtOnce {
			break
		}
		c := Change{Session: h.Session, After: max(saw.Seq, h.Pruned), Seq: h.Seq}
		if !known {
			if c.After, err = olderThan(ctx, store, h, l.from()); err != nil {
				return nil, "", err
			}
		}
		l.after(h)
		c.Cursor = l.cursor()
		changes = append(changes, c)
	}
	return changes, l.cursor(), nil
}

// changedHeads returns the heads of the sessions that have changed since not long before the
// listing, the oldest change first. If newest is set, the listing begins with the newest.
func changedHeads(ctx context.Context, store Store, l *listing, newest bool) (heads []Head, err error) {
	from := l.from()
	for h, err := range store.Heads(ctx, Filter{Newest: true}) {
		switch {
		case err != nil && h.Session == "":
			return nil, err
		case err != nil: // a damaged session harms no other
			continue
		case newest && len(heads) == 0:
			from = h.Updated.Add(-behind)
		}
		if h.Updated.Before(from) {
			break
		}
		heads = append(heads, h)
	}
	slices.SortFunc(heads, func(x, y Head) int {
		return cmp.Or(x.Updated.Compare(y.Updated), cmp.Compare(x.Session, y.Session))
	})
	return heads, nil
}

// olderThan returns the number of the last record of a session before one that may be newer than a
// time, by the records' own times.
func olderThan(ctx context.Context, store Store, h *Head, from time.Time) (uint64, error) {
	after := h.Pruned
	if !h.Created.Before(from) {
		return after, nil
	}
	for r, err := range store.Read(ctx, h.Session, h.Pruned) {
		if err != nil {
			return 0, err
		}
		if !r.Time.Before(from) {
			break
		}
		after = r.Seq
	}
	return min(after, h.Seq-1), nil
}

var errCursor = &InvalidError{Field: "cursor", Problem: "isn't one of this store; give one that Changes of the store " +
	"has returned, or an empty one to begin with the oldest change"}
