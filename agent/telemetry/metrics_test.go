package telemetry_test

import (
	"context"
	"errors"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/telemetry"
	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/ratelimit"
	"github.com/pawlkit/pawl/ratelimit/budget"
)

func TestMetricsOfARun(t *testing.T) {
	r := newRig(t, telemetry.Config{})
	recorded(t, r)
	require.Equal(t, 2.0, r.sum("gen_ai.invoke_agent.duration", attribute.String("gen_ai.agent.name", "cms")))
	require.Equal(t, 1.0, r.sum("gen_ai.invoke_agent.duration", attribute.String("gen_ai.agent.name", "helper")))
	require.Equal(t, 4.0, r.sum("gen_ai.client.inference.duration", attribute.String("gen_ai.request.model", "m-1")))
	require.Equal(t, 150.0, r.sum("gen_ai.client.inference.usage.input_tokens",
		attribute.String("gen_ai.token.modality", "unknown")))
	require.Equal(t, 4.0, r.sum("gen_ai.client.inference.time_to_first_chunk"), "the subagent's provider isn't traced")
	require.Equal(t, 3.0, r.sum("gen_ai.execute_tool.duration", attribute.String("gen_ai.tool.name", "read")))
	require.Equal(t, 1.0, r.sum("gen_ai.execute_tool.duration", attribute.String("gen_ai.tool.name", "read"),
		attribute.String("pawl.tool.status", "failed"), attribute.String("error.type", "failed"),
		attribute.String("gen_ai.agent.name", "cms")))
	require.Equal(t, 1.0, r.sum("pawl.approval.duration", attribute.String("pawl.kind", "approval"),
		attribute.String("pawl.decision", "approve")))
	require.NotZero(t, r.sum("pawl.journal.append.duration"))
}

func TestAnAppendThatLooksIntoTheInboxHasntFailed(t *testing.T) {
	r := newRig(t, telemetry.Config{})
	store := r.tel.Store(&journal.MapStore{})
	quiet := journal.Append{Session: "s", Records: []journal.Record{{Kind: "k"}}, Quiet: true}
	require.NoError(t, store.Append(t.Context(), quiet))
	require.NoError(t, store.Post(t.Context(), "s", journal.Item{ID: "i", Kind: "k"}))
	quiet.After = 1
	quiet.Records[0].Kind = "l"
	require.ErrorIs(t, store.Append(t.Context(), quiet), journal.ErrInbox)
	require.Equal(t, 2.0, r.sum("pawl.journal.append.duration"))
	require.Zero(t, r.sum("pawl.journal.append.duration", attribute.String("error.type", "append")))
}

// How long a person takes is known also if another process has asked, or if the session was pruned
// before.
func TestHowLongAPersonTakes(t *testing.T) {
	for _, name := range []string{"the same process", "another process", "a pruned session"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, telemetry.Config{})
				store := &journal.MapStore{}
				a := theAgent(t, r.tel, store, providertest.Say("Hello."), call("delete", "home"),
					providertest.Say("Done."))
				run(t, a, agent.Input{Session: "s-1", Prompt: "Hi."})
				if name == "a pruned session" {
					_, err := a.Session("s-1").Prune(t.Context())
					require.NoError(t, err)
				}
				res := run(t, a, agent.Input{Session: "s-1", Prompt: "Go."})
				<-time.After(2 * time.Hour) // of the bubble
				if name == "another process" {
					r = newRig(t, telemetry.Config{})
					a = theAgent(t, r.tel, store, providertest.Say("Done."))
				}
				run(t, a, agent.Resume("s-1", agent.Reject(res.Pending[0].ID, "no")))
				require.Equal(t, 1.0, r.sum("pawl.approval.duration", attribute.String("pawl.decision", "reject")))
				require.Equal(t, 7200.0, r.total("pawl.approval.duration"))
			})
		})
	}
}

func TestEventsOfGatesBudgetsAndBreakersAreCounted(t *testing.T) {
	r := newRig(t, telemetry.Config{})
	passed := 0
	r.tel.GateEvents(func(ratelimit.Event) { passed++ })(ratelimit.Event{Kind: ratelimit.EventPaused, Gate: "g"})
	r.tel.BudgetEvents(func(budget.Event) { passed++ })(budget.Event{Kind: budget.EventWarned})
	r.tel.BreakerChanges(func(circuit.Change) {
		passed++
	})(circuit.Change{Name: "b", From: circuit.Closed, To: circuit.Open})
	r.tel.GateEvents(nil)(ratelimit.Event{})
	r.tel.BudgetEvents(nil)(budget.Event{})
	r.tel.BreakerChanges(nil)(circuit.Change{})
	require.Equal(t, 3, passed)
	require.Equal(t, 1.0,
		r.sum("pawl.gate.events", attribute.String("pawl.kind", "paused"), attribute.String("pawl.name", "g")))
	require.Equal(t, 2.0, r.sum("pawl.budget.events"))
	require.Equal(t, 1.0,
		r.sum("pawl.breaker.changes", attribute.String("pawl.name", "b"), attribute.String("pawl.to", "open")))
}

