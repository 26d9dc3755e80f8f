package tools_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// define compiles one tool.
func define(t testing.TB, tool tools.Tool) *tools.Definition {
	t.Helper()
	return registry(t, tool).All()[0]
}

func registry(t testing.TB, list ...tools.Tool) *tools.Registry {
	t.Helper()
	reg, err := tools.NewRegistry(list...)
	require.NoError(t, err)
	return reg
}

// raw returns a tool that takes anything and runs fn.
func raw(spec tools.Spec, fn func(ctx context.Context) (tools.Result, error)) tools.Raw {
	if spec.Name == "" {
		spec.Name = "t"
	}
	return tools.Raw{Spec: spec, Run: func(ctx context.Context, _ json.RawMessage) (tools.Result, error) {
		return fn(ctx)
	}}
}

// approve admits a call of a tool, as one that was approved before.
func approve(t testing.TB, d *tools.Definition, c *tools.Call) *tools.Call {
	t.Helper()
	c.Name = d.Name()
	require.Nil(t, registry(t, d).Readmit(c))
	return c
}

// execute runs a tool once with the input {}.
func execute(t testing.TB, ctx context.Context, tool tools.Tool) tools.Outcome {
	t.Helper()
	d := define(t, tool)
	return tools.Execute(ctx, d, approve(t, d, &tools.Call{Name: d.Name(), Input: json.RawMessage(`{}`)}), nil)
}

func text(parts []provider.Part) string {
	r := provider.ToolResult{Parts: parts}
	return r.Text()
}
