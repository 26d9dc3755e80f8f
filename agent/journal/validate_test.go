package journal_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal"
)

func TestARefusalNamesTheFieldAndTheProblem(t *testing.T) {
	good := journal.Record{Kind: "k"}
	for _, c := range []struct {
		err  error
		want string
	}{
		{journal.Append{}.Validate(), "journal: Append.Session is empty"},
		{journal.Append{Session: "s"}.Validate(), "journal: Append is empty; it needs Records, Head or Taken"},
		{
			journal.Append{Session: "s", After: 1 << 63, Records: []journal.Record{good}}.Validate(),
			"journal: Append.After is too large; numbers end at 1<<63-1",
		},
		{
			journal.Append{Session: "s", After: 4, Records: []journal.Record{good, {Kind: "k", Seq: 7}}}.Validate(),
			"journal: Append.Records[1].Seq is 7; it must be 0 or 6",
		},
		{
			journal.Append{Session: "s", Records: []journal.Record{{Kind: "a\x00"}}}.Validate(),
			"journal: Append.Records[0].Kind contains the control character U+0000",
		},
		{
			journal.Append{Session: "s", Records: []journal.Record{{Kind: "k", Time: time.Unix(1<<40, 0)}}}.Validate(),
			"journal: Append.Records[0].Time is in the year 36812; it must be zero or between 1678 and 2262",
		},
		{journal.Append{Session: "s", Taken: []string{"\xff"}}.Validate(),
			"journal: Append.Taken[0] isn't valid UTF-8"},
		{
			journal.Append{Session: "s", Head: &journal.HeadUpdate{Open: []journal.Open{{}}}}.Validate(),
			"journal: Append.Head.Open[0].ID is empty",
		},
		{journal.Item{ID: "i"}.Validate(), "journal: Item.Kind is empty"},
		{journal.Item{ID: "i", Kind: "k", Closes: []string{"a", ""}}.Validate(), "journal: Item.Closes[1] is empty"},
		{
			journal.Item{ID: "i", Kind: "k", Closes: []string{"a", "b", "a"}}.Validate(),
			`journal: Item.Closes[2] is "a" again; an id is named once, and the item's own ID not at all`,
		},
		{
			journal.Item{ID: "i", Kind: "k", Closes: []string{"i"}}.Validate(),
			`journal: Item.Closes[0] is "i" again; an id is named once, and the item's own ID not at all`,
		},
		{journal.Item{ID: "i", Kind: "k", Closes: make([]string, 10_001)}.Validate(),
			"journal: Item.Closes has 10001 entries; 10000 are allowed"},
		{journal.ValidateSession(strings.Repeat("s", 513)), "journal: session has 513 bytes; 512 are allowed"},
		{journal.ValidateLease("s", "", time.Second), "journal: owner is empty"},
		{journal.ValidateLease("s", "o", 0), "journal: ttl is 0s; it must be above 0 and at most 24h0m0s"},
		{
			journal.ValidateRenew(journal.Lease{Session: "s", Owner: "o"}, time.Second),
			"journal: Lease.Fence is 0; leases have fences from 1 to 1<<63-1",
		},
	} {
		var invalid *journal.InvalidError
		require.ErrorAs(t, c.err, &invalid)
		require.EqualError(t, c.err, c.want)
	}
}

func TestWhatIsValidIsNil(t *testing.T) {
	// A typed nil in an error would be one.
	require.True(t, journal.ValidateSession("s") == nil)
	require.True(t, journal.ValidateLease("s", "o", journal.MaxTTL) == nil)
	require.True(t, journal.ValidateRenew(journal.Lease{Session: "s", Owner: "o", Fence: 1}, 1) == nil)
	require.True(t, journal.Item{ID: "i", Kind: "k"}.Validate() == nil)
	require.True(t, journal.Item{ID: "i", Kind: "k", Closes: []string{"j", "k"}}.Validate() == nil)
	require.True(t, journal.Append{Session: "s", Taken: []string{"i"}}.Validate() == nil)
	require.True(t,
		journal.Append{Session: "s", Head: &journal.HeadUpdate{Open: []journal.Open{{ID: "i"}}}}.Validate() == nil)
}

// badNames are refused wherever a name is asked for.
var badNames = []string{
	strings.Repeat("n", journal.MaxName+1), "a\xffb", "a\xe6\x97", "a\x00b", "a\nb", "a\x7f", "a\u0085",
}

// tooEarly and tooLate are times that no store keeps.
var (
	tooEarly = time.Date(1600, 1, 1, 0, 0, 0, 0, time.UTC)
	tooLate  = time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC)
)

func requireInvalid(t *testing.T, err error, what string) {
	t.Helper()
	var invalid *journal.InvalidError
	require.ErrorAs(t, err, &invalid, "%.200q", what)
}

