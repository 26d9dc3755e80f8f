package telemetry_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/telemetry"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

var update = flag.Bool("update", false, "write the golden files in testdata")

// script is a run with all kinds of spans: parallel calls, a failure, a subagent, and an approval.
func script() []providertest.Step {
	return []providertest.Step{
		providertest.WithUsage(provider.Usage{Input: 100, Output: 20, CacheRead: 60},
			providertest.Calls(providertest.CallSpec{Tool: "read", Input: page{"home"}},
				providertest.CallSpec{Tool: "read", Input: page{"gone"}})),
		providertest.Call("ask", map[string]string{"task": "Help."}),
		call("delete", "home"),
		providertest.Say("Done."),
	}
}

// recorded runs the script, with the approval in another process, and returns the facts of the
// session and of the subagent's.
func recorded(t *testing.T, r *rig) (facts []agent.Fact) {
	t.Helper()
	store := &journal.MapStore{}
	steps := script()
	res := run(t, theAgent(t, r.tel, store, steps[:3]...), agent.Input{Session: "s-1", Prompt: "Go."})
	require.Equal(t, agent.Paused, res.Status)
	a := theAgent(t, r.tel, store, steps[3:]...)
	require.Equal(t, agent.Completed, run(t, a, agent.Resume("s-1", agent.Approve(res.Pending[0].ID).By("ann"))).Status)
	facts, err := a.Session("s-1").Facts(t.Context())
	require.NoError(t, err)
	return facts
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644)) //nolint:gosec // a golden file
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

func TestSpansOfARun(t *testing.T) {
	r := newRig(t, telemetry.Config{Provider: providertest.Script()})
	recorded(t, r)
	golden(t, "run.txt", r.tree(r.ended()))
	for _, s := range r.ended() {
		require.Equal(t, r.ended()[0].SpanContext().TraceID(), s.SpanContext().TraceID(), "%s is in another trace",
			s.Name())
	}
}

// What Export makes of the facts is what the hooks have made, without the subagent, whose facts are
// those of another session.
func TestExportMakesTheSameSpans(t *testing.T) {
	live := newRig(t, telemetry.Config{Provider: providertest.Script()})
	facts := recorded(t, live)
	var own []sdktrace.ReadOnlySpan
	for _, s := range live.ended() {
		sub := false
		for _, kv := range s.Attributes() {
			sub = sub || string(kv.Key) == "gen_ai.agent.name" && kv.Value.AsString() == "helper"
		}
		if !sub {
			own = append(own, s)
		}
	}
	later := newRig(t, telemetry.Config{Provider: providertest.Script()})
	require.NoError(t, later.tel.Export(t.Context(), facts...))
	require.Equal(t, live.tree(own), later.tree(later.ended()))
	require.Equal(t, own[len(own)-1].SpanContext().TraceID(), later.ended()[0].SpanContext().TraceID())
	for _, s := range later.ended() {
		require.False(t, s.EndTime().Before(s.StartTime()))
		require.False(t, s.StartTime().Before(facts[0].Envelope().Time))
	}
}

func TestARunIsInTheTraceOfItsCallerAlsoWhenItContinues(t *testing.T) {
	r := newRig(t, telemetry.Config{})
	store := &journal.MapStore{}
	ctx, request := r.traces.Tracer("test").Start(t.Context(), "POST /chat")
	a := theAgent(t, r.tel, store, call("delete", "home"))
	res, err := a.Run(ctx, agent.Input{Session: "s-1", Prompt: "Go.", Trace: telemetry.Traceparent(ctx)})
	require.ErrorAs(t, err, new(*agent.PausedError))
	request.End()

	other := newRig(t, telemetry.Config{}) // another process, two days later
	ctx, approval := other.traces.Tracer("test").Start(t.Context(), "POST /approve")
	_, err = theAgent(t, other.tel, store, providertest.Say("Done.")).Run(ctx,
		agent.Resume("s-1", agent.Approve(res.Pending[0].ID)))
	require.NoError(t, err)
	approval.End()
	find := func(r *rig, name string) sdktrace.ReadOnlySpan {
		for _, s := range r.ended() {
			if s.Name() == name {
				return s
			}
		}
		t.Fatal(name)
		return nil
	}
	first, second := find(r, "invoke_agent cms"), find(other, "invoke_agent cms")
	require.Equal(t, request.SpanContext().SpanID(), first.Parent().SpanID())
	require.Equal(t, request.SpanContext().TraceID(), second.SpanContext().TraceID())
	require.Len(t, second.Links(), 2)
	require.Equal(t, first.SpanContext().SpanID(), second.Links()[0].SpanContext.SpanID())
	require.Equal(t, approval.SpanContext().TraceID(), second.Links()[1].SpanContext.TraceID())
	require.Empty(t, telemetry.Traceparent(context.Background()))
}

