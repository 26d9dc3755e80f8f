package machine_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
)

func TestTheTextOfAResultIsThatOfTheLastMessageOfTheModel(t *testing.T) {
	user, model := provider.User("go"), provider.Assistant
	call := provider.Message{Role: provider.RoleAssistant, Parts: []provider.Part{callPart("1")}}
	result := provider.Message{Role: provider.RoleTool, Parts: []provider.Part{resultPart("1", "r")}}
	thought := provider.Message{Role: provider.RoleAssistant,
		Parts: []provider.Part{{Kind: provider.PartReasoning, Text: "hm"}, provider.TextPart("a"),
			provider.TextPart("b")}}
	for want, messages := range map[string][]provider.Message{
		"":     {},
		"done": {user, call, result, model("done"), user},
		"ab":   {user, model("before"), thought},
	} {
		require.Equal(t, want, (&machine.Result{Messages: messages}).Text())
	}
	require.Empty(t, (&machine.Result{Messages: []provider.Message{user, model("before"), call, result}}).Text(),
		"the last message had no text")
}

func TestAResultSaysWhyARunDidNotComplete(t *testing.T) {
	limit := &machine.LimitError{Limit: machine.LimitSteps, Max: 1, Have: 1}
	paused := errors.New("agent: the run was paused by its host")
	pause := machine.Pause{ID: "p-1", Kind: machine.PauseApproval, Call: provider.ToolCall{ID: "r-1.1.0", Name: "look"}}
	stop := &machine.StopError{Code: machine.CodeHost}
	waits := &machine.PausedError{Session: "s-1", Pending: []machine.Pause{pause}, Started: true}
	for _, c := range []struct {
		status  machine.Status
		pending bool
		reason  error
		want    error
	}{
		{machine.Completed, false, nil, nil},
		{machine.Completed, false, errors.New("a stop condition holds"), nil},
		{machine.Stopped, false, limit, &machine.StopError{Code: "code", Err: limit}},
		{machine.Stopped, false, stop, stop},
		{machine.Stopped, false, nil, &machine.StopError{Code: "code"}},
		{machine.Failed, false, limit, limit},
		{machine.Failed, false, nil, &machine.StopError{Code: "code"}},
		{machine.Running, false, nil, machine.ErrRunning},
		{machine.Paused, false, nil, &machine.PausedError{Session: "s-1", Started: true}},
		{machine.Paused, true, nil, waits},
		{machine.Paused, false, paused, &machine.PausedError{Session: "s-1", Started: true}},
		{machine.Paused, true, paused, waits},
	} {
		m := machine.New("s-1")
		m.State().Run = &machine.RunState{ID: "r-1"}
		if c.pending {
			m.State().Run.Calls = []machine.CallState{{Call: &pause.Call, Status: machine.CallSuspended, Pause: &pause},
				{Call: &pause.Call, Status: machine.CallDone}}
		}
		res := m.Result(c.status, "code", c.reason)
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
		var results []*machine.Result
		var was []string
		print := func(r *machine.Result) string {
			data, err := machine.Marshal([]any{r.Status, r.Steps, r.Usage, r.Messages, r.Pending, r.Mode, r.Phase,
				r.ToolNames()})
			require.NoError(t, err)
			return string(data)
		}
		s.after = func(machine.Fact) {
			res := s.m.Result(s.m.State().Run.Status, "", nil)
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
		require.NoError(t, balanced(s.m.State().Messages[:s.m.State().Run.First]))
	}
}
