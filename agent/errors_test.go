package agent

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
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
		{&StopError{Code: machine.CodeAbandoned, Err: errAbandoned},
			"agent: the consumer left the stream", fault.None, false},
		{&PausedError{Session: "s"},
			`agent: session "s" is paused; resume it with Continue, or start another run with Input.Supersede`,
			fault.None, false},
		{&PausedError{Session: "s", Started: true},
			`agent: the run of session "s" was paused; resume it with Continue`, fault.None, false},
		{&PausedError{Session: "unnamed/1", Pending: one, Started: true},
			`agent: session "unnamed/1" waits for a decision on look (approval, pause p-1); the input named no session: set Input.Session, so that a decision can name it`,
			fault.None, false},
		{&StopError{Code: machine.CodeProvider, Err: cause}, "agent: the run was stopped (provider): disk full",
			fault.Permanent, true},
		{&PausedError{Session: "s", Pending: one, Started: true},
			`agent: session "s" waits for a decision on look (approval, pause p-1)`, fault.None, false},
		{&PausedError{Session: "s", Pending: append(one, one...)}, `agent: session "s" waits for 2 decisions; ` +
			`this input wasn't taken: decide first, or set Input.Supersede`, fault.None, false},
		{&BusyError{Session: "s"}, `agent: session "s" has a run under way; wait for its end, or use Steer`,
			fault.Permanent, false},
		{&BusyError{Session: "s", Err: cause}, `agent: session "s" has a run under way elsewhere: disk full`,
			fault.Permanent, true},
		{&InputError{Field: "Prompt", Problem: "it is empty", Err: cause}, "agent: Input.Prompt: it is empty",
			fault.Invalid, true},
		{&NothingOpenError{Session: "s"}, `agent: session "s" is unknown, so there is nothing to resume`,
			fault.Permanent, false},
		{&NothingOpenError{Session: "s", Status: Failed},
			`agent: the last run of session "s" has ended (failed), so there is nothing to resume; start another with a prompt`, fault.Permanent, false},
		{&ConfigError{Field: "Tools", Problem: "no", Err: cause}, "agent: Config.Tools: no", fault.Permanent, true},
	} {
		require.EqualError(t, c.err, c.text)
		require.Equal(t, c.class, fault.Of(fmt.Errorf("wrapped: %w", c.err)), c.text)
		require.Equal(t, c.wraps, errors.Is(c.err, cause), c.text)
	}
}
