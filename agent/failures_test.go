package agent_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

func TestAToolThatKeepsFailingIsUnavailable(t *testing.T) {
	var failed, worked atomic.Int32
	a, _ := scripted(t, agent.Config{Tools: []tools.Tool{
		tools.New(tools.Spec{Name: "bad"}, func(context.Context, Number) (string, error) {
			failed.Add(1)
			return "", errors.New("no")
		}),
		tools.New(tools.Spec{Name: "good"}, func(context.Context, Number) (string, error) {
			worked.Add(1)
			return "yes", nil
		}),
	}}, call("bad", 1), call("bad", 2), call("bad", 3), call("good", 1), call("bad", 4), call("bad", 5), call("bad", 6),
		call("good", 2), say("done"))
	require.Equal(t, "done", run(t, a).Text())
	require.EqualValues(t, 5, failed.Load())
	require.EqualValues(t, 2, worked.Load())
}

func TestAModelIsToldThatAToolKeepsFailing(t *testing.T) {
	store := &journal.MapStore{}
	a, _ := scripted(t, agent.Config{Journal: store,
		Tools: []tools.Tool{tools.New(tools.Spec{Name: "bad"}, func(context.Context, Number) (string, error) {
			return "", errors.New("no")
		})}}, call("bad", 1), call("bad", 2), call("bad", 3), call("bad", 4), call("bad", 5), call("bad", 6),
		say("done"))
	run(t, a)
	var texts []string
	for _, res := range finished(t, a, "s") {
		texts = append(texts, res.Text())
	}
	require.Equal(t, []string{"no", "no",
		"no\nNote: this tool has failed 3 times in a row. Try something else.",
		"no\nNote: this tool has failed 4 times in a row. Try something else.",
		"no\nNote: this tool has failed 5 times in a row, and isn't available any more in this run. Go on without it.",
		"The call wasn't run: this tool is not available in this run: it failed 5 times in a row. Go on without it."},
		texts)
	requireSound(t, "s", facts(t, a, "s"))
}

func TestARunStopsWhenTooManyCallsInARowHaveFailed(t *testing.T) {
	var steps []providertest.Step
	var list []tools.Tool
	for _, name := range []string{"a", "b", "c"} {
		list = append(list, tools.New(tools.Spec{Name: name}, func(context.Context, Number) (string, error) {
			return "", errors.New("no")
		}))
	}
	for n := range 20 {
		steps = append(steps, call(list[n%3].(tools.Func[Number, string]).Spec.Name, n))
	}
	a, m := scripted(t, agent.Config{Tools: list}, steps...)
	res := run(t, a)
	require.Equal(t, agent.Stopped, res.Status)
	var limit *agent.LimitError
	require.ErrorAs(t, res.Err(), &limit)
	require.Equal(t, machine.LimitFailures, limit.Limit)
	require.Len(t, m.Requests(), 8)
}

func TestOnlyTheFirstCallsOfAReplyAreRun(t *testing.T) {
	var done effects
	ns := make([]int, 1000)
	for i := range ns {
		ns[i] = i
	}
	a, _ := scripted(t,
		agent.Config{Journal: &journal.MapStore{},
			Tools: []tools.Tool{done.tool(tools.Spec{Name: "work", ParallelSafe: true})}}, calls("work", ns...),
		say("done"))
	require.Equal(t, "done", run(t, a).Text())
	require.Equal(t, 128, done.all())
	all := finished(t, a, "s")
	require.Len(t, all, 1000)
	for _, res := range all {
		if res.Status != tools.OK {
			require.Equal(t, tools.NotRun, res.Status)
			require.Equal(t,
				"The call wasn't run: only the first 128 calls of a reply are run. Make it again in your next reply, "+
					"with fewer calls.", res.Text())
		}
	}
	requireSound(t, "s", facts(t, a, "s"))
}

func TestAMismatchIsRecordedAndTheModelReadsIt(t *testing.T) {
	wrong := tools.Mismatch{Expected: "published", Actual: "draft with sk-secret",
		Suggestion: "Publish it in the editor."}
	for name, err := range map[string]error{"value": wrong, "pointer": &wrong,
		"wrapped": errors.Join(errors.New("no"), wrong)} {
		t.Run(name, func(t *testing.T) {
			a, _ := scripted(t, agent.Config{
				Redact: func(s string) string { return strings.ReplaceAll(s, "sk-secret", "[secret]") },
				Tools: []tools.Tool{tools.Func[Number, string]{Spec: tools.Spec{Name: "publish"},
					Run:    func(context.Context, Number) (string, error) { return "published", nil },
					Verify: func(context.Context, Number, string) error { return err },
				}},
			}, call("publish", 1), say("done"))
			run(t, a)
			res := finished(t, a, "s")[0]
			require.Equal(t, tools.Unverified, res.Status)
			require.Equal(t, &tools.Mismatch{Expected: "published", Actual: "draft with [secret]",
				Suggestion: wrong.Suggestion}, res.Mismatch)
			require.Contains(t, res.Text(),
				"expected published, but found draft with [secret]. Publish it in the editor.")
		})
	}
}
