package erase_test

import (
	"encoding/base64"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/internal/erase"
	"github.com/pawlkit/pawl/provider"
)

// inReply returns a reply as facts have it, whose second part has data of a provider.
func inReply(t *testing.T, text, data string) []byte {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"message": provider.Message{Role: provider.RoleAssistant,
		Parts: []provider.Part{
			{Kind: provider.PartReasoning, Text: text, Opaque: &provider.Opaque{Provider: "p", Data: "sig"}},
			{Kind: provider.PartOpaque, Opaque: &provider.Opaque{Provider: "p", Kind: "item", Data: data}},
			{Kind: provider.PartText, Text: "Hello", Opaque: &provider.Opaque{Provider: "p", Data: `{"id":"m"}`}}}}})
	require.NoError(t, err)
	return raw
}

func TestDataOfAProviderIsKeptVerbatimOrDroppedWithThatOfItsMessage(t *testing.T) {
	match := regexp.MustCompile(`(?i)ann|\d{10,}`)
	sealed := strings.Repeat("Ann+", 20)
	for name, c := range map[string]struct {
		text, data string
		kept       bool
	}{
		"a key":             {"", `{"annotations":[],"type":"Ann"}`, true},
		"an id":             {"", `{"id":"ann-1234567890","call_id":"ann"}`, true},
		"a time":            {"", `{"created":1234567890}`, true},
		"a signature":       {"", "Ann+/=", true},
		"encrypted":         {"", `{"encrypted_content":"Ann+","x":"` + sealed + `","signature":"Ann="}`, true},
		"for addresses":     {"", `{"x":"` + strings.ReplaceAll(sealed, "+", "-") + `_"}`, true},
		"a text":            {"", `[{"type":"reasoning.text","text":"I ask Ann","signature":"s"}]`, false},
		"an input in text":  {"", `{"arguments":"{\"who\":\"\\u0041nn\"}"}`, false},
		"a number":          {"", `{"functionCall":{"name":"call","args":{"phone":1234567890}}}`, false},
		"a file":            {"", `{"data":"` + base64.StdEncoding.EncodeToString([]byte("for Ann")) + `"}`, false},
		"another part's":    {"Ann", `{"x":"y"}`, false},
		"nothing":           {"x", `{"x":"y"}`, true},
		"JSON that was cut": {"", `{"x":"Ann`, true},
	} {
		t.Run(name, func(t *testing.T) {
			raw := inReply(t, c.text, c.data)
			var words, names []string
			w := erase.Found(func(s string) []string { return match.FindAllString(s, -1) }, &words, &names)
			require.Equal(t, string(raw), string(w.Record("replied", raw)))
			require.Equal(t, c.kept, len(words) == 0, "%v", words)
			require.Empty(t, names)

			got := erase.Replaced(append(words, "Ann", "ann"), "x", nil).Record("replied", raw)
			if c.kept {
				require.Equal(t, string(raw), string(got))
				return
			}
			var in struct{ Message provider.Message }
			require.NoError(t, json.Unmarshal(got, &in))
			require.Len(t, in.Message.Parts, 3, "their numbers stay")
			require.Equal(t, provider.Part{Kind: provider.PartOpaque}, in.Message.Parts[1])
			require.NotContains(t, string(got), `"opaque":`)
			words = nil
			w = erase.Found(func(s string) []string { return match.FindAllString(s, -1) }, &words, &names)
			w.Record("replied", got)
			require.Empty(t, words)
		})
	}
}

func TestWhatTheLibraryNotesOfAPartIsErasedInside(t *testing.T) {
	data := `{"parts":[{"kind":"text","text":"x","opaque":{"provider":"pawl/memory","kind":"summary","data":"{\"facts\":[\"Ann\"]}"}}]}`
	require.Equal(t, strings.Replace(data, "Ann", "x", 1),
		string(erase.Replaced([]string{"Ann"}, "x", nil).Record("", []byte(data))))
}
