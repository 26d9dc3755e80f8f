package recall_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/memory/recall"
	"github.com/pawlkit/pawl/tools"
)

func TestASecretThatIsAppendedInPiecesIsRemoved(t *testing.T) {
	store := &recall.MapStore{}
	d := newDesk(t, store, "t")
	for _, piece := range []string{"a line", "db password:", "hunter2", "a line"} {
		said := d.ok("s", "notes.write", object{"key": "n", "text": piece, "append": true})
		require.Equal(t, piece == "hunter2", strings.Contains(said, `"redacted":true`), piece)
	}
	text := d.ok("s", "notes.read", object{"key": "n"})
	require.NotContains(t, text, "hunter2")
	require.Contains(t, text, `a line\ndb password:\n[redacted]\na line`)
}

func TestStoredTextsCanBeReadCompletely(t *testing.T) {
	d := newDesk(t, &recall.MapStore{}, "t")
	long := strings.Repeat("x", 601)
	for _, field := range []string{"pattern", "error", "fix"} {
		input := object{"pattern": "p", "error": "e", "fix": "f"}
		input[field] = long
		require.Contains(t, d.run("s", "", "mistakes.report", input).Parts[0].Text, "600", field)
		input[field] = long[:600]
		d.ok("s", "mistakes.report", input)
		require.Contains(t, d.ok("s", "mistakes.check", object{}), long[:600]+`"`, field)
	}
	require.Contains(t,
		d.run("s", "", "preferences.record", object{"name": "n", "value": long, "evidence": "stated"}).Parts[0].Text,
		"600")
	d.ok("s", "preferences.record", object{"name": "n", "value": long[:600], "evidence": "stated"})
	require.Contains(t, d.ok("s", "preferences.get", object{}), long[:600]+`"`)
}

func TestAHugeTextIsRejectedBeforeItIsSearched(t *testing.T) {
	m, err := recall.New(recall.Config{
		Store: &recall.MapStore{Limits: recall.Limits{EntryBytes: 4 << 20}}, Scope: recall.OfCall("t"),
		Redact: func(text string) string {
			require.LessOrEqual(t, len(text), 1<<20)
			return text
		},
	})
	require.NoError(t, err)
	reg, err := tools.NewRegistry(m.Notes()...)
	require.NoError(t, err)
	d := &desk{t: t, reg: reg}
	require.Equal(t, fault.Invalid,
		d.run("s", "", "notes.write", object{"key": "n", "text": strings.Repeat("x", 1<<20+1)}).Class)
	d.ok("s", "notes.write", object{"key": "n", "text": strings.Repeat("x", 1<<20)})
}
