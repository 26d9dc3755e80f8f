package agent

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

func TestTheTextOfAResultIsThatOfTheLastMessageOfTheModel(t *testing.T) {
	user, model := provider.User("go"), provider.Assistant
	call := provider.Message{Role: provider.RoleAssistant, Parts: []provider.Part{callPart("1")}}
	result := provider.Message{Role: provider.RoleTool, Parts: []provider.Part{resultPart("1", "r")}}
	thought := provider.Message{Role: provider.RoleAssistant, Parts: []provider.Part{{Kind: provider.PartReasoning, Text: "hm"}, provider.TextPart("a"), provider.TextPart("b")}}
	for want, messages := range map[string][]provider.Message{
		"":     {},
		"done": {user, call, result, model("done"), user},
		"ab":   {user, model("before"), thought},
	} {
		require.Equal(t, want, (&Result{Messages: messages}).Text())
		require.Equal(t, want, (&RunStatus{Messages: messages}).Text())
	}
	require.Empty(t, (&Result{Messages: []provider.Message{user, model("before"), call, result}}).Text(), "the last message had no text")
}

func TestAResultSaysWhyARunDidNotComplete(t *testing.T) {
	limit := &LimitError{Limit: LimitSteps, Max: 1, Have: 1}
	pause := Pause{ID: "p-1", Kind: PauseApproval, Call: provider.ToolCall{ID: "r-1.1.0", Name: "look"}}
	for _, c := range []struct {
		status  Status
		pending bool
		reason  error
		want    error
	}{
		{Completed, false, nil, nil},
		{Completed, false, errors.New("a stop condition holds"), nil},
		{Stopped, false, limit, limit},
		{Failed, false, ErrFiltered, ErrFiltered},
		{Paused, false, nil, &PausedError{Session: "s-1"}},
		{Paused, true, nil, &PausedError{Session: "s-1", Pending: []Pause{pause}}},
		{Paused, false, errPaused, errPaused},
		{Paused, true, errPaused, &PausedError{Session: "s-1", Pending: []Pause{pause}}},
	} {
		m := NewMachine("s-1")
		m.s.Run = &RunState{ID: "r-1"}
		if c.pending {
			m.s.Run.Calls = []CallState{{Call: &pause.Call, Status: callSuspended, Pause: &pause}, {Call: &pause.Call, Status: callDone}}
		}
		res := m.result(c.status, "code", c.reason)
		require.Equal(t, c.want, res.Err(), "%s, %v", c.status, c.reason)
		require.Equal(t, c.pending, len(res.Pending) == 1)
		if c.reason != nil {
			require.Equal(t, c.reason.Error(), res.Reason)
		}
	}
}

func TestAResultIsNotChangedByWhatFollows(t *testing.T) {
	for seed := range uint64(20) {
		s := newSim(t, seed)
		var results []*Result
		var was []string
		print := func(r *Result) string {
			data, err := marshal([]any{r.Status, r.Steps, r.Usage, r.Messages, r.Pending, r.Mode, r.Phase, r.ToolNames()})
			require.NoError(t, err)
			return string(data)
		}
		s.after = func(Fact) {
			res := s.m.result(s.m.s.Run.Status, "", nil)
			require.Equal(t, provider.RoleUser, res.Messages[0].Role, "its input comes first")
			names := res.ToolNames()
			if copied := slices.Clone(names); len(names) > 0 {
				names[0] = "changed by the caller"
				require.Equal(t, copied, res.ToolNames())
			}
			_ = append(res.Messages, provider.User("added by the caller"))
			results, was = append(results, res), append(was, print(res))
		}
		for len(s.facts) < 80 {
			s.step()
		}
		for i := range results {
			require.Equal(t, was[i], print(results[i]))
		}
		require.NoError(t, balanced(s.m.s.Messages[:s.m.s.Run.First]))
	}
}

func TestReasonsAreTypedAndSayWhatToDo(t *testing.T) {
	cause := errors.New("disk full")
	one := []Pause{{ID: "p-1", Kind: PauseApproval, Call: provider.ToolCall{Name: "look"}}}
	for _, c := range []struct {
		err   error
		text  string
		class fault.Class
		wraps bool
	}{
		{&StopError{Code: CodeHost}, "agent: the run was stopped: host", fault.None, false},
		{&StopError{Code: CodeHost, Err: cause}, "agent: the run was stopped (host): disk full", fault.None, true},
		{&StopError{Code: CodeHost, Err: errStopped}, "agent: the run was stopped by its host", fault.None, false},
		{&StopError{Code: CodeAbandoned, Err: ErrAbandoned}, "agent: the run was stopped (abandoned): the consumer left the stream", fault.None, false},
		{&PausedError{Session: "s"}, `agent: session "s" is paused; resume it with Continue, or begin anew with Input.Supersede`, fault.None, false},
		{&PausedError{Session: "s", Pending: one}, `agent: session "s" waits for a decision on look (approval, pause p-1)`, fault.None, false},
		{&PausedError{Session: "s", Pending: append(one, one...)}, `agent: session "s" waits for 2 decisions`, fault.None, false},
		{&BusyError{Session: "s"}, `agent: session "s" has a run under way; wait for its end, or use Steer`, fault.Permanent, false},
		{&BusyError{Session: "s", Err: cause}, `agent: session "s" has a run under way elsewhere: disk full`, fault.Permanent, true},
		{&InputError{Field: "Prompt", Problem: "it is empty", Err: cause}, "agent: Input.Prompt: it is empty", fault.Invalid, true},
		{&NothingOpenError{Session: "s"}, `agent: session "s" is unknown, so there is nothing to resume`, fault.Permanent, false},
		{&NothingOpenError{Session: "s", Status: Failed}, `agent: the last run of session "s" has ended (failed), so there is nothing to resume; begin another with a prompt`, fault.Permanent, false},
		{&ConfigError{Field: "Tools", Problem: "no", Err: cause}, "agent: Config.Tools: no", fault.Permanent, true},
	} {
		require.EqualError(t, c.err, c.text)
		require.Equal(t, c.class, fault.Of(fmt.Errorf("wrapped: %w", c.err)), c.text)
		require.Equal(t, c.wraps, errors.Is(c.err, cause), c.text)
	}
}
