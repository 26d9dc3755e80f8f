package agent_test

import (
	"context"
	"fmt"
	"iter"
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
	store := &journal.MapStore{}
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
		store := &journal.MapStore{}
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

// A distant store takes a while to read a log.
type distant struct{ journal.Store }

func (d distant) Read(ctx context.Context, session string, after uint64) iter.Seq2[journal.Record, error] {
	time.Sleep(700 * time.Millisecond)
	return d.Store.Read(ctx, session, after)
}

// What was meant for an earlier run stops no later one, whenever it comes.
func TestAStopThatCameTooLateStopsNoLaterRun(t *testing.T) {
	for _, kind := range []string{"cancel", "stop", "pause"} {
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &journal.MapStore{}
				newRun := func(in journal.Store, prompt string, steps ...providertest.Step) (*agent.Result, error) {
					a := newAgent(t, agent.Config{Journal: in, Provider: providertest.Script(steps...)})
					return a.Run(t.Context(), agent.Input{Session: "s", Prompt: prompt})
				}
				late := func(id string, after int) {
					require.NoError(t, store.Post(t.Context(), "s", journal.Item{ID: id, Kind: kind, Time: time.Now(),
						Data: fmt.Appendf(nil, `{"after":%d}`, after)}))
				}
				_, err := newRun(store, "Go.", say("Done."))
				require.NoError(t, err)
				late("m-1", 0)
				_, err = newRun(distant{store}, "Go on.", say("Again."))
				require.NoError(t, err, "it was there before the run began")

				head, err := store.Head(t.Context(), "s")
				require.NoError(t, err)
				go func() {
					time.Sleep(time.Second)
					late("m-2", int(head.Seq))
				}()
				_, err = newRun(store, "Go on.", providertest.Slow(time.Second, say("Again.")), say("More."))
				require.NoError(t, err, "it came while the run was in progress")
				head, err = store.Head(t.Context(), "s")
				require.NoError(t, err)
				require.Zero(t, head.Inbox)
			})
		})
	}
}
