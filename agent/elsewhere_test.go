package agent_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A slow is a tool that takes a minute, unless its context ends.
func slow(ctx context.Context, _ struct{}) (string, error) {
	select {
	case <-time.After(time.Minute):
		return "done", nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// requestedElsewhere runs something that takes a minute, makes a request from another process after
// ten seconds, and returns how the run ended, and how long after the request.
func requestedElsewhere(t *testing.T, work providertest.Step, request func(*agent.Session) error) (*agent.Result,
	time.Duration) {
	store := journal.NewMemory()
	cfg := agent.Config{Journal: store, Provider: providertest.Script(work, say("Done.")),
		Tools: []tools.Tool{tools.New(tools.Spec{Name: "slow", Approval: tools.AskNever}, slow)}}
	here, there := newAgent(t, cfg), newAgent(t, cfg)
	asked := make(chan time.Time, 1)
	go func() {
		time.Sleep(10 * time.Second)
		if err := request(there.Session("s")); err != nil {
			t.Error(err)
		}
		asked <- time.Now()
	}()
	res, _ := here.Run(t.Context(), agent.Input{Session: "s", Prompt: "Go."})
	took := time.Since(<-asked)
	head, err := store.Head(t.Context(), "s")
	require.NoError(t, err)
	require.Zero(t, head.Inbox, "what was carried out isn't left to the next run")
	return res, took
}

func TestARequestReachesTheRunInAnotherProcess(t *testing.T) {
	for name, work := range map[string]providertest.Step{
		"model call": providertest.Slow(15*time.Second, providertest.SayChunks("A long", " answer.")),
		"tool call":  providertest.Call("slow", struct{}{}),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				res, took := requestedElsewhere(t, work, func(s *agent.Session) error { return s.Cancel(t.Context()) })
				require.Equal(t, agent.Stopped, res.Status)
				require.Equal(t, machine.CodeCanceled, res.Code)
				require.LessOrEqual(t, took, time.Second)

				res, took = requestedElsewhere(t, work, func(s *agent.Session) error { return s.Stop(t.Context()) })
				require.Equal(t, agent.Stopped, res.Status)
				require.Equal(t, machine.CodeHost, res.Code)
				require.Equal(t, 50*time.Second, took, "at the next safe point")

				res, took = requestedElsewhere(t, work, func(s *agent.Session) error { return s.Pause(t.Context()) })
				require.Equal(t, agent.Paused, res.Status)
				require.Equal(t, 50*time.Second, took)
			})
		})
	}
}

// A model call that fails isn't made again for a run that was stopped in another process.
func TestAStopElsewhereEndsTheAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := journal.NewMemory()
		model := providertest.Script(providertest.Slow(20*time.Second, providertest.Fail(fault.Degraded)))
		cfg := agent.Config{Journal: store, Provider: model}
		here, there := newAgent(t, cfg), newAgent(t, cfg)
		go func() {
			time.Sleep(10 * time.Second)
			if err := there.Session("s").Stop(t.Context()); err != nil {
				t.Error(err)
			}
		}()
		res, _ := here.Run(t.Context(), agent.Input{Session: "s", Prompt: "Go."})
		require.Equal(t, machine.CodeHost, res.Code)
		require.Len(t, model.Requests(), 1)
	})
}
