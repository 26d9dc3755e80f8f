package agent_test

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
)

// silent are the methods that return no error, and what they return for a nil or zero receiver is
// harmless.
var silent = map[string]bool{"Agent.Journal": true, "Agent.Tools": true, "Agent.Modes": true, "Agent.Abandoned": true,
	"Agent.Session": true, "Session.ID": true, "Agent.Name": true, "Agent.Owner": true}

// TestEveryMethodOfANilOrZeroValueReturnsATypedError finds the methods by reflection, so that a new
// one is covered.
func TestEveryMethodOfANilOrZeroValueReturnsATypedError(t *testing.T) {
	var none *agent.Agent
	for name, receiver := range map[string]any{
		"a nil Agent": none, "a zero Agent": new(agent.Agent),
		"a nil Session": (*agent.Session)(nil), "a zero Session": new(agent.Session),
		"the Session of a nil Agent": none.Session("s"), "the Session of a zero Agent": new(agent.Agent).Session("s"),
	} {
		v := reflect.ValueOf(receiver)
		for i := range v.NumMethod() {
			method := v.Type().Method(i)
			t.Run(name+"/"+method.Name, func(t *testing.T) {
				for _, ctx := range []context.Context{t.Context(), nil} {
					err, ok := callZero(t, v.Method(i), ctx)
					if silent[v.Type().Elem().Name()+"."+method.Name] {
						require.NoError(t, err)
						continue
					}
					require.True(t, ok, "the method returns no error: add it to silent if that is right")
					var wrong *agent.ArgError
					require.ErrorAs(t, err, &wrong)
					require.Contains(t, wrong.Field, "Config.")
				}
			})
		}
	}
	var receipt agent.Receipt
	_, err := receipt.Wait(t.Context())
	require.Error(t, err)
	_, err = (*agent.Receipt)(nil).Wait(t.Context())
	require.Error(t, err)
}

// callZero calls a method with zero arguments and returns its error, or that of the sequence that
// it returns, and whether it has one.
func callZero(t *testing.T, method reflect.Value, ctx context.Context) (err error, ok bool) {
	t.Helper()
	type outcome struct {
		err error
		ok  bool
	}
	done := make(chan outcome, 1)
	go func() {
		out := outcome{err: errors.New("it panicked or ended its goroutine")}
		defer func() {
			if v := recover(); v != nil {
				t.Errorf("panic: %v", v)
			}
			done <- out
		}()
		kind := method.Type()
		var args []reflect.Value
		for i := range kind.NumIn() {
			arg := reflect.New(kind.In(i)).Elem()
			switch {
			case kind.In(i) == reflect.TypeFor[context.Context]() && ctx != nil:
				arg = reflect.ValueOf(ctx)
			case i == kind.NumIn()-1 && kind.IsVariadic():
				continue
			}
			args = append(args, arg)
		}
		got := outcome{}
		for _, res := range method.Call(args) {
			switch {
			case res.Type() == reflect.TypeFor[error]():
				got.ok = true
				got.err, _ = res.Interface().(error)
			case res.Kind() == reflect.Func && res.Type().CanSeq2():
				for _, e := range res.Seq2() {
					got.ok = true
					got.err, _ = e.Interface().(error)
				}
			}
		}
		out = got
	}()
	out := <-done
	return out.err, out.ok
}
