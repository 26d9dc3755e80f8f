package langchain

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/llms"

	"github.com/pawlkit/pawl/provider"
)

// A note of an agent between two messages of the user stays between them.
func TestNeighborsOfTheUserStayApartAndInOrder(t *testing.T) {
	m := &fakeModel{}
	_, _ = provider.Generate(t.Context(), over(t, m, Config{}), &provider.Request{Messages: []provider.Message{
		provider.User("Rename Blog"), provider.User("Note: that was stopped."), provider.User("Create Jobs")}})
	var said []string
	for _, msg := range m.messages {
		for _, p := range msg.Parts {
			said = append(said, p.(llms.TextContent).Text)
		}
	}
	require.Equal(t, []string{"Rename Blog", "Note: that was stopped.", "Create Jobs"}, said)
}
