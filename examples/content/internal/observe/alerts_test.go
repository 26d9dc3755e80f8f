package observe

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/plan"
	"github.com/pawlkit/pawl/examples/content/internal/assistant"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
	"github.com/pawlkit/pawl/ratelimit/budget"
)

// on returns the rules whose alerts are on.
func (b *bench) on() (rules []string) {
	for _, a := range b.Alerts() {
		if a.Until.IsZero() {
			rules = append(rules, a.Rule)
		}
	}
	return rules
}

// watched runs f while the rules are evaluated, by a clock that jumps.
func watched(t *testing.T, used func(string) float64, f func(b *bench)) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		ctx, stop := context.WithCancel(t.Context())
		var done sync.WaitGroup
		done.Go(func() { b.Watch(ctx, b.services, used) })
		synctest.Wait()
		f(b)
		stop()
		done.Wait()
	})
}

// after lets time pass, until the rules have been evaluated.
func after(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func TestTheRulesOfRates(t *testing.T) {
	request := func(category portfolio.Category) func(b *bench) {
		return func(b *bench) { b.Event(assistant.Event{Kind: assistant.RequestEnded, Category: category}) }
	}
	call := func(outcome string) func(b *bench) {
		return func(b *bench) { b.modelCall(budget.Entry{Outcome: outcome}) }
	}
	pipeline := func(state string) func(b *bench) {
		return func(b *bench) {
			b.Event(assistant.Event{Kind: assistant.PipelineEnded, Pipeline: assistant.Pipeline{State: state}})
		}
	}
	for _, c := range []struct {
		rule      string
		severity  string
		window    time.Duration
		good, bad func(b *bench)
		under     int // good ones with which two bad ones aren't too many
	}{
		{"error rate", "critical", 5 * time.Minute, request(""), request(portfolio.AIProviderError), 38},
		{"provider errors", "critical", 2 * time.Minute, call(budget.CallDone), call(budget.CallFailed), 2},
		{"rollback rate", "high", 10 * time.Minute, pipeline(assistant.PipelineCompleted),
			pipeline(assistant.PipelineFailed), 18},
	} {
		t.Run(c.rule, func(t *testing.T) {
			watched(t, unused, func(b *bench) {
				c.bad(b)
				after(interval)
				require.Empty(t, b.on(), "a single failure is no rate")
				for range c.under {
					c.good(b)
				}
				c.bad(b)
				after(interval)
				require.Empty(t, b.on(), "it is at the limit")
				c.bad(b)
				after(interval)
				require.Equal(t, []string{c.rule}, b.on())
				require.Equal(t, c.severity, b.Alerts()[0].Severity)
				require.Contains(t, b.log.String(), "alert")
				require.Contains(t, b.scrape(), `content_events{event="alert",what="`+c.rule+`"} 1`)
				after(c.window)
				require.Empty(t, b.on(), "the window has passed")
				require.False(t, b.Alerts()[0].Until.IsZero())
				require.Contains(t, b.scrape(), `content_events{event="alert",what="`+c.rule+`"} 0`)
			})
		})
	}
}

func TestErrorsOfUsersPageNobody(t *testing.T) {
	watched(t, unused, func(b *bench) {
		for range 10 {
			b.Event(assistant.Event{Kind: assistant.RequestEnded, Category: portfolio.InvalidStatus})
			b.modelCall(budget.Entry{Outcome: budget.CallAborted})
		}
		after(interval)
		require.Empty(t, b.on())
	})
}

func TestAPipelineThatIsStuck(t *testing.T) {
	watched(t, unused, func(b *bench) {
		a := b.draft()
		name := "content/" + a.ID + "/1"
		p := portfolio.Pipeline{Name: name, Artifact: a.ID, User: "ann", Tools: []string{portfolio.TopicResearch},
			Trace: "ca-1-abcdef"}
		require.NoError(t, b.services.Store.StartPipeline(b.t.Context(), p))
		_, err := b.services.Runner.Start(b.t.Context(), name, &plan.Plan{Title: "x", Nodes: []plan.Node{{ID: "a",
			Tool: portfolio.TopicResearch, Input: map[string]any{"artifactId": a.ID, "topic": "x"}}}})
		require.NoError(t, err)
		after(stalled + interval)
		require.Equal(t, []string{"pipeline stuck"}, b.on())
		require.Contains(t, b.Alerts()[0].Detail, "ca-1-abcdef")
		require.NoError(t, b.services.Store.StopPipeline(b.t.Context(), name, true))
		after(interval)
		require.Empty(t, b.on())
	})
}

func TestAUserWhoseTokensAreNearlyUsed(t *testing.T) {
	watched(t, func(user string) float64 { return map[string]float64{"ann": 0.9, "ben": 0.95}[user] }, func(b *bench) {
		after(interval)
		require.Equal(t, []string{"tokens"}, b.on())
		require.Equal(t, b.hash("ben")+" has used 95 %. ", b.Alerts()[0].Detail)
	})
}

func TestWhatWasRefusedIsNotRolledBack(t *testing.T) {
	watched(t, unused, func(b *bench) {
		a := b.draft()
		require.True(t, b.say(a.ID, "Research this topic").Success)
		for range 3 {
			require.Contains(t, b.say(a.ID, "Research this topic").Message, "was researched before")
		}
		after(interval)
		require.Empty(t, b.on())
		require.NotContains(t, b.scrape(), `event="rollback"`)
	})
}
