package serve_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/serve"
	"github.com/pawlkit/pawl/provider/providertest"
)

// texts returns the texts of messages.
func (b *browser) texts() (out []string) {
	for _, m := range b.history() {
		out = append(out, m.Text())
	}
	return out
}

func TestAHistoryHasNoReplacedRuns(t *testing.T) {
	for _, pruned := range []bool{false, true} {
		s := newSite(t, serve.Config{}, providertest.Say("One."), providertest.Say("Two."), providertest.Say("Three."),
			providertest.Say("Two again."), providertest.Say("Three again."), providertest.Say("One again."))
		b := s.browser("ann", "c-1")
		run := func(prompt string, replaces uint64) uint64 {
			res, err := s.agent.Run(t.Context(),
				agent.Input{Session: "c-1", Prompt: prompt, Owner: "ann", Replaces: replaces})
			require.NoError(t, err)
			return res.Start
		}
		first, second := run("1", 0), run("2", 0)
		run("3", 0)
		run("2b", second)
		require.Equal(t, []string{"1", "One.", "2b", "Two again."}, b.texts())
		if pruned { // the newest run stays
			_, err := s.agent.Session("c-1").Prune(t.Context())
			require.NoError(t, err)
			require.Equal(t, []string{"1", "One.", "2b", "Two again."}, b.texts())
		}
		run("3b", 0)
		require.Equal(t, []string{"1", "One.", "2b", "Two again.", "3b", "Three again."}, b.texts())
		if !pruned {
			run("1b", first)
			require.Equal(t, []string{"1b", "One again."}, b.texts())
		}
	}
}
