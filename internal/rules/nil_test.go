package rules

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/approvals"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/serve/page"
	"github.com/pawlkit/pawl/agent/stop"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// TestNilValuesDontPanic calls what a host may call with a nil value: all methods of pointers that
// are nil after an error, and functions of a context, a store or a state.
func TestNilValuesDontPanic(t *testing.T) {
	for _, receiver := range []any{
		(*agent.Agent)(nil), (*agent.Session)(nil), (*agent.Result)(nil), (*live.Hub)(nil), (*page.View)(nil),
		(*tools.Registry)(nil), new(tools.Registry), (*memory.Report)(nil), (*stop.State)(nil),
		(*provider.Response)(nil), (*provider.Message)(nil), (*provider.Request)(nil), provider.Func(nil),
	} {
		v := reflect.ValueOf(receiver)
		require.Positive(t, v.NumMethod())
		for i := range v.NumMethod() {
			require.NotPanics(t, func() { callWithZeros(v.Method(i)) }, "%T.%s", receiver, v.Type().Method(i).Name)
		}
	}
	for name, f := range map[string]any{
		"approvals.List": approvals.List, "approvals.Find": approvals.Find,
		"tools.CallOf": tools.CallOf, "tools.IdempotencyKey": tools.IdempotencyKey, "tools.Fence": tools.Fence,
		"tools.Resumed": tools.Resumed, "tools.Progress": tools.Progress, "tools.ListingOf": tools.ListingOf,
		"stop.AfterSteps": stop.AfterSteps(1),
		"stop.AfterTool":  stop.AfterTool("a"), "stop.WhenText": stop.WhenText(nil), "stop.AnyOf": stop.AnyOf(nil, nil),
		"tools.Not": tools.Not(nil),
	} {
		require.NotPanics(t, func() { callWithZeros(reflect.ValueOf(f)) }, name)
	}
}

// callWithZeros calls a function with arguments that are zero, and ranges over a sequence that it
// returns.
func callWithZeros(f reflect.Value) {
	var args []reflect.Value
	for i := range f.Type().NumIn() {
		arg := reflect.New(f.Type().In(i)).Elem()
		if i == f.Type().NumIn()-1 && f.Type().IsVariadic() {
			continue
		}
		args = append(args, arg)
	}
	for _, out := range f.Call(args) {
		if out.Kind() == reflect.Func && !out.IsNil() && out.Type().CanSeq2() {
			for range out.Seq2() {
				break
			}
		}
	}
}
