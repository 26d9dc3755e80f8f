package agent_test

import (
	"context"
	"iter"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

// endless writes for ever, in pieces of 1,000 bytes.
type endless struct{ chunks int }

func (e *endless) Stream(context.Context, *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		if !yield(provider.Chunk{Kind: provider.KindStart, Name: "m"}, nil) {
			return
		}
		for piece := strings.Repeat("more text ", 100); yield(provider.Chunk{Kind: provider.KindText, Text: piece},
			nil); {
			e.chunks++
		}
	}
}

func TestAReplyInSmallPiecesMayBeAsLongAsOneInLargePieces(t *testing.T) {
	text := strings.Repeat("x", 4_000) // of the 4 KiB of a small maximum
	a, _ := scripted(t, agent.Config{Params: agent.Params{MaxOutput: 10}},
		providertest.SayChunks(strings.Split(text, "")...))
	require.Equal(t, text, run(t, a).Text())
}

func TestAnEndlessReplyIsCut(t *testing.T) {
	for name, c := range map[string]struct {
		params agent.Params
		limits agent.Limits
		chunks int
	}{
		"by default":         {chunks: 4194},
		"by the most output": {params: agent.Params{MaxOutput: 10_000}, chunks: 159},
		"by little output":   {params: agent.Params{MaxOutput: 10}, chunks: 4},
		"by a limit":         {limits: agent.Limits{ReplyBytes: 50_000}, chunks: 49},
		"by a limit, not max": {params: agent.Params{MaxOutput: 1 << 30}, limits: agent.Limits{ReplyBytes: 50_000},
			chunks: 49},
	} {
		t.Run(name, func(t *testing.T) {
			model := &endless{}
			s := &swap{p: model}
			a := newAgent(t, agent.Config{Provider: s, Params: c.params, Limits: c.limits})
			res := run(t, a)
			var limit *agent.LimitError
			require.ErrorAs(t, res.Err(), &limit)
			require.Equal(t, machine.LimitReplyBytes, limit.Limit)
			require.Equal(t, agent.Stopped, res.Status)
			require.Equal(t, machine.CodeLimit, res.Code)
			require.Equal(t, c.chunks, model.chunks)
			require.Greater(t, res.Usage.Output, int64(c.chunks*100), "what was written so far is counted")
			require.LessOrEqual(t, len(res.Text()), 17<<10)
			require.True(t, strings.HasPrefix(res.Text(), "more text more text"))
			requireFree(t, a, s, "s")
		})
	}
}