func TestHeadsThatNoSessionCanHaveAreRefused(t *testing.T) {
	many := map[string]string{}
	for i := range journal.MaxLabels + 1 {
		many[fmt.Sprint(i)] = "v"
	}
	open := func(list ...journal.Open) journal.HeadUpdate { return journal.HeadUpdate{Open: list} }
	label := func(key, value string) journal.HeadUpdate {
		return journal.HeadUpdate{Labels: map[string]string{key: value}}
	}
	bad := []journal.HeadUpdate{
		{Title: strings.Repeat("n", journal.MaxTitle+1)},
		{Labels: many},
		label("", "v"),
		label("k", ""),
		label(strings.Repeat("k", journal.MaxLabelKey+1), "v"),
		label("k", strings.Repeat("k", journal.MaxLabelValue+1)),
		{Due: tooLate},
		{Info: make([]byte, journal.MaxInfo+1)},
		open(journal.Open{ID: "a"}, journal.Open{Kind: "k"}),
		open(journal.Open{ID: "a", Expires: tooLate}),
		open(slices.Repeat([]journal.Open{{ID: "a"}}, journal.MaxOpen+1)...),
	}
	for _, name := range badNames {
		bad = append(bad, journal.HeadUpdate{Status: name}, journal.HeadUpdate{Parent: name},
			journal.HeadUpdate{Kind: name}, journal.HeadUpdate{Title: name}, label(name, "v"), label("k", name),
			open(journal.Open{ID: name}), open(journal.Open{ID: "a", Kind: name}),
			open(journal.Open{ID: "a", Title: name}), open(journal.Open{ID: "a", What: name}),
			open(journal.Open{ID: "a", For: name}))
	}
	for i, h := range bad {
		requireInvalid(t, h.Validate(), fmt.Sprint("head ", i))
		requireInvalid(t, journal.Append{Session: "s", Head: &h}.Validate(), fmt.Sprint("append with head ", i))
	}
}

func TestAppendsThatNoStoreTakesAreRefused(t *testing.T) {
	good := journal.Record{Kind: "k"}
	record := func(r journal.Record) journal.Append {
		return journal.Append{After: 1, Records: []journal.Record{good, r}}
	}
	bad := []journal.Append{
		{After: 1},
		record(journal.Record{Kind: "k", Seq: 2}),
		record(journal.Record{Kind: "k", Seq: 4}),
		record(journal.Record{}),
		record(journal.Record{Kind: "k", Time: tooEarly}),
		record(journal.Record{Kind: "k", Time: tooLate}),
		record(journal.Record{Kind: "k", Data: make([]byte, journal.MaxRecord+1)}),
		{After: 1, Taken: []string{"a", ""}},
		{After: math.MaxUint64, Records: []journal.Record{good}},
		{After: math.MaxInt64, Records: []journal.Record{good}},
		{After: 1, Fence: math.MaxUint64, Records: []journal.Record{good}},
	}
	for _, name := range badNames {
		bad = append(bad, record(journal.Record{Kind: name}), journal.Append{After: 1, Taken: []string{name}})
	}
	for i, a := range bad {
		a.Session = "s"
		requireInvalid(t, a.Validate(), fmt.Sprint("append ", i))
	}
	for _, name := range append(badNames, "") {
		requireInvalid(t, journal.ValidateSession(name), name)
		requireInvalid(t, journal.Append{Session: name, Records: []journal.Record{good}}.Validate(), name)
	}
}

func TestItemsAndLeasesThatNoStoreTakesAreRefused(t *testing.T) {
	bad := []journal.Item{
		{ID: "a", Kind: "k", Time: tooLate},
		{ID: "a", Kind: "k", Data: make([]byte, journal.MaxRecord+1)},
		{Kind: "k"},
		{ID: "a"},
	}
	lease := journal.Lease{Session: "s", Owner: "a", Fence: 1}
	for _, name := range append(badNames, "") {
		bad = append(bad, journal.Item{ID: name, Kind: "k"}, journal.Item{ID: "a", Kind: name},
			journal.Item{ID: "a", Kind: "k", Closes: []string{"b", name}})
		requireInvalid(t, journal.ValidateLease(name, "a", time.Second), name)
		requireInvalid(t, journal.ValidateLease("s", name, time.Second), name)
		requireInvalid(t, journal.ValidateRenew(journal.Lease{Session: name, Owner: "a", Fence: 1}, time.Second), name)
	}
	for i, it := range bad {
		requireInvalid(t, it.Validate(), fmt.Sprint("item ", i))
	}
	for _, ttl := range []time.Duration{0, -1, journal.MaxTTL + 1} {
		requireInvalid(t, journal.ValidateLease("s", "a", ttl), ttl.String())
		requireInvalid(t, journal.ValidateRenew(lease, ttl), ttl.String())
	}
}
