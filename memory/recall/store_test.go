package recall_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/memory/recall"
	"github.com/pawlkit/pawl/tools"
)

func TestLoweredLimitsRejectOnlyIncreases(t *testing.T) {
	l := recall.Limits{Entries: 2, Bytes: 20, EntryBytes: 10}
	e := recall.Entry{Value: make([]byte, 12)}
	use, err := l.After(recall.Use{Entries: 5, Bytes: 90}, &e, 13)
	require.NoError(t, err, "it gets shorter")
	require.Equal(t, recall.Use{Entries: 5, Bytes: 89}, use)
	_, err = l.After(recall.Use{Entries: 5, Bytes: 90}, &e, 11)
	require.Error(t, err)
	_, err = l.After(recall.Use{Entries: 5, Bytes: 9}, &recall.Entry{}, -1)
	require.Error(t, err)
	require.Equal(t, recall.Limits{Entries: 1000, Bytes: 4 << 20, EntryBytes: 16 << 10},
		recall.Limits{Bytes: -1}.OrDefault())
}

// A contended is a store in which every Put conflicts.
type contended struct{ recall.MapStore }

func (*contended) Put(_ context.Context, e recall.Entry) (int64, error) {
	return 0, &recall.ConflictError{ID: e.ID, Want: e.Version, Have: e.Version + 1}
}

func TestAnUpdateThatAlwaysConflictsFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // it is tried again after a while
		d := newDesk(t, &contended{}, "t")
		out := d.run("s", "", "notes.write", object{"key": "a", "text": "b"})
		require.Equal(t, tools.Failed, out.Status)
		require.Equal(t, fault.Transient, out.Class)
	})
}

func TestADamagedEntryDoesNotHideTheOthers(t *testing.T) {
	store := &recall.MapStore{}
	d := newDesk(t, store, "t")
	d.ok("s", "facts.save", object{"key": "good", "text": "x"})
	_, err := store.Put(t.Context(),
		recall.Entry{ID: recall.ID{Tenant: "t", Kind: "fact", Key: "bad"}, Value: []byte("{")})
	require.NoError(t, err)
	require.Contains(t, d.ok("s", "facts.find", object{}), `"good"`)
	out := d.run("s", "", "facts.save", object{"key": "bad", "text": "x"})
	require.Equal(t, fault.Permanent, out.Class, "and isn't overwritten")
}

func TestLongTextsAreCutInListsAndWholeByKey(t *testing.T) {
	d := newDesk(t, &recall.MapStore{}, "t")
	long := strings.Repeat("ä", 2000)
	d.ok("s", "notes.write", object{"key": "n", "text": long})
	d.ok("s", "facts.save", object{"key": "n", "text": long})
	for _, tool := range []string{"notes.read", "facts.find"} {
		list := d.ok("s", tool, object{})
		require.Less(t, len(list), 900)
		require.Contains(t, list, `"cut":true`)
		require.Contains(t, d.ok("s", tool, object{"key": "n"}), long)
	}
}

// BenchmarkFindFacts searches 1,000 facts of 100 bytes.
func BenchmarkFindFacts(b *testing.B) {
	store := &recall.MapStore{}
	m, err := recall.New(recall.Config{Store: store, Scope: recall.Fixed(recall.Scope{Tenant: "t", Session: "s"})})
	require.NoError(b, err)
	reg, err := tools.NewRegistry(m.Facts()...)
	require.NoError(b, err)
	run := func(name, input string) {
		out := reg.Run(b.Context(), tools.Call{Name: name, Input: []byte(input)}, tools.Options{})
		require.Equal(b, tools.OK, out.Status, "%v", out.Err)
	}
	for i := range 1000 {
		run("facts.save", fmt.Sprintf(`{"key":"k%d","text":"%s %d"}`, i, strings.Repeat("word ", 20), i))
	}
	b.ReportAllocs()
	for b.Loop() {
		run("facts.find", `{"query":"word 512"}`)
	}
}
