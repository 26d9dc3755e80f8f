package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A previewed is a tool of high risk that shows a value before it replaces it.
type previewed struct {
	effects
	value    atomic.Value // string
	fails    atomic.Bool
	reads    atomic.Int32
	parallel bool
}

func (p *previewed) tool() tools.Tool {
	if p.value.Load() == nil {
		p.value.Store("old")
	}
	return tools.Wrap(tools.Func[Number, string]{
		Spec: tools.Spec{Name: "set", Risk: tools.High, AllowAlways: true, ParallelSafe: p.parallel},
		Preview: func(_ context.Context, in Number) (string, error) {
			p.reads.Add(1)
			if p.fails.Load() {
				return "", errors.New("there is no such page")
			}
			return fmt.Sprintf("-%s\n+%d\n", p.value.Load(), in.N), nil
		},
		Run: func(_ context.Context, in Number) (string, error) {
			p.add(in.N)
			return "ok", nil
		},
	}, func(ctx context.Context, input json.RawMessage, next tools.Runner) (tools.Result, error) {
		return next(ctx, input)
	})
}

func (p *previewed) agent(t *testing.T, cfg agent.Config, steps ...providertest.Step) *agent.Agent {
	cfg.Tools = []tools.Tool{p.tool()}
	a, _ := scripted(t, cfg, steps...)
	return a
}

func TestACallRunsOnlyIfItWouldChangeWhatWasShown(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		var p previewed
		a := p.agent(t, agent.Config{Journal: store}, call("set", 1), say("Done."))
		first := run(t, a).Pending[0]
		require.Equal(t, "-old\n+1\n", first.Preview)
		p.value.Store("other")
		res := runInput(t, a, agent.Resume("s", agent.Approve(first.ID).By("ann")))
		require.Equal(t, agent.Paused, res.Status)
		require.Zero(t, p.all())
		second := res.Pending[0]
		require.Equal(t, "-other\n+1\n", second.Preview)
		require.Equal(t, []string{first.ID}, second.Replaces)
		require.NotEqual(t, first.ID, second.ID)
		require.NotEqual(t, first.PreviewHash, second.PreviewHash)
		require.Contains(t, second.Refused, "has changed")

		require.Equal(t, agent.Completed, runInput(t, a, agent.Resume("s", agent.Approve(second.ID))).Status)
		require.Equal(t, 1, p.all())
		requireSound(t, "s", facts(t, a, "s"))
	})
}

func TestOneOfSeveralCallsIsAskedAboutAgain(t *testing.T) {
	p := previewed{parallel: true}
	a := p.agent(t, agent.Config{}, calls("set", 1, 2, 3), say("Done."))
	pending := run(t, a).Pending
	p.value.Store("other")
	res := runInput(t, a, agent.Resume("s", agent.Approve(pending[0].ID), agent.Reject(pending[1].ID, "no"),
		agent.Approve(pending[2].ID)))
	require.Len(t, res.Pending, 2)
	require.Zero(t, p.all())
	res = runInput(t, a, agent.Resume("s", agent.Approve(res.Pending[0].ID), agent.Approve(res.Pending[1].ID)))
	require.Equal(t, agent.Completed, res.Status)
	require.Equal(t, 2, p.all())
	requireSound(t, "s", facts(t, a, "s"))
}

func TestAnEditedInputIsBoundToWhatWasShownBefore(t *testing.T) {
	for name, changes := range map[string]bool{"unchanged": false, "changed": true} {
		t.Run(name, func(t *testing.T) {
			var p previewed
			a := p.agent(t, agent.Config{}, call("set", 1), say("Done."))
			first := run(t, a).Pending[0]
			if changes {
				p.value.Store("other")
			}
			res := runInput(t, a, agent.Resume("s", agent.Edit(first.ID, Number{7})))
			if changes {
				require.Zero(t, p.all())
				require.Equal(t, "-other\n+7\n", res.Pending[0].Preview, "of what would run")
				require.JSONEq(t, `{"n":7}`, string(res.Pending[0].Call.Input))
				res = runInput(t, a, agent.Resume("s", agent.Approve(res.Pending[0].ID)))
			}
			require.Equal(t, agent.Completed, res.Status)
			require.Equal(t, 1, p.of(7))
			require.Equal(t, 1, p.all())
			requireSound(t, "s", facts(t, a, "s"))
		})
	}
}

func TestTheErrorOfAPreviewIsThatOfTheCall(t *testing.T) {
	var p previewed
	p.fails.Store(true)
	a := p.agent(t, agent.Config{}, call("set", 1), call("set", 2), say("Done."))
	p.fails.Store(true)
	res := run(t, a)
	require.Equal(t, agent.Completed, res.Status, "nobody is asked")
	require.Equal(t, "The call wasn't run: there is no such page", finished(t, a, "s")[0].Text())

	b := (&p).agent(t, agent.Config{}, call("set", 1), say("Done."))
	p.fails.Store(false)
	pending := run(t, b).Pending
	p.fails.Store(true) // what was approved can't be done any more
	require.Equal(t, agent.Completed, runInput(t, b, agent.Resume("s", agent.Approve(pending[0].ID))).Status)
	require.Equal(t, tools.Denied, finished(t, b, "s")[0].Status)
	require.Zero(t, p.all())
}

func TestNoPreviewIsMadeForACallThatAsksNobody(t *testing.T) {
	var p previewed
	a := p.agent(t, agent.Config{}, call("set", 1), call("set", 2), say("Done."))
	pending := run(t, a).Pending
	require.EqualValues(t, 1, p.reads.Load())
	p.value.Store("other") // "always" is for whatever the calls change
	require.Equal(t, agent.Completed, runInput(t, a, agent.Resume("s", agent.AllowAlways(pending[0].ID))).Status)
	require.Equal(t, 2, p.all())
	require.EqualValues(t, 1, p.reads.Load())
}

func TestAPreviewIsRedactedAndCut(t *testing.T) {
	var p previewed
	p.value.Store("key 4711 \x1b[31m\u202e\n" + strings.Repeat("-line\n", 20_000))
	redact := func(s string) string { return strings.ReplaceAll(s, "4711", "[redacted]") }
	a := p.agent(t, agent.Config{Redact: redact}, call("set", 1), say("Done."))
	first := run(t, a).Pending[0]
	require.LessOrEqual(t, len(first.Preview), 64<<10)
	require.True(t, strings.HasPrefix(first.Preview, "-key [redacted] ␛[31m\uFFFD\n-line\n"), first.Preview[:60])
	require.Regexp(t, `\n-line\n\\ The preview is cut here: \d+ more bytes aren't shown\.\n$`, first.Preview)

	p.value.Store(p.value.Load().(string) + "more") // beyond the cut
	res := runInput(t, a, agent.Resume("s", agent.Approve(first.ID)))
	require.Equal(t, agent.Paused, res.Status)
	require.Equal(t, agent.Completed, runInput(t, a, agent.Resume("s", agent.Approve(res.Pending[0].ID))).Status)
	require.Equal(t, 1, p.all())
}
