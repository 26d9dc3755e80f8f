package plan

import (
	"context"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// TestACallOfANodeHasTheFieldsOfItsInput sets each field of an input that a call has, too.
func TestACallOfANodeHasTheFieldsOfItsInput(t *testing.T) {
	inputs := reflect.TypeFor[agent.Input]()
	for i := range inputs.NumField() {
		name := inputs.Field(i).Name
		if _, ok := reflect.TypeFor[agent.HostCall]().FieldByName(name); !ok {
			continue
		}
		var in agent.Input
		field := reflect.ValueOf(&in).Elem().Field(i)
		switch field.Kind() {
		case reflect.String:
			field.SetString("x")
		case reflect.Bool:
			field.SetBool(true)
		case reflect.Int:
			field.SetInt(1)
		case reflect.Uint64:
			field.SetUint(1)
		case reflect.Slice:
			field.Set(reflect.MakeSlice(field.Type(), 1, 1))
		case reflect.Map:
			field.Set(reflect.MakeMap(field.Type()))
		default:
			field.Set(reflect.New(field.Type().Elem()))
		}
		call := hostCall(&in)
		require.Equal(t, field.Interface(), reflect.ValueOf(call).FieldByName(name).Interface(), name)
	}
}

// TestANodeGoesOnAfterItsToolHasChanged: an older version of the program has begun the node, and it
// waits for an approval.
func TestANodeGoesOnAfterItsToolHasChanged(t *testing.T) {
	var s shop
	store := &journal.MapStore{}
	ask := func(context.Context, *tools.Definition, *tools.Call) tools.Verdict {
		return tools.Verdict{Effect: tools.Ask, Reason: "it is Friday"}
	}
	build := func(tool tools.Tool) *agent.Agent {
		a, err := agent.New(agent.Config{Name: "shop", Provider: providertest.Script(), Policies: []tools.Policy{ask},
			Tools: []tools.Tool{tool}, Journal: store})
		require.NoError(t, err)
		return a
	}
	old := s.runner(t, Config{Agent: build(tools.New(tools.Spec{Name: "make"}, s.make))})
	events, err := run(old, plan("A", made("a")))
	require.NoError(t, err)
	require.True(t, isPaused(events))

	type changed struct {
		Name  string `json:"name"`
		Color string `json:"color,omitempty"`
	}
	tool := tools.New(tools.Spec{Name: "make"}, func(ctx context.Context, in changed) (string, error) {
		return s.make(ctx, item{Name: in.Name})
	})
	r := s.runner(t, Config{Agent: build(tool), AcceptChanges: true})
	decide(t, r, agent.Approve)
	events, err = run(r)
	require.NoError(t, err)
	require.Equal(t, Completed, last(events).(*Ended).Status)
	require.Equal(t, []string{"a"}, s.all())
}