// A model call outside of a run has a span of its own.
func TestACallOfTheHostHasASpan(t *testing.T) {
	for name, c := range map[string]struct {
		step   providertest.Step
		cancel bool
		status string
	}{
		"completed": {step: providertest.Say("A title")},
		"failed":    {step: providertest.Fail(fault.RateLimited), status: "rate_limited"},
		"left":      {step: providertest.Say("A title"), cancel: true, status: "canceled"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, telemetry.Config{})
			p := r.tel.Provider(providertest.Script(c.step))
			for range p.Stream(t.Context(),
				&provider.Request{Model: "m-1", Labels: provider.Labels{Kind: "title", Session: "s-1"}}) {
				if c.cancel {
					break
				}
			}
			require.Len(t, r.ended(), 1)
			span := r.ended()[0]
			require.Equal(t, "chat m-1", span.Name())
			require.Equal(t, c.status, span.Status().Description)
			require.Contains(t, span.Attributes(), attribute.String("pawl.kind", "title"))
			if c.status == "" {
				require.Contains(t, span.Attributes(),
					attribute.StringSlice("gen_ai.response.finish_reasons", []string{"stop"}))
				require.Equal(t, 2.0, r.sum("gen_ai.client.inference.usage.output_tokens"))
			}
		})
	}
}

func TestATracedProviderPassesOnWhatItWraps(t *testing.T) {
	r := newRig(t, telemetry.Config{})
	_, err := provider.Generate(t.Context(), r.tel.Provider(nil), &provider.Request{})
	require.ErrorIs(t, err, provider.ErrNilProvider)
	info, ok := provider.Info(r.tel.Provider(informed{})) // it also names the provider in spans
	require.True(t, ok)
	require.Equal(t, "gemini", info.Provider)
	_, err = provider.Generate(t.Context(), r.tel.Provider(informed{}), &provider.Request{})
	require.ErrorIs(t, err, errInformed)
	require.Contains(t, r.ended()[0].Attributes(), attribute.String("gen_ai.provider.name", "gcp.gemini"))
	require.Equal(t, "chat m-7", r.ended()[0].Name())
}

type informed struct{}

var errInformed = errors.New("no")

func (informed) Info() provider.ModelInfo { return provider.ModelInfo{Provider: "gemini", ID: "m-7"} }

func (informed) Stream(context.Context, *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) { yield(provider.Chunk{}, errInformed) }
}

func TestANilTelemetryDoesNothing(t *testing.T) {
	var off *telemetry.Telemetry
	p, s := providertest.Script(), &journal.MapStore{}
	require.Same(t, p, off.Provider(p))
	require.Same(t, s, off.Store(s))
	require.Equal(t, agent.Hooks{}, off.Hooks())
	require.Nil(t, off.GateEvents(nil))
	require.Nil(t, off.BudgetEvents(nil))
	require.Nil(t, off.BreakerChanges(nil))
	require.NoError(t, off.Export(t.Context()))
	unregister, err := off.Gauges(telemetry.Observed{Store: s})
	require.NoError(t, err)
	require.NoError(t, unregister())
}

func TestAWrongConfigIsRefused(t *testing.T) {
	for field, cfg := range map[string]telemetry.Config{"Content": {Content: 7},
		"Redact": {Content: telemetry.Redacted}} {
		_, err := telemetry.New(cfg)
		var wrong *agent.ArgError
		require.ErrorAs(t, err, &wrong)
		require.Equal(t, "Config."+field, wrong.Field)
		require.Equal(t, fault.Permanent, fault.Of(err))
	}
	tel, err := telemetry.New(telemetry.Config{})
	require.NoError(t, err)
	require.NotNil(t, tel)
}

func TestARunThatIsNotSampledHasNoAttributes(t *testing.T) {
	r := newRig(t, telemetry.Config{Content: telemetry.Full})
	traces := sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.NeverSample()),
		sdktrace.WithSpanProcessor(r.spans))
	tel, err := telemetry.New(telemetry.Config{Traces: traces, Content: telemetry.Full})
	require.NoError(t, err)
	run(t, theAgent(t, tel, &journal.MapStore{}, providertest.Say("Done.")), agent.Input{Prompt: "Go."})
	require.Empty(t, r.ended())
}
