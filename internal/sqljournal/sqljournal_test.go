package sqljournal

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal"
)

func TestStatementsHaveTheFormOfTheDatabase(t *testing.T) {
	d := Dialect{Prefix: `"x".`, Dollar: true, Seq: "s.seq", Updated: "s.updated",
		NextFence: "SELECT nextval('@fence')", Lock: " FOR UPDATE", Now: "now"}
	require.Equal(t, `SELECT "x".a WHERE b = $1 AND c = $12`, d.SQL("SELECT @a WHERE b = ?1 AND c = ?12"))
	q := d.statements()
	require.Equal(t, `SELECT nextval('"x".fence')`, q.nextFence)
	require.True(t, strings.HasSuffix(q.lock, `, now FROM "x".sessions s WHERE s.name = $1 FOR UPDATE`), q.lock)
	require.Equal(t, "SELECT p_a", Dialect{Prefix: "p_"}.SQL("SELECT @a"))
}

func TestAnOpenListIsDecodedAsItWasEncoded(t *testing.T) {
	for _, list := range [][]journal.Open{
		nil,
		{{ID: "a"}},
		{{ID: "a", Kind: "k", Title: "“<&>” 日本 \u2028", What: "Delete “a”", Expires: time.Unix(0, 0).UTC()},
			{ID: "b", Expires: time.Unix(-1, 999_999_999).UTC()}},
	} {
		text, err := EncodeOpen(list)
		require.NoError(t, err)
		back, err := decodeOpen(text)
		require.NoError(t, err)
		require.Equal(t, list, back)
	}
	_, err := decodeOpen(`[{"id":`)
	require.ErrorContains(t, err, "damaged")
}

// A text that can't be stored selects no less than its storable prefix; Match does the rest.
func TestOnlyTheStorablePartOfATextIsUsedInAStatement(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "abc": "abc", "日本": "日本", "a\x00b": "a", "\xe6\x97": "", "日\xe6\x97": "日", "a\uFFFDb": "a\uFFFDb",
		"\xff": "",
	} {
		require.Equal(t, want, storable(text), "%q", text)
	}
}

func FuzzStorable(f *testing.F) {
	for _, text := range []string{"", "a", "日本\xe6", "a\x00", "\uFFFD"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := storable(text)
		if !strings.HasPrefix(text, got) || !utf8.ValidString(got) || strings.ContainsRune(got, 0) {
			t.Fatalf("%q of %q", got, text)
		}
	})
}

func TestAColumnOfAnotherTypeIsAnError(t *testing.T) {
	var (
		n number
		i instant
		b blob
	)
	require.Error(t, n.Scan("1"))
	require.Error(t, n.Scan(nil))
	require.Error(t, i.Scan("1"))
	require.Error(t, b.Scan("x"))
	data := []byte("x")
	require.NoError(t, b.Scan(data))
	data[0] = 'y'
	require.Equal(t, "x", string(b))
}

func TestNewerTablesAreRejectedAndOlderOnesNot(t *testing.T) {
	migrations := make([][]string, 3)
	for version := range 4 {
		got, err := checkVersion(int64(version), migrations)
		require.NoError(t, err)
		require.Equal(t, version, got)
	}
	_, err := checkVersion(int64(4), migrations)
	require.ErrorIs(t, err, ErrNewer)
}

func TestADamagedVersionOfTheTablesSaysSo(t *testing.T) {
	for _, version := range []any{int64(-125), "five", nil, 1.5} {
		_, err := checkVersion(version, make([][]string, 3))
		require.ErrorContains(t, err, "the version of the journal's tables is damaged")
		require.ErrorContains(t, err, fmt.Sprintf("it is %v", version))
	}
}
