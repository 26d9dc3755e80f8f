package openai

import (
	"context"
	"iter"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/guard"
)

func TestAChainMovesOnFromAServerThatDoesNotForceCalls(t *testing.T) {
	another := provider.Func(func(_ context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
		return func(yield func(provider.Chunk, error) bool) {
			for _, c := range []provider.Chunk{provider.Start("m"), provider.Text("Forced: " + req.ToolChoice.Tool),
				provider.End(provider.StopDone, provider.Usage{})} {
				if !yield(c, nil) {
					return
				}
			}
		}
	})
	req := hi()
	req.Tools = []provider.Tool{{Name: "find"}}
	for server, c := range map[string]struct {
		choice         provider.ToolChoice
		message, cures string
	}{
		"ollama": {provider.ToolChoice{Mode: provider.ChooseTool, Tool: "find"},
			"Ollama doesn't force calls of tools", "leave Request.ToolChoice empty"},
		"zai": {provider.ToolChoice{Mode: provider.ChooseRequired},
			"Z.ai doesn't force calls of tools", "leave Request.ToolChoice empty"},
		"github": {provider.ToolChoice{Mode: provider.ChooseTool, Tool: "none"},
			`the tool "none", which isn't in Tools`, "name one of Request.Tools"},
	} {
		m, err := New(Config{Server: server, Model: "m", APIKey: "k", BaseURL: "http://127.0.0.1:1"})
		require.NoError(t, err)
		req.ToolChoice = c.choice
		_, err = provider.Generate(t.Context(), m, req)
		require.ErrorContains(t, err, c.message, server)
		require.Equal(t, fault.UserFixable, fault.Of(err), server)
		remedy, ok := fault.Remedy(err)
		require.True(t, ok)
		require.Contains(t, remedy, c.cures)

		chain, err := guard.Failover(m, another)
		require.NoError(t, err)
		res, err := provider.Generate(t.Context(), chain, req)
		require.NoError(t, err, server)
		require.Equal(t, "Forced: "+c.choice.Tool, res.Text())
	}
}
