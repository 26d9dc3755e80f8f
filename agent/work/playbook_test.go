package work_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/agent/work"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// The tests of this file run what is expected of a worker, by groups, through Enqueue and a Worker.
// What another test of the repository proves already is named there, and not written again. Left
// out is what was decided otherwise:
//   - CAS conflicts on a version: leases and fencing tokens take their place
//   - a lock that outlives a long operation: a lease that is renewed takes its place
//   - the text of a goal is pinned: the input of a run is
//   - levels of backpressure with hysteresis: Parallel and PerLabel bound what runs
//   - quality checks of a plan's prompt (an empty concept, "document" isn't vague): they are the
//     host's
//   - a retry of all errors by "*": a failure is retried by its class

// A desk is an agent with an effect, and a worker for its runs.
type desk struct {
	store   closable
	agent   *agent.Agent
	worker  *work.Worker
	ended   chan *agent.Result
	effects atomic.Int64
	stop    func()
}

// openDesk starts a worker over a journal. It is stopped at the end of the test, or by stop.
func openDesk(t *testing.T, s *shared, limits agent.Limits, steps ...providertest.Step) *desk {
	t.Helper()
	d := &desk{store: s.opened(t), ended: make(chan *agent.Result, 4)}
	effect := func(context.Context, struct{}) (string, error) {
		d.effects.Add(1)
		return "done", nil
	}
	var err error
	d.agent, err = agent.New(agent.Config{Name: "desk", Journal: d.store, NoGuard: true, Limits: limits,
		Provider: providertest.Script(steps...), Tools: []tools.Tool{
			tools.New(tools.Spec{Name: "add"}, effect), tools.New(tools.Spec{Name: "pay", Risk: tools.High}, effect),
			tools.New(tools.Spec{Name: "break"}, func(context.Context, struct{}) (string, error) { panic("broken") })}})
	require.NoError(t, err)
	d.worker, err = work.New(work.Config{Agents: []*agent.Agent{d.agent}, Poll: 10 * time.Millisecond,
		Ended: func(_ context.Context, r *agent.Result) error { d.ended <- r; return nil }})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- d.worker.Run(ctx); close(done) }()
	d.stop = func() { cancel(); <-done }
	t.Cleanup(d.stop)
	return d
}

// enqueue queues the run of session "s".
func (d *desk) enqueue(t *testing.T) {
	t.Helper()
	require.NoError(t, d.agent.Enqueue(t.Context(), agent.Input{Session: "s", Key: "k", Prompt: "go"},
		agent.QueueOptions{Attempts: 3}))
}

// facts returns the log of session "s".
func (d *desk) facts(t *testing.T) []machine.Fact {
	t.Helper()
	facts, err := d.agent.Session("s").Facts(t.Context())
	require.NoError(t, err)
	return facts
}

// playbook runs a scenario on SQLite, and with -postgres on PostgreSQL.
func playbook(t *testing.T, scenario func(*testing.T, *shared)) {
	t.Helper()
	for name, s := range newShared(t, *postgresly) {
		t.Run(name, func(t *testing.T) { scenario(t, s) })
	}
}

// proven requires that tests exist, each named by its folder and name.
func proven(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		dir, test, _ := strings.Cut(name, ".")
		files, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(dir), "*_test.go"))
		require.NoError(t, err)
		found := false
		for _, f := range files {
			text, err := os.ReadFile(f)
			require.NoError(t, err)
			found = found || strings.Contains(string(text), "\nfunc "+test+"(")
		}
		require.True(t, found, "there is no test %s", name)
	}
}

func call(tool string) providertest.Step { return providertest.Call(tool, struct{}{}) }

func TestPlaybookStateMachine(t *testing.T) {
	proven(t, "agent/machine.TestTransitionsAreAsDocumented",
		"agent/machine.TestFactsThatCannotFollowAreRefusedAndChangeNothing",
		"agent.TestTheSameKeyDuringItsRunIsADuplicate")
	playbook(t, func(t *testing.T, s *shared) {
		d := openDesk(t, s, agent.Limits{}, call("add"), providertest.Say("done"))
		d.enqueue(t)
		require.Equal(t, agent.Completed, (<-d.ended).Status)
		require.ErrorIs(t, d.agent.Session("s").Cancel(t.Context()), agent.ErrNothingOpen)
		require.ErrorIs(t, d.agent.Session("s").Retry(t.Context()), machine.ErrCannotRetry)
		require.EqualValues(t, 1, d.effects.Load())
	})
}

func TestPlaybookLimits(t *testing.T) {
	proven(t, "agent.TestEveryLimitEndsARunWithItsName", "agent.TestTheLastCallIsWithoutTools",
		"agent/machine.TestARunStopsAfterAsManyFailuresInARowAsItsLimitSays")
	playbook(t, func(t *testing.T, s *shared) {
		d := openDesk(t, s, agent.Limits{Steps: 2}, call("add"), call("add"), providertest.Say("so far"))
		d.enqueue(t)
		r := <-d.ended
		require.Equal(t, agent.Stopped, r.Status)
		require.Equal(t, machine.CodeLimit, r.Code)
		require.EqualValues(t, 2, d.effects.Load())
	})
}

