package agent_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/tools"
)

// refusals try work with each function that takes some.
var refusals = map[string]func(t *testing.T, a *agent.Agent, w agent.Work) error{
	"Run": func(t *testing.T, a *agent.Agent, w agent.Work) error {
		_, err := a.Run(t.Context(), w)
		return err
	},
	"Stream": func(t *testing.T, a *agent.Agent, w agent.Work) error {
		all, err := events(a.Stream(t.Context(), w))
		require.Empty(t, all)
		return err
	},
	"RunFor": func(t *testing.T, a *agent.Agent, w agent.Work) error {
		_, _, err := agent.RunFor[Number](t.Context(), a, w)
		return err
	},
	"Advance": func(t *testing.T, a *agent.Agent, w agent.Work) error {
		_, err := a.Advance(t.Context(), w, agent.Leg{})
		return err
	},
	"Enqueue": func(t *testing.T, a *agent.Agent, w agent.Work) error {
		return a.Enqueue(t.Context(), w, agent.QueueOptions{})
	},
}

// embedding has the methods of a pointer, which is nil.
type embedding struct{ *agent.Input }

func TestNoWorkIsRefused(t *testing.T) {
	a, _ := scripted(t, agent.Config{})
	for name, try := range refusals {
		for _, w := range []agent.Work{nil, (*agent.Input)(nil), (*agent.Resumption)(nil), &agent.HostCall{},
			&agent.Input{Session: "s", Prompt: "go"}, embedding{}} {
			err := try(t, a, w)
			var wrong *agent.ArgError
			require.ErrorAs(t, err, &wrong, "%s %T", name, w)
			require.Equal(t, "Work", wrong.Field)
			require.ErrorContains(t, try(t, nil, w), "make one with New", "%s %T", name, w)
		}
	}
}

func TestWorkThatAFunctionDoesntTakeIsRefused(t *testing.T) {
	a, _ := scripted(t, agent.Config{Tools: []tools.Tool{new(effects).tool(tools.Spec{Name: "work"})}})
	for name, w := range map[string]agent.Work{"RunFor": agent.CallTool("s", "work", Number{1}),
		"Enqueue": agent.Continue("s")} {
		err := refusals[name](t, a, w)
		var wrong *agent.ArgError
		require.ErrorAs(t, err, &wrong)
		require.Equal(t, []string{name, "Work"}, []string{wrong.Func, wrong.Field})
	}
	require.Empty(t, facts(t, a, "s"))
}

// A panicking value can't be encoded.
type panicking struct{}

func (panicking) MarshalJSON() ([]byte, error) { panic("no JSON") }

func TestAnInputOfACallThatPanicsIsRefused(t *testing.T) {
	a, _ := scripted(t, agent.Config{Tools: []tools.Tool{new(effects).tool(tools.Spec{Name: "work"})}})
	for name, try := range refusals {
		if name == "RunFor" {
			continue // it takes no call
		}
		err := try(t, a, agent.HostCall{Session: "s", Tool: "work", Key: "k", Input: panicking{}})
		var wrong *agent.ArgError
		require.ErrorAs(t, err, &wrong, name)
		require.Equal(t, "HostCall.Input", wrong.Field)
		require.ErrorContains(t, err, "no JSON")
	}
}

