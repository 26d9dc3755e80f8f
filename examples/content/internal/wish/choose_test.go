package wish

import (
	"testing"

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