func TestNoSpanStaysOpen(t *testing.T) {
	for name, c := range map[string]struct {
		steps []providertest.Step
		drive func(t *testing.T, ctx context.Context, cancel func(), a *agent.Agent)
		want  string // of the run's span
	}{
		"break": {[]providertest.Step{call("read", "home"), providertest.Say("Done.")},
			func(t *testing.T, ctx context.Context, _ func(), a *agent.Agent) {
				for ev := range a.Stream(ctx, agent.Input{Prompt: "Go."}) {
					if _, ok := ev.(*agent.ToolStarted); ok {
						break
					}
				}
			}, "abandoned"},
		"panic": {[]providertest.Step{call("read", "home"), providertest.Say("Done.")},
			func(t *testing.T, ctx context.Context, _ func(), a *agent.Agent) {
				require.Panics(t, func() {
					for ev := range a.Stream(ctx, agent.Input{Prompt: "Go."}) {
						if _, ok := ev.(*agent.Replied); ok {
							panic("host")
						}
					}
				})
			}, "abandoned"},
		"cancel": {[]providertest.Step{providertest.Hang()},
			func(t *testing.T, ctx context.Context, cancel func(), a *agent.Agent) {
				for ev := range a.Stream(ctx, agent.Input{Prompt: "Go."}) {
					if _, ok := ev.(*agent.StepStarted); ok {
						cancel()
					}
				}
			}, "canceled"},
		"failure": {[]providertest.Step{providertest.Fail(fault.Permanent)},
			func(t *testing.T, ctx context.Context, _ func(), a *agent.Agent) {
				_, err := a.Run(ctx, agent.Input{Prompt: "Go."})
				require.Error(t, err)
			}, "provider"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, telemetry.Config{})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			c.drive(t, ctx, cancel, theAgent(t, r.tel, &journal.MapStore{}, c.steps...))
			spans := r.ended()
			last := spans[len(spans)-1]
			require.Equal(t, "invoke_agent cms", last.Name())
			require.Equal(t, c.want, last.Status().Description)
		})
	}
}

// A process that dies leaves no end of its run. Export ends what it has left, and what continues
// the run is linked to it.
func TestExportEndsWhatACrashHasLeft(t *testing.T) {
	store := &journal.MapStore{}
	a := theAgent(t, nil, store, call("read", "home"), call("read", "home"), providertest.Say("Done."))
	run(t, a, agent.Input{Session: "s-1", Prompt: "Go."})
	facts, err := a.Session("s-1").Facts(t.Context())
	require.NoError(t, err)
	for n := range facts {
		r := newRig(t, telemetry.Config{})
		require.NoError(t, r.tel.Export(t.Context(), facts[:n+1]...))
		spans := r.ended()
		if n < len(facts)-1 {
			require.Equal(t, "unfinished", spans[len(spans)-1].Status().Description)
		}
	}
	r := newRig(t, telemetry.Config{})
	require.Error(t, r.tel.Export(t.Context(), facts[3:]...))
	require.NoError(t, r.tel.Export(t.Context()))
}

func TestSpansHaveContentOnlyIfItIsWanted(t *testing.T) {
	for name, c := range map[string]struct {
		cfg  telemetry.Config
		has  []string
		lack []string
	}{
		"none": {telemetry.Config{}, nil, []string{"secret", "Go.", "Done."}},
		"redacted": {telemetry.Config{Content: telemetry.Redacted, Redact: func(s string) string {
			return strings.ReplaceAll(s, "secret", "***")
		}}, []string{"the *** of home", "Go."}, []string{"secret"}},
		"full": {telemetry.Config{Content: telemetry.Full},
			[]string{"the secret of home", "no page of that secret name",
				`{"role":"user","parts":[{"type":"text","content":"Go."}]}`, `"type":"tool_call_response"`}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, c.cfg)
			facts := recorded(t, r)
			require.NoError(t, r.tel.Export(t.Context(), facts...))
			text := r.tree(r.ended())
			for _, s := range c.has {
				require.Contains(t, text, s)
			}
			for _, s := range c.lack {
				require.NotContains(t, text, s)
			}
		})
	}
}

func TestLongContentIsCut(t *testing.T) {
	r := newRig(t, telemetry.Config{Content: telemetry.Full})
	run(t, theAgent(t, r.tel, &journal.MapStore{}, providertest.Huge(100_000)),
		agent.Input{Prompt: strings.Repeat("Ä", 50_000)})
	for _, s := range r.ended() {
		for _, kv := range s.Attributes() {
			require.LessOrEqual(t, len(kv.Value.String()), 16<<10, kv.Key)
		}
	}
}

func TestWithoutIDsTheSpansAreInATraceOfTheirOwn(t *testing.T) {
	traces := sdktrace.NewTracerProvider()
	tel, err := telemetry.New(telemetry.Config{Traces: traces})
	require.NoError(t, err)
	var seen trace.SpanContext
	a, err := agent.New(agent.Config{Provider: providertest.Script(providertest.Say("Done.")),
		Hooks: []agent.Hooks{tel.Hooks(), {
			AfterStep: func(ctx context.Context, _ *agent.Step, _ *provider.Response) error {
				seen = trace.SpanContextFromContext(ctx)
				return nil
			}}}})
	require.NoError(t, err)
	run(t, a, agent.Input{Prompt: "Go."})
	require.True(t, seen.IsValid())
}
