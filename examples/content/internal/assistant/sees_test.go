package assistant

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/examples/content/internal/contenttools"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

// A message that comes into a run in progress is about its own screen, and no later run is. Nobody
// changes the screen of somebody else.
func TestAMessageIntoARunHasItsOwnScreen(t *testing.T) {
	t.Parallel()
	asked, sent := make(chan string), make(chan int)
	b := newBench(t, func(c *Config) {
		c.Real = true
		c.Model = providertest.Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
			asked <- req.LastUserText()
			<-sent
			if last := req.Messages[len(req.Messages)-1]; last.Text() != "" && last.Parts[0].Text == "List all" {
				return providertest.Call(contenttools.FetchArtifactTopics, map[string]any{}).Response(), nil
			}
			done := map[string]any{"message": "Done."}
			return providertest.Call(contenttools.StructuredResponse, done).Response(), nil
		})
	})
	first, second := b.draft("ann", "Remote work"), b.draft("ann", "Fixed prices")
	screen := func(id string) Screen { return Screen{CurrentPage: "artifact", ArtifactID: id} }
	send := func(id, text string) {
		t.Helper()
		require.NoError(t, b.Sees(t.Context(), "ann", "s", screen(id)))
		require.NoError(t, b.Sees(t.Context(), "ben", "s", screen("of-ben")))
		_, err := b.Hub.Send(t.Context(), agent.Input{Session: "s", Prompt: text, User: "ann", Owner: "ann",
			Only: ChatTools, Labels: b.Labels(screen(id), text)})
		require.NoError(t, err)
	}
	send(first.ID, "List all")
	require.Contains(t, <-asked, "\nArtifact: "+first.ID)
	send(second.ID, "And what is this?")
	sent <- 0
	text := <-asked
	require.Contains(t, text, "And what is this?")
	require.Contains(t, text, "\nArtifact: "+second.ID)
	sent <- 0
	for ev, err := range b.Hub.Watch(t.Context(), "s", 0) {
		require.NoError(t, err)
		if _, over := ev.(*agent.RunEnded); over {
			break
		}
	}
	send(first.ID, "And this?")
	require.Contains(t, <-asked, "\nArtifact: "+first.ID)
	sent <- 0
}
