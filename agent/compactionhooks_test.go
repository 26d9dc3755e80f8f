package agent_test

import (
	"context"
	"errors"
	"os"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// TestEachHookPointIsInTheTable of anycall_test.go, and in that of docs/hooks.md.
func TestEachHookPointIsInTheTable(t *testing.T) {
	page, err := os.ReadFile("../docs/hooks.md")
	require.NoError(t, err)
	hooks := reflect.TypeFor[agent.Hooks]()
	for i := range hooks.NumField() {
		if f := hooks.Field(i); f.IsExported() && f.Type.Kind() == reflect.Func {
			require.Contains(t, hookPoints, f.Name, "the table of anycall_test.go, which tries each with each error")
			require.Regexp(t, "(?m)^\\|[^|]*`"+f.Name+"`[^|]*\\|", string(page), "the table of docs/hooks.md")
		}
	}
}

func goesOn(t *testing.T, a *agent.Agent) error {
	_, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go on"})
	return err
}

// compactions are the ways in which the conversation of a session is compacted: how hooks see it,
// the share of the window that the conversation takes, and how it is done.
var compactions = map[string]struct {
	trigger string
	window  int
	limit   int // of the provider, which refuses more
	do      func(t *testing.T, a *agent.Agent) error
}{
	"a threshold": {trigger: "share 0.70", window: 7_000, do: goesOn},
	"a refusal":   {trigger: "too long", window: 100_000, limit: 4_000, do: goesOn},
	"by hand": {trigger: "by hand", window: 100_000, do: func(t *testing.T, a *agent.Agent) error {
		_, err := a.Session("s").Compact(t.Context(), 0)
		return err
	}},
}

// TestHooksAroundCompactions tries each way with everything that a hook can do: hooks after it are
// always called, and what a hook refuses isn't taken.
func TestHooksAroundCompactions(t *testing.T) {
	for way := range compactions {
		for _, point := range []string{"BeforeCompaction", "AfterCompaction"} {
			for deed := range deeds {
				if deed != "it changes" && deed != "it hangs" { // until the end of the run's context
					t.Run(way+", "+point+", "+deed, func(t *testing.T) { hooksAround(t, way, point, deed, false) })
					t.Run(way+", "+point+", an observer, "+deed,
						func(t *testing.T) { hooksAround(t, way, point, deed, true) })
				}
			}
		}
	}
}

func hooksAround(t *testing.T, way, point, deed string, observer bool) {
	c := compactions[way]
	memoryOf := func(window int) *agent.Memory {
		return &agent.Memory{Config: memory.Config{Window: memory.Window{Size: window, Reserve: window / 10},
			Steps: []memory.Step{{Strategy: memory.Slide{}}}}}
	}
	cfg := agent.Config{Journal: &journal.MapStore{}, Tools: []tools.Tool{reading(400)}, Memory: memoryOf(100_000),
		Limits: agent.Limits{Steps: 50}}
	a, _ := scripted(t, cfg, reads(12)...)
	run(t, a)
	was := len(facts(t, a, "s"))

	before, seen := 0, []agent.Compaction(nil)
	counts := agent.Hooks{
		BeforeCompaction: func(context.Context, *agent.Compaction) error { before++; return nil },
		AfterCompaction: func(_ context.Context, c *agent.Compaction) error {
			seen = append(seen, *c)
			return nil
		}}
	tried := hookPoints[point].hooks(func(ctx context.Context, _ any) error { return deeds[deed](ctx) })
	tried.Name, tried.Observer = "tried", observer
	cfg.Hooks, cfg.Memory = []agent.Hooks{counts, tried}, memoryOf(c.window)
	model := providertest.Script(say("Done."), say("Done."), say("Done."))
	if cfg.Provider = model; c.limit > 0 {
		cfg.Provider = &strict{Provider: model, limit: c.limit, chars: 3}
	}
	a = newAgent(t, cfg)
	err := c.do(t, a)

	require.Equal(t, before, len(seen))
	require.Len(t, seen, 1)
	require.Equal(t, c.trigger, seen[0].Trigger)
	require.Equal(t, "s", seen[0].Session)
	taken := slices.ContainsFunc(facts(t, a, "s")[was:], func(f agent.Fact) bool {
		compacted, ok := f.(*machine.Compacted)
		return ok && len(compacted.Spans) > 0
	})
	res, resErr := a.Session("s").Result(t.Context())
	require.NoError(t, resErr)
	if err != nil && way != "by hand" {
		require.Equal(t, machine.CodeAborted, res.Code)
	}
	var hook *agent.HookError
	switch refuses := !observer && deed != "nothing" && deed != "it warns"; {
	case !refuses:
		require.NoError(t, err)
		require.True(t, taken)
		require.NotNil(t, seen[0].Report)
	case errors.As(err, &hook):
		require.Equal(t, point, hook.Point)
		require.False(t, taken)
	default:
		require.ErrorAs(t, err, new(*agent.AbortError))
		require.False(t, taken)
	}

	cfg.Hooks = nil
	a = newAgent(t, cfg)
	require.NoError(t, goesOn(t, a), "the session goes on")
}

// TestEachCompactionIsShownToHooks, and nothing else: also where the provider counts the request,
// and where results are large together and not each.
func TestEachCompactionIsShownToHooks(t *testing.T) {
	var shown []agent.Compaction
	var spans []any
	type key struct{}
	hooks := agent.Hooks{
		Around: func(ctx context.Context, s *agent.Span) (context.Context, func(error)) {
			return context.WithValue(ctx, key{}, s.Kind), nil
		},
		BeforeCompaction: func(ctx context.Context, _ *agent.Compaction) error {
			spans = append(spans, ctx.Value(key{}))
			return nil
		},
		AfterCompaction: func(_ context.Context, c *agent.Compaction) error {
			shown = append(shown, *c)
			return nil
		}}
	small := small(memory.Step{Strategy: memory.Slide{}})
	wide := &agent.Memory{Config: memory.Config{Window: memory.Window{Size: 20_000, Reserve: 1_000},
		Rules: []memory.Rule{}}}
	for name, c := range map[string]struct {
		model provider.Provider
		cfg   agent.Config
		some  bool
	}{
		"a provider that counts": {&counting{Model: providertest.Script(reads(11)...)},
			agent.Config{Memory: small, Tools: []tools.Tool{reading(600)}}, true},
		"many results at once": {providertest.Script(calls("read", 1, 2, 3), call("read", 4), call("read", 5),
			say("done")), agent.Config{Memory: wide, Tools: []tools.Tool{reading(2_000)}}, false},
		"no compaction": {providertest.Script(reads(3)...),
			agent.Config{Memory: small, Tools: []tools.Tool{reading(100)}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			shown, spans = nil, nil
			c.cfg.Provider, c.cfg.Hooks, c.cfg.Limits = c.model, []agent.Hooks{hooks}, agent.Limits{Steps: 50}
			a := newAgent(t, c.cfg)
			all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
			require.NoError(t, err)
			compacted := of[*machine.Compacted](all)
			require.Len(t, shown, len(compacted))
			require.Equal(t, c.some, len(shown) > 0)
			for i := range shown {
				require.Equal(t, compacted[i].Report.Trigger, shown[i].Trigger)
				require.Equal(t, "step", spans[i])
			}
		})
	}
}
