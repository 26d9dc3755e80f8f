package machine_test

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/internal/erase"
)

// stringsIn adds all strings in a value of JSON, at any depth.
func stringsIn(v any, found map[string]bool) {
	switch v := v.(type) {
	case string:
		found[v] = true
	case []any:
		for _, e := range v {
			stringsIn(e, found)
		}
	case map[string]any:
		for _, e := range v {
			stringsIn(e, found)
		}
	}
}

func TestNoStringOfAFactEscapesAnErasure(t *testing.T) {
	const mark = " MARK"
	for _, f := range everyFact() {
		t.Run(machine.KindOf(f), func(t *testing.T) {
			rec, err := machine.Encode(f)
			require.NoError(t, err)
			// a reasoning whose text is replaced has no signature
			rec.Data = bytes.ReplaceAll(rec.Data,
				[]byte(`,"opaque":{"provider":"p","kind":"signature","data":"a+b/<=>"}`), nil)

			var value any
			require.NoError(t, json.Unmarshal(rec.Data, &value))
			all, seen := make(map[string]bool), make(map[string]bool)
			stringsIn(value, all)
			marking := erase.Walk{
				Text: func(text string) string {
					seen[text] = true
					if _, err := strconv.ParseFloat(text, 64); err == nil {
						return text // a number
					}
					return text + mark
				},
				Name: func(_, name string) { seen[name] = true }}
			marked := rec
			marked.Data = marking.Record(rec.Kind, rec.Data)
			for s := range all {
				if strings.HasPrefix(s, "{") || strings.HasSuffix(s, "=ann") || s == "archived=yes" || s == "AP8=" {
					continue // JSON, labels, and an image: what is in them is seen
				}
				require.True(t, seen[s], "%q", s)
			}
			erased := marked
			erased.Data = erase.Replaced([]string{mark}, "", nil).Record(rec.Kind, marked.Data)
			require.NotContains(t, string(erased.Data), "MARK")
			require.Equal(t, string(rec.Data), string(erased.Data), "everything else is as before")
			_, err = machine.Decode("s-1", erased)
			require.NoError(t, err)
		})
	}
}

func TestAPatternOfDigitsLeavesEachFactReadable(t *testing.T) {
	digits := regexp.MustCompile(`\d{10,}`)
	match := func(text string) []string { return digits.FindAllString(text, -1) }
	for _, f := range everyFact() {
		t.Run(machine.KindOf(f), func(t *testing.T) {
			if s, ok := f.(*machine.Snapshot); ok {
				s.State.Run.Tools = map[string]machine.ToolState{"t": {Input: 12345678901, Result: 10987654321}}
			}
			rec, err := machine.Encode(f)
			require.NoError(t, err)
			var words, names []string
			erase.Found(match, &words, &names).Record(rec.Kind, rec.Data)
			if rec.Kind == "snapshot" {
				require.Empty(t, words, "a hash isn't a text")
			}
			rec.Data = erase.Replaced(words, "[erased]", match).Record(rec.Kind, rec.Data)
			_, err = machine.Decode("s-1", rec)
			require.NoError(t, err)
		})
	}
}