func TestPlaybookCancelPauseTimeout(t *testing.T) {
	proven(t, "agent.TestCancelingAtAnyEventEndsTheRun", "agent.TestACanceledRunLeavesADeafCallBehindInDoubt",
		"agent.TestOnlyWorkCountsForTheDurationOfARunInLegs", "agent.TestCancelEndsARunThatWaitsForAPerson",
		"agent/work.TestARunThatWaitsTooLongIsCanceledOnceAlsoIfLeadersDie")
	playbook(t, func(t *testing.T, s *shared) {
		first := openDesk(t, s, agent.Limits{}, call("pay"))
		first.enqueue(t)
		var pending []agent.Pause
		require.Eventually(t, func() bool {
			pending, _ = first.agent.Session("s").Pending(t.Context())
			return len(pending) == 1
		}, time.Minute, 10*time.Millisecond)
		first.stop() // and another process goes on
		next := openDesk(t, s, agent.Limits{}, providertest.Say("paid"))
		require.NoError(t, next.agent.Session("s").Decide(t.Context(), agent.Approve(pending[0].ID)))
		require.Equal(t, agent.Completed, (<-next.ended).Status)
		require.EqualValues(t, 1, next.effects.Load())
		require.Zero(t, first.effects.Load())
	})
}

func TestPlaybookCrashRecovery(t *testing.T) {
	proven(t, "agent/internal/durable.TestCrashesRepeatNothing",
		"agent/work.TestCrashesOfWorkersRepeatNothingAndLoseNothing",
		"agent.TestARunThatFailsIsTriedAgainWhereverItsProcessDied")
	playbook(t, func(t *testing.T, s *shared) {
		d := openDesk(t, s, agent.Limits{}, call("add"), providertest.Say("done"))
		d.enqueue(t)
		<-d.ended
		for i, f := range d.facts(t) {
			require.EqualValues(t, i+1, f.Envelope().Seq, "there is a gap")
		}
	})
}

func TestPlaybookIdempotency(t *testing.T) {
	proven(t, "agent.TestTheSameKeyStartsOneRun", "agent/plan.TestARetryHasTheSameIdempotencyKey")
	playbook(t, func(t *testing.T, s *shared) {
		d := openDesk(t, s, agent.Limits{}, call("add"), providertest.Say("done"))
		const many = 20
		results := make(chan error, many)
		for range many {
			go func() {
				results <- d.agent.Enqueue(context.Background(), agent.Input{Session: "s", Key: "k", Prompt: "go"},
					agent.QueueOptions{})
			}()
		}
		accepted := 0
		for range many {
			if err := <-results; err == nil {
				accepted++
			} else {
				require.True(t, errors.Is(err, agent.ErrDuplicate) || errors.Is(err, agent.ErrBusy), "%v", err)
			}
		}
		require.Equal(t, 1, accepted)
		require.Equal(t, agent.Completed, (<-d.ended).Status)
		require.EqualValues(t, 1, d.effects.Load())
	})
}

func TestPlaybookRetry(t *testing.T) {
	proven(t, "tools.TestDelaysGrowAreSpreadAndBounded", "agent.TestARunThatFailsIsTriedAgainWhereItFailed",
		"agent.TestARunThatHasFailedForGoodIsRetriedThreeTimes")
	playbook(t, func(t *testing.T, s *shared) {
		d := openDesk(t, s, agent.Limits{}, call("add"), providertest.Fail(fault.Permanent), providertest.Say("unused"))
		d.enqueue(t)
		require.Equal(t, agent.Failed, (<-d.ended).Status, "it has two attempts left, and doesn't take them")
		require.EqualValues(t, 1, d.effects.Load())
	})
}

func TestPlaybookPlanner(t *testing.T) {
	proven(t, "agent/plan.TestPlansThatCannotBeOfferedAreSentBackToTheModel", "agent/plan.TestARevisionIsApprovedAnew",
		"agent/plan.TestARevisionKeepsWhatAPersonHasDecided", "agent/plan.TestARetryAfterAFailureRepeatsNothing")
}

func TestPlaybookTools(t *testing.T) {
	proven(t, "agent.TestResultsAreInCallOrderWhateverFinishesFirst",
		"tools.TestAnUnknownToolIsRefusedWithTheNearestName",
		"tools.TestAToolThatIsNotOfferedIsDenied", "ratelimit.TestAnAllowanceIsAsExactAsANaiveModel")
	playbook(t, func(t *testing.T, s *shared) {
		none := struct{}{}
		d := openDesk(t, s, agent.Limits{}, providertest.Reply(providertest.Call("break", none),
			providertest.Unfit(providertest.Call("no such tool", none)),
			providertest.Unfit(providertest.Call("add", map[string]int{"n": 1})),
			providertest.Call("add", none)), providertest.Say("done"))
		d.enqueue(t)
		require.Equal(t, agent.Completed, (<-d.ended).Status)
		ok := 0
		for _, f := range d.facts(t) {
			if f, is := f.(*agent.ToolFinished); is && f.Result.Status == tools.OK {
				ok++
			}
		}
		require.Equal(t, 1, ok, "each other call has a result that says what is wrong")
		require.EqualValues(t, 1, d.effects.Load())
	})
}

func TestPlaybookMemory(t *testing.T) {
	proven(t, "memory.TestARunGoesOnWhateverTheSummariserDoes", "memory.TestKeyFactsOutliveSummaries",
		"agent.TestAPromptNearlyAsBigAsTheWindowComesToAnEnd")
}

func TestPlaybookWorker(t *testing.T) {
	proven(t, "agent/work.TestADrainLosesNoneOfTheRunsInProgress",
		"agent/work.TestDeadRunsAreListedAndRetriedThreeTimes",
		"agent/work.TestRunsWithALabelLeaveRoomForOthers")
	playbook(t, func(t *testing.T, s *shared) {
		d := openDesk(t, s, agent.Limits{}, call("add"), providertest.Fail(fault.Permanent), providertest.Say("done"))
		d.enqueue(t)
		require.Equal(t, agent.Failed, (<-d.ended).Status)
		require.NoError(t, d.worker.Retry(t.Context(), "s"))
		require.Equal(t, agent.Completed, (<-d.ended).Status)
		require.EqualValues(t, 1, d.effects.Load(), "what was done isn't done again")
	})
}
