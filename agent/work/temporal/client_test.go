package temporal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/carry"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A server is a client of a server that has at most one open workflow.
type server struct {
	client.Client
	t       *testing.T
	options client.StartWorkflowOptions
	run     Run
	open    bool
	down    error
	signals []string
}

// A handle is a handle on a workflow.
type handle struct {
	client.WorkflowRun
	run string
}

func (h handle) GetRunID() string { return h.run }

func (s *server) ExecuteWorkflow(_ context.Context, o client.StartWorkflowOptions, name any,
	args ...any) (client.WorkflowRun, error) {
	require.Equal(s.t, workflowName, name)
	require.Len(s.t, args, 1)
	require.True(s.t, o.WorkflowExecutionErrorWhenAlreadyStarted)
	if s.open {
		return nil, serviceerror.NewWorkflowExecutionAlreadyStarted("it is open", "", "r-1")
	}
	s.open, s.options, s.run = true, o, args[0].(Run)
	return handle{run: "r-1"}, s.down
}

func (s *server) DescribeWorkflow(_ context.Context, id, _ string) (*client.WorkflowExecutionDescription, error) {
	require.Equal(s.t, s.options.ID, id)
	key, err := converter.GetDefaultDataConverter().ToPayload(s.options.Memo[memoKey])
	require.NoError(s.t, err)
	return &client.WorkflowExecutionDescription{WorkflowExecutionMetadata: client.WorkflowExecutionMetadata{
		WorkflowExecution: workflow.Execution{ID: id, RunID: "r-1"},
		Memo:              &commonpb.Memo{Fields: map[string]*commonpb.Payload{memoKey: key}}}}, nil
}

func (s *server) GetWorkflow(_ context.Context, id, run string) client.WorkflowRun {
	require.Equal(s.t, s.options.ID, id)
	return handle{run: run}
}

func (s *server) SignalWorkflow(_ context.Context, _, _, name string, value any) error {
	require.Equal(s.t, signalName, name)
	s.signals = append(s.signals, value.(string))
	return s.down
}

func (s *server) CancelWorkflow(context.Context, string, string) error { return s.down }

func TestStartIsSafeToRepeatAndRefusesAnotherInputOfABusySession(t *testing.T) {
	s := &server{t: t}
	for range 2 {
		run, err := Start(t.Context(), s, "clerk", first, Options{TaskQueue: "agents", Leg: agent.Leg{Steps: 5}})
		require.NoError(t, err)
		require.Equal(t, "r-1", run.GetRunID())
	}
	require.Equal(t, "pawl/s", s.options.ID)
	require.Equal(t, "agents", s.options.TaskQueue)
	require.Equal(t, Run{Agent: "clerk", Session: "s", Key: "first", Steps: 5, Time: legTime, Grace: legGrace,
		Input: json.RawMessage(`{"Key":"first","Prompt":"Pay.","Session":"s"}`)}, s.run)
	other := first
	other.Key = "second"
	_, err := Start(t.Context(), s, "clerk", other, Options{TaskQueue: "agents"})
	require.ErrorIs(t, err, agent.ErrBusy)
	_, err = Start(t.Context(), &server{t: t, down: errors.New("no connection")}, "clerk", first,
		Options{TaskQueue: "agents"})
	require.ErrorContains(t, err, "no connection")
}

func TestStartRefusesWhatCannotBeCarried(t *testing.T) {
	change := func(f func(in *agent.Input)) agent.Input {
		in := first
		f(&in)
		return in
	}
	for name, c := range map[string]struct {
		field string
		in    agent.Input
		leg   agent.Leg
		queue string
	}{
		"no session": {field: "Input.Session", in: change(func(in *agent.Input) { in.Session = "" })},
		"no key":     {field: "Input.Key", in: change(func(in *agent.Input) { in.Key = "" })},
		"no prompt":  {field: "Input.Prompt", in: change(func(in *agent.Input) { in.Prompt = "" })},
		"a conversation": {field: "Input.History", in: change(func(in *agent.Input) {
			in.History = []provider.Message{provider.User("hello")}
		})},
		"tools": {field: "Input.Tools", in: change(func(in *agent.Input) {
			in.Tools = []tools.Tool{tools.New(tools.Spec{Name: "x"},
				func(context.Context, order) (string, error) { return "", nil })}
		})},
		"a large file": {field: "Input", in: change(func(in *agent.Input) {
			in.Parts = []provider.Part{{Kind: provider.PartMedia,
				Media: &provider.Media{Type: "image/png", Data: make([]byte, maxInput)}}}
		})},
		"invalid text": {field: "Input.Prompt", in: change(func(in *agent.Input) { in.Prompt = "a\xff" })},
		"events":       {field: "Leg.Event", in: first, leg: agent.Leg{Event: func(agent.Event) {}}},
		"no queue":     {field: "Options.TaskQueue", in: first, queue: "none"},
	} {
		o := Options{TaskQueue: "agents", Leg: c.leg}
		if c.queue != "" {
			o.TaskQueue = ""
		}
		_, err := Start(t.Context(), nil, "clerk", c.in, o)
		var wrong *agent.ArgError
		require.ErrorAs(t, err, &wrong, name)
		require.Equal(t, c.field, wrong.Field, name)
	}
	_, err := Start(t.Context(), nil, "", first, Options{TaskQueue: "agents"})
	require.ErrorContains(t, err, "Config.Name")
}

