package agent_test

import (
	"context"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
)

// A deafModel ignores its context. It writes a word each second, for ever.
type deafModel struct{ ended bool }

func (d *deafModel) Stream(context.Context, *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		for more := yield(provider.Start("m"), nil); more; more = yield(provider.Text("word "), nil) {
			<-time.After(time.Second)
		}
		d.ended = true
	}
}

func TestAModelThatIgnoresItsContextIsStoppedAtItsNextChunk(t *testing.T) {
	for name, c := range map[string]struct {
		limits agent.Limits
		stop   func(t *testing.T, a *agent.Agent, cancel context.CancelFunc)
		code   string
	}{
		"Duration": {limits: agent.Limits{Duration: 10 * time.Second}, code: machine.CodeLimit},
		"its context": {stop: func(_ *testing.T, _ *agent.Agent, cancel context.CancelFunc) {
			cancel()
		}, code: machine.CodeCanceled},
		"Session.Cancel": {stop: func(t *testing.T, a *agent.Agent, _ context.CancelFunc) {
			require.NoError(t, a.Session("s").Cancel(t.Context()))
		}, code: machine.CodeCanceled},
	} {
		for _, guarded := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					model := &deafModel{}
					s := &swap{p: model}
					a := newAgent(t, agent.Config{Provider: s, NoGuard: !guarded, Limits: c.limits})
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					if c.stop != nil {
						time.AfterFunc(10*time.Second, func() { c.stop(t, a, cancel) })
					}
					began := time.Now()
					res, _ := a.Run(ctx, agent.Input{Session: "s", Prompt: "go"})
					require.LessOrEqual(t, time.Since(began), 11*time.Second)
					require.True(t, model.ended)
					require.Equal(t, agent.Stopped, res.Status)
					require.Equal(t, c.code, res.Code)
					require.Contains(t, res.Text(), "word word ")
					requireFree(t, a, s, "s")
				})
			})
		}
	}
}
