package agent

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

func TestReasonsAreTypedAndSayWhatToDo(t *testing.T) {
	cause := errors.New("disk full")
	one := []Pause{{ID: "p-1", Kind: PauseApproval, Call: provider.ToolCall{Name: "look"}}}
	for _, c := range []struct {
		err   error
		text  string
		class fault.Class
		wraps bool
	}{
		{&StopError{Code: machine.CodeHost}, "agent: the run was stopped: host", fault.None, false},
		{&StopError{Code: machine.CodeHost, Err: cause}, "agent: the run was stopped (host): disk full", fault.None,
			true},
		{&StopError{Code: machine.CodeHost, Err: errStopped}, "agent: the run was stopped by its host", fault.None,
			false},
		{&StopError{Code: machine.CodeAbandoned, Err: errLeft},
			"agent: the consumer left the stream", fault.None, false},
		{&PausedError{Session: "s"},
			`agent: session "s" is paused; resume it with Continue, or start another run with Supersede`,
			fault.None, false},
		{&PausedError{Session: "s", Started: true},
			`agent: the run of session "s" was paused; resume it with Continue`, fault.None, false},
		{&PausedError{Session: "unnamed/1", Pending: one, Started: true},
			`agent: session "unnamed/1" waits for a decision on look (approval, pause p-1); it got a name that was made up: set Session, so that a decision can name it`,
			fault.None, false},
		{&StopError{Code: machine.CodeProvider, Err: cause}, "agent: the run was stopped (provider): disk full",
			fault.Permanent, true},
		{&PausedError{Session: "s", Pending: one, Started: true},
			`agent: session "s" waits for a decision on look (approval, pause p-1)`, fault.None, false},
		{&PausedError{Session: "s", Pending: append(one, one...)}, `agent: session "s" waits for 2 decisions; ` +
			`nothing was started: decide first, or start another run with Supersede`, fault.None, false},
		{&SessionError{Session: "s", Code: ErrBusy},
			`agent: session "s" has a run under way; wait for its end, or use Steer`,
			fault.Transient, false},
		{&SessionError{Session: "s", Code: ErrBusy, Err: cause},
			`agent: session "s" has a run under way elsewhere: disk full`,
			fault.Transient, true},
		{&ArgError{Field: "Input.Prompt", Problem: "it is empty", Err: cause}, "agent: Input.Prompt: it is empty",
			fault.Invalid, true},
		{&SessionError{Session: "s", Code: ErrNothingOpen},
			`agent: session "s" is unknown, so there is nothing to resume`,
			fault.Permanent, false},
		{&SessionError{Session: "s", Code: ErrNothingOpen, Status: Failed},
			`agent: the last run of session "s" has ended (failed), so there is nothing to resume; start another with a prompt`, fault.Permanent, false},
		{&SessionError{Session: "s", Code: ErrBusy, Err: &SessionError{Session: "s", Code: ErrDraining}},
			`agent: session "s" has a run under way elsewhere: agent: this agent is draining and takes no new input; another process may`,
			fault.Transient, false},
		{&SessionError{Session: "s", Code: ErrNotOwner}, `agent: session "s" doesn't belong to Input.Owner`,
			fault.Denied, false},
		{&SessionError{Session: "s", Code: ErrRefused, Problem: "a hook refused it", Err: cause},
			`agent: session "s": a hook refused it: disk full`, fault.Denied, true},
		{&SessionError{Session: "s", Code: ErrDuplicate, Problem: "it had the key"},
			`agent: session "s": it had the key`,
			fault.Invalid, false},
		{&SessionError{Session: "s", Code: ErrNoRule}, `agent: session "s": no rule`, fault.Permanent, false},
		{ErrDraining, `agent: draining`, fault.Transient, false},
		{&ArgError{Func: "Generate", Problem: "no call"}, "agent: Generate: no call", fault.Permanent, false},
		{&ArgError{Func: "Emit", Field: `event "k"`, Problem: "no"}, `agent: Emit: event "k": no`, fault.Invalid,
			false},
		{&ArgError{Field: "Config.Tools", Problem: "no", Err: cause}, "agent: Config.Tools: no", fault.Permanent, true},
	} {
		require.EqualError(t, c.err, c.text)
		require.Equal(t, c.class, fault.Of(fmt.Errorf("wrapped: %w", c.err)), c.text)
		require.Equal(t, c.wraps, errors.Is(c.err, cause), c.text)
	}
}

func TestASessionErrorMatchesItsCodeAndItsCause(t *testing.T) {
	err := fmt.Errorf("wrapped: %w", &SessionError{Code: ErrBusy, Err: &SessionError{Code: ErrDraining}})
	require.ErrorIs(t, err, ErrBusy)
	require.ErrorIs(t, err, ErrDraining)
	require.NotErrorIs(t, err, ErrNothingOpen)
	require.NotErrorIs(t, &SessionError{}, ErrBusy)
	require.NotErrorIs(t, &SessionError{Code: ErrBusy}, errors.New("agent: busy"))
}

func TestAPanicIsNotTheErrorThatItWasRaisedWith(t *testing.T) {
	raised := &journal.ConflictError{Session: "s"}
	err := contained(func() error { panic(raised) })
	var panicked *tools.PanicError
	require.ErrorAs(t, err, &panicked)
	require.Same(t, raised, panicked.Value)
	require.Contains(t, string(panicked.Stack), "errors_test.go")
	require.True(t, journal.Unclear(err), "nobody knows what the store has done")
	require.NotErrorAs(t, contained(func() error { panic(&AbortError{}) }), new(*AbortError))
}