func TestStartCarriesTheFieldsOfAnInput(t *testing.T) {
	in := agent.Input{Session: "s", Key: "k", Prompt: "Look.", Mode: "fast", Model: "m",
		Only:       []string{"pay"},
		ToolChoice: provider.ToolChoice{Mode: provider.ChooseRequired}, Limits: &agent.Limits{Steps: 3},
		Interactive: true, Priority: 2, User: "ann", Owner: "team", Labels: map[string]string{"tenant": "acme"},
		Title: "A title", Supersede: true}
	in.Parts = []provider.Part{{Kind: provider.PartMedia,
		Media: &provider.Media{Type: "image/png", Data: []byte{1, 2}}}}
	s := &server{t: t}
	_, err := Start(t.Context(), s, "clerk", in, Options{TaskQueue: "agents"})
	require.NoError(t, err)
	data, err := converter.GetDefaultDataConverter().ToPayload(s.run)
	require.NoError(t, err)
	var carried Run
	require.NoError(t, converter.GetDefaultDataConverter().FromPayload(data, &carried))
	back, _, err := carry.Decode(carried.Input)
	require.NoError(t, err)
	require.Equal(t, in, back)
}

// TestDecidedMayBeRepeatedIfTheSignalFails: the decision counts once, and the workflow is woken.
func TestDecidedMayBeRepeatedIfTheSignalFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		_, a := w.worker(t, pays("transfer", 1))
		p, err := a.Advance(t.Context(), first, agent.Leg{})
		require.NoError(t, err)
		id := p.Result.Pending[0].ID
		s := &server{t: t, down: errors.New("no connection")}
		require.ErrorContains(t, Decided(t.Context(), s, a.Session("s"), agent.Approve(id)), "no connection")
		s.down = nil
		var used *agent.DecisionError
		require.ErrorAs(t, Decided(t.Context(), s, a.Session("s"), agent.Approve(id)), &used)
		require.Equal(t, machine.DecisionUsed, used.Code)
		require.Equal(t, []string{decided, decided}, s.signals)
		require.ErrorAs(t, Decided(t.Context(), s, a.Session("s"), agent.Approve("forged")), &used)
		require.Equal(t, machine.DecisionUnknown, used.Code)
		require.Len(t, s.signals, 2, "nothing was decided")

		s.down = errors.New("no connection")
		require.ErrorContains(t, Continue(t.Context(), s, "s"), "no connection")
		require.ErrorContains(t, Cancel(t.Context(), s, "s"), "no connection")
	})
}

func TestRegisterNeedsNamesAndAgents(t *testing.T) {
	a, err := agent.New(agent.Config{Name: "clerk", Provider: providertest.Script()})
	require.NoError(t, err)
	nameless, err := agent.New(agent.Config{Provider: providertest.Script()})
	require.NoError(t, err)
	for _, agents := range [][]*agent.Agent{{nameless}, {nil}, {new(agent.Agent)}, {a, a}} {
		var wrong *agent.ArgError
		require.ErrorAs(t, Register(nil, agents...), &wrong)
	}
	var suite testsuite.WorkflowTestSuite
	require.NoError(t, Register(suite.NewTestWorkflowEnvironment(), a))
}

func TestOnlyErrorsThatNeverGoAwayEndAWorkflow(t *testing.T) {
	for kind, err := range map[string]error{
		"ArgError":     fmt.Errorf("wrapped: %w", &agent.ArgError{Field: "Input.Mode"}),
		"LimitError":   &agent.LimitError{},
		"PausedError":  &agent.PausedError{},
		"ChangedError": &agent.ChangedError{},
		"SessionError": &agent.SessionError{Code: agent.ErrNotOwner},
	} {
		require.Equal(t, kind, permanent(err))
	}
	for _, err := range []error{errors.New("no connection"), context.Canceled,
		&agent.SessionError{Code: agent.ErrBusy}, &agent.SessionError{Code: agent.ErrDraining},
		&agent.SessionError{Code: agent.ErrJournal}} {
		require.Empty(t, permanent(err))
	}
}
