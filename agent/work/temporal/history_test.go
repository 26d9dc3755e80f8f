package temporal

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/tools"
)

func Test1000StepsInLegsOf10MakeFewerThan1000EventsAnd500kB(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		_, a := w.worker(t, pays("pay", 999))
		e := newEnv(t, of(a).do)
		_, err := e.run(first, agent.Leg{Steps: 10})
		require.NoError(t, err)
		w.each(t, 999)
		require.Equal(t, 100, e.legs)
		require.Less(t, e.events(), 1000)
		require.Less(t, e.bytes(), 500_000)
		t.Log(e.legs, "activities,", e.timers, "timers,", e.events(), "events,", e.bytes(), "bytes")
	})
}

// TestTheConversationIsNotInTheHistory: 100 model calls with 200,000 tokens of conversation, which
// would be 37 MB if each call had its conversation in the history.
func TestTheConversationIsNotInTheHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		page := strings.Repeat("All work and no play. ", 370)
		_, a := w.worker(t, pays("read", 99), tools.New(tools.Spec{Name: "read", ReadOnly: true},
			func(context.Context, order) (string, error) { return page, nil }))
		e := newEnv(t, of(a).do)
		_, err := e.run(first, agent.Leg{Steps: 1}) // each model call is an activity
		require.NoError(t, err)
		require.Equal(t, 100, e.legs)
		require.Greater(t, w.asked, 4*200_000, "4 bytes a token")
		require.Less(t, e.counting.n(), 100_000)
		t.Log(w.asked, "bytes of conversation,", e.counting.n(), "bytes of payloads,", e.events(), "events,",
			e.bytes(), "bytes")
	})
}

// TestALargePromptIsInTheHistoryTwice: in the argument of the workflow and of its first leg.
func TestALargePromptIsInTheHistoryTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		_, a := w.worker(t, pays("pay", 20))
		e := newEnv(t, of(a).do)
		in := first
		in.Prompt = strings.Repeat("Pay this. ", 5000)
		_, err := e.run(in, agent.Leg{Steps: 1})
		require.NoError(t, err)
		require.Less(t, e.counting.n(), 2*len(in.Prompt)+20_000)
	})
}
