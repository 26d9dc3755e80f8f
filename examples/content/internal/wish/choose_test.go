package wish

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAnAnswerToAnOfferIsReadAsWhatItOffers(t *testing.T) {
	r := New()
	at := writer("-")
	at.Offered = r.Read("publish it", at).Options
	require.Len(t, at.Offered, 6)
	for message, id := range map[string]string{"2": "D", "the second one": "D", "last": "V",
		"Pricing for consultants": "V", "yes": "R"} {
		w := r.Read(message, at)
		require.Equal(t, "PUBLISH  on="+id, w.Intent+" "+string(w.Why)+" on="+w.Artifact, message)
	}
	require.Equal(t, GenerateTopics, r.Read("Give me ideas", at).Intent)

	// the button says yes, and keeps the details
	at = writer("R")
	w := r.Read("Can you translate the introduction?", at)
	require.Equal(t, Confirms, w.Why)
	w = r.Read(w.Options[0].Message, writer("D"))
	require.Equal(t, "MODIFY_CONTENT on=R section=Introduction", effect(w))
	// but it allows nothing that is forbidden
	require.Equal(t, Forbids, r.Read("Yes: don't publish it", at).Why)

	at.Offered = []Option{{"Write the text", "Create the content"}}
	require.Equal(t, WriteContent, r.Read("Write the text", at).Intent)
}

func TestAButtonNeverAsksTheSameAgain(t *testing.T) {
	r, number := New(), 0
	for _, name := range []string{"sentences", "own", "more", "judged"} {
		list, err := os.ReadFile("testdata/" + name + ".txt")
		require.NoError(t, err)
		for line := range strings.Lines(string(list)) {
			columns := strings.SplitN(line, " | ", 4)
			if number++; len(columns) < 3 || number%4 != 0 && !*full {
				continue
			}
			at := writer(columns[1])
			first := r.Read(columns[2], at)
			for _, o := range first.Options {
				at.Offered = first.Options
				assert.NotEqual(t, first.Options, r.Read(o.Message, at).Options, "%s: %s", columns[2], o.Message)
			}
		}
	}
}
