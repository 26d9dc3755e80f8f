package journal_test

import (
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
