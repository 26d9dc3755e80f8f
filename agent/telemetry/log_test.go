package telemetry_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/telemetry"
	"github.com/pawlkit/pawl/provider/providertest"
)

func TestOneLineForEachStepAndEachCall(t *testing.T) {
	var out bytes.Buffer
	r := newRig(t, telemetry.Config{Logger: slog.New(slog.NewJSONHandler(&out, nil))})
	recorded(t, r)
	lines := map[string]int{}
	for dec := json.NewDecoder(&out); dec.More(); {
		var line map[string]any
		require.NoError(t, dec.Decode(&line))
		lines[line["msg"].(string)]++
		require.NotContains(t, line, "secret")
		require.Len(t, line["trace_id"], 32)
		if line["tool"] == "read" && line["status"] == "failed" {
			require.Equal(t, "WARN", line["level"])
		}
	}
	require.Equal(t, map[string]int{"agent: step": 6, "agent: call": 5}, lines)
	require.NotContains(t, out.String(), "secret")
}

// Without a tracer there is no trace to look for.
func TestALineWithoutATraceHasNoIDs(t *testing.T) {
	var out bytes.Buffer
	tel, err := telemetry.New(telemetry.Config{Traces: noop.NewTracerProvider(),
		Logger: slog.New(slog.NewJSONHandler(&out, nil))})
	require.NoError(t, err)
	run(t, theAgent(t, tel, &journal.MapStore{}, providertest.Say("Done.")), agent.Input{Prompt: "Go."})
	require.Contains(t, out.String(), "agent: step")
	require.NotContains(t, out.String(), "trace_id")
	require.NotContains(t, out.String(), "span_id")
}