// TestAnErrorNamesTheTypeOfTheWork although the fields of all are checked by the same code.
func TestAnErrorNamesTheTypeOfTheWork(t *testing.T) {
	a, _ := scripted(t, agent.Config{Tools: []tools.Tool{new(effects).tool(tools.Spec{Name: "work"})}})
	for field, w := range map[string]agent.Work{
		"Input.User":         agent.Input{Session: "s", Prompt: "go", User: "a\n"},
		"HostCall.User":      agent.HostCall{Session: "s", Tool: "work", User: "a\n"},
		"HostCall.CallKey":   agent.HostCall{Session: "s", Tool: "work", CallKey: "a\n"},
		"HostCall.Input":     agent.HostCall{Session: "s", Tool: "work", Input: make(chan int)},
		"HostCall.Tool":      agent.HostCall{Session: "s", Tool: "none"},
		"HostCall.Mode":      agent.HostCall{Session: "s", Tool: "work", Mode: "none"},
		"HostCall.Session":   agent.HostCall{Session: "a\n", Tool: "work"},
		"Resumption.Session": agent.Resumption{},
		"Input.Key":          agent.Input{Prompt: "go", Key: "k"},
		"HostCall.Key":       agent.HostCall{Tool: "work", Key: "k"},
		"HostCall.Parent":    agent.HostCall{Session: "s", Tool: "work", Parent: "s"},
		"HostCall.Labels":    agent.HostCall{Session: "s", Tool: "work", Labels: map[string]string{"": "x"}},
		"HostCall.Title":     agent.HostCall{Session: "s", Tool: "work", Title: "a\n"},
		"HostCall.Outside":   agent.HostCall{Session: "s", Tool: "work", Outside: []string{""}},
		"HostCall.Replaces":  agent.HostCall{Session: "s", Tool: "work", Replaces: 7},
		"HostCall.Trace":     agent.HostCall{Session: "s", Tool: "work", Trace: "x"},
		"Input.Replaces":     agent.Input{Session: "s", Prompt: "go", Replaces: 7},
	} {
		_, err := a.Run(t.Context(), w)
		var wrong *agent.ArgError
		require.ErrorAs(t, err, &wrong, field)
		require.Equal(t, field, wrong.Field)
	}
}

// TestAHostCallHasTheFieldsOfAnInputThatMeanSomethingForACall also if an input gets another one.
func TestAHostCallHasTheFieldsOfAnInputThatMeanSomethingForACall(t *testing.T) {
	notOfCalls := map[string]string{"Prompt": "asks a model", "Parts": "belong to the prompt",
		"ToolChoice": "is a choice of a model", "Only": "limits a model"}
	call, in := reflect.TypeFor[agent.HostCall](), reflect.TypeFor[agent.Input]()
	for i := range in.NumField() {
		f := in.Field(i)
		own, ok := call.FieldByName(f.Name)
		require.NotEqual(t, ok, notOfCalls[f.Name] != "", f.Name)
		require.True(t, !ok || own.Type == f.Type, f.Name)
	}
	require.Equal(t, in.NumField()-len(notOfCalls)+len([]string{"Tool", "Input", "CallKey"}), call.NumField())
}

// TestEachFieldOfAHostCallIsStored compares what a call stores with and without the field.
func TestEachFieldOfAHostCallIsStored(t *testing.T) {
	none := map[string]string{"Session": "names the log", "Tool": "is the call", "Input": "is the call",
		"Supersede": "is about the run before", "Replaces": "is about the runs before"}
	stored := func(in agent.HostCall) (settings string) {
		var done effects
		a, _ := scripted(t, agent.Config{Journal: &journal.MapStore{},
			Modes: []agent.Mode{{Name: "first"}, {Name: "other"}},
			Tools: []tools.Tool{done.tool(tools.Spec{Name: "work"})}})
		in.Session, in.Tool, in.Input = "s", "work", Number{1}
		runInput(t, a, in)
		return storedSettings(t, a, "s", 0)
	}
	without := stored(agent.HostCall{})
	require.Equal(t, without, stored(agent.HostCall{}))
	values := reflect.ValueOf(eachField)
	calls := reflect.TypeFor[agent.HostCall]()
	for i := range calls.NumField() {
		name := calls.Field(i).Name
		if none[name] != "" {
			continue
		}
		var in agent.HostCall
		if name == "CallKey" {
			in.CallKey = "k"
		} else {
			reflect.ValueOf(&in).Elem().Field(i).Set(values.FieldByName(name))
		}
		require.NotEqual(t, without, stored(in), "%s isn't stored", name)
	}
}
