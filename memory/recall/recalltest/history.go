package recalltest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/memory/recall"
)

// bounds are the limits of the history's store.
var bounds = recall.Limits{Entries: 12, Bytes: 300, EntryBytes: 60}

// A history does what comes by chance to the store and to a map, and compares answers and states.
type history struct {
	*fixture
	entries  map[recall.ID]recall.Entry
	versions map[string]bool // that the store has given to a tenant
	outcomes map[string]int
}

func histories(f *fixture) {
	const seed = 11
	r := rand.New(rand.NewPCG(seed, seed))
	h := &history{f, make(map[recall.ID]recall.Entry), make(map[string]bool), make(map[string]int)}
	for step := range 600 {
		at := id([]string{"t", "u"}[r.IntN(2)], []string{"k", "j"}[r.IntN(2)], fmt.Sprint(r.IntN(10)))
		version := h.entries[at].Version
		switch r.IntN(10) {
		case 0:
			version = 0
		case 1:
			version = r.Int64N(200) - 1
		}
		if r.IntN(4) == 0 {
			h.delete(at, version)
		} else {
			value := fmt.Append(nil, step, []string{"", "\x00\xff"}[r.IntN(2)], strings.Repeat("x", r.IntN(70)))
			h.put(recall.Entry{ID: at, Version: version, Value: value[:len(value)*r.IntN(20)/19]})
		}
		h.agrees(at, step%20 == 0 || step == 599)
	}
	for _, want := range []string{"deleted", "nothing to delete", "not deleted", "conflict", "bytes of an entry",
		"bytes", "entries", "kept"} {
		if h.outcomes[want] == 0 {
			f.Fatalf("the history had no %q: %v", want, h.outcomes)
		}
	}
}

func (h *history) delete(at recall.ID, version int64) {
	old, found := h.entries[at]
	err := h.s.Delete(h.ctx, at, version)
	switch {
	case !found:
		h.outcomes["nothing to delete"]++
		h.same("class", fault.Of(err), fault.NotFound)
	case version != 0 && version != old.Version:
		h.outcomes["not deleted"]++
		h.conflict(err, at, version, old.Version)
	default:
		h.outcomes["deleted"]++
		h.same("deleting", err, nil)
		delete(h.entries, at)
	}
}

func (h *history) put(e recall.Entry) {
	old, found := h.entries[e.ID]
	use, had := recall.Use{}, int64(-1)
	for _, other := range h.entries {
		if other.Tenant == e.Tenant {
			use.Entries++
			use.Bytes += other.Size()
		}
	}
	if found {
		had = old.Size()
	}
	_, over := bounds.After(use, &e, had)
	v, err := h.s.Put(h.ctx, e)
	var want, got *recall.LimitError
	switch {
	case e.Version != old.Version:
		h.outcomes["conflict"]++
		h.conflict(err, e.ID, e.Version, old.Version)
	case errors.As(over, &want):
		h.outcomes[want.What]++
		if !errors.As(err, &got) || *got != *want {
			h.Fatalf("got error %v, want %v", err, want)
		}
	default:
		h.outcomes["kept"]++
		h.same("keeping", err, nil)
		given := fmt.Sprint(e.Tenant, v)
		if v <= 0 || h.versions[given] {
			h.Fatalf("version %d isn't above 0, or was used before", v)
		}
		e.Version, h.versions[given] = v, true
		h.entries[e.ID] = e
	}
}

// conflict wants a ConflictError with these versions.
func (h *history) conflict(err error, id recall.ID, want, have int64) {
	h.Helper()
	var c *recall.ConflictError
	if !errors.As(err, &c) || *c != (recall.ConflictError{ID: id, Want: want, Have: have}) {
		h.Fatalf("got %v, not a conflict of %q: %d instead of %d", err, id, want, have)
	}
}

// agrees compares an entry with the map, and all that the store keeps of two tenants.
func (h *history) agrees(at recall.ID, all bool) {
	h.Helper()
	if want, found := h.entries[at]; found {
		h.holds(at, want.Version, string(want.Value))
	} else if _, err := h.s.Get(h.ctx, at); !errors.Is(err, recall.ErrNotFound) {
		h.Fatalf("getting %q: %v, not ErrNotFound", at, err)
	}
	if all {
		h.same("entries", len(h.list("t", ""))+len(h.list("u", "")), len(h.entries))
	}
}
