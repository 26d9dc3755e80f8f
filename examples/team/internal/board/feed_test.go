package board

import (
	"context"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

func TestAFeedKeepsTheEndOfATextAndTheNewestCalls(t *testing.T) {
	look := tools.New(tools.Spec{Name: "look", ReadOnly: true},
		func(context.Context, struct{}) (string, error) { return "seen", nil })
	steps := []providertest.Step{providertest.Call("look", object{}), providertest.Say(strings.Repeat("wörter ", 5000))}
	a, err := agent.New(agent.Config{Provider: providertest.Script(steps...), Tools: []tools.Tool{look}})
	require.NoError(t, err)
	f := NewFeed()
	changed, pokes := f.state()
	for ev, err := range a.Stream(t.Context(), agent.Input{Session: "s-1", Prompt: "x"}) {
		require.NoError(t, err)
		if _, over := ev.(*agent.RunEnded); over {
			text, calls := f.look("s-1")
			require.LessOrEqual(t, len(text), tail+len("…\n\n"))
			require.True(t, utf8.ValidString(text) && strings.HasPrefix(text, "…"), text)
			require.True(t, strings.HasSuffix(text, "wörter \n\n"), text)
			require.Equal(t, "Look ok", calls[0].Title+" "+calls[0].Status)
		}
		f.Node("a", ev)
	}
	<-changed
	_, now := f.state()
	require.Equal(t, pokes+1, now, "a call may have changed files")
	require.Empty(t, f.workers, "who has ended is forgotten")
}

func TestAHugeDiffIsCut(t *testing.T) {
	files := []FileChange{{Name: "a", Diff: strings.Repeat("é", most)}, {Name: "b", Diff: "+b\n"}}
	short := shortened(files)
	require.True(t, utf8.ValidString(short[0].Diff))
	require.True(t, strings.HasSuffix(short[0].Diff, "\n…\n"))
	require.LessOrEqual(t, len(short[0].Diff), most+len("\n…\n"))
	require.Equal(t, files[1], short[1])
	require.Len(t, files[0].Diff, 2*most, "what the host keeps isn't changed")
}
