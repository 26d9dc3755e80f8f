package agent_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/tools"
)

func TestARunIsContinuedOnceThoughSeveralPausesHaveExpired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var done effects
		a, _ := scripted(t, agent.Config{PauseExpires: time.Minute, Tools: []tools.Tool{done.tool(tools.Spec{Name: "risky", Risk: tools.High})}}, calls("risky", 1, 2, 3), say("on"))
		run(t, a)
		<-time.After(time.Hour)
		runInput(t, a, agent.Continue("s"))
		continued := 0
		for _, f := range facts(t, a, "s") {
			if _, ok := f.(machine.Continued); ok {
				continued++
			}
		}
		require.LessOrEqual(t, continued, 1)
	})
}
