package anthropic

import (
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// decodeName reads back what encodeName wrote, if that wasn't cut.
func decodeName(sent string) string {
	var b strings.Builder
	for i := 0; i < len(sent); i++ {
		if isEscape(sent[i:]) {
			raw, _ := hex.DecodeString(sent[i+2 : i+4])
			b.Write(raw)
			i += 3
			continue
		}
		b.WriteByte(sent[i])
	}
	return b.String()
}

func TestNamesThatTheAPITakesStayAsTheyAre(t *testing.T) {
	for _, name := range []string{"weather", "get_weather-2", "_x", "_xyz", "a_x2", "A_x2E", strings.Repeat("n", longestName)} {
		require.Equal(t, name, encodeName(name))
	}
}

func TestEncodedNamesAreReadBack(t *testing.T) {
	letters := []string{"_", "x", "2", "e", ".", "é", "_x2e", " ", "/", "Z", "\xff", "_x5f"}
	r := rand.New(rand.NewPCG(1, 2))
	seen := map[string]string{}
	for range 20_000 {
		var b strings.Builder
		for range 1 + r.IntN(8) {
			b.WriteString(letters[r.IntN(len(letters))])
		}
		name := b.String()
		sent := encodeName(name)
		require.Regexp(t, `^[a-zA-Z0-9_-]{1,128}$`, sent)
		require.Equal(t, name, decodeName(sent))
		if other, ok := seen[sent]; ok {
			require.Equal(t, other, name)
		}
		seen[sent] = name
	}
}

func TestLongNamesStayDifferent(t *testing.T) {
	a, b := encodeName(strings.Repeat("é", 100)+"a"), encodeName(strings.Repeat("é", 100)+"b")
	require.NotEqual(t, a, b)
	require.Len(t, a, longestName)
	require.Equal(t, a, encodeName(strings.Repeat("é", 100)+"a"))
	require.Regexp(t, `^[a-zA-Z0-9_-]{1,128}$`, a)
}
