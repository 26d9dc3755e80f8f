package agent_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

type pathKey struct{}

func path(ctx context.Context) string { p, _ := ctx.Value(pathKey{}).(string); return p }

// A recorder notes the spans that it is shown, with their places in each other.
type recorder struct {
	mu    sync.Mutex
	notes []string
}

func (r *recorder) note(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notes = append(r.notes, fmt.Sprintf(format, args...))
}

func (r *recorder) hooks() agent.Hooks {
	return agent.Hooks{
		Name: "spans", Observer: true,
		Around: func(ctx context.Context, s *agent.Span) (context.Context, func(error)) {
			name := string(s.Kind)
			if s.Kind != "run" {
				name += fmt.Sprint(s.Step)
			}
			name = strings.TrimPrefix(path(ctx)+"/"+name+s.Tool, "/")
			r.note("begin %s", name)
			return context.WithValue(ctx, pathKey{}, name), func(err error) { r.note("end %s: %v", name, err) }
		},
		BeforeStep: func(ctx context.Context, _ *agent.Step) error { r.note("step hook in %s", path(ctx)); return nil },
		AfterTool: func(ctx context.Context, _ *agent.ToolCall, _ *agent.ToolResult) error {
			r.note("tool hook in %s", path(ctx))
			return nil
		},
		AfterRun: func(ctx context.Context, _ *agent.Result) error { r.note("run hook in %s", path(ctx)); return nil },
	}
}

func TestSpansOfRunsStepsAndToolsNest(t *testing.T) {
	var r recorder
	work := tools.New(tools.Spec{Name: "work"}, func(ctx context.Context, in Number) (string, error) {
		r.note("tool in %s", path(ctx))
		if in.N == 2 {
			return "", errors.New("no luck")
		}
		return "ok", nil
	})
	script := providertest.Script(call("work", 1), call("work", 2), say("Done."))
	model := providertest.Func(func(ctx context.Context, req *provider.Request) (*provider.Response, error) {
		r.note("model in %s", path(ctx))
		return provider.Generate(ctx, script, req)
	})
	a := newAgent(t, agent.Config{Provider: model, Tools: []tools.Tool{work}, Hooks: []agent.Hooks{r.hooks()}})
	run(t, a)
	require.Equal(t, []string{
		"begin run",
		"begin run/step1", "step hook in run/step1", "model in run/step1", "end run/step1: <nil>",
		"begin run/tool1work", "tool in run/tool1work", "tool hook in run/tool1work", "end run/tool1work: <nil>",
		"begin run/step2", "step hook in run/step2", "model in run/step2", "end run/step2: <nil>",
		"begin run/tool2work", "tool in run/tool2work", "tool hook in run/tool2work", "end run/tool2work: no luck",
		"begin run/step3", "step hook in run/step3", "model in run/step3", "end run/step3: <nil>",
		"run hook in run", "end run: <nil>",
	}, r.notes)
}

func TestTheRunOfASubagentLiesInTheSpanOfItsCall(t *testing.T) {
	var r recorder
	child, _ := scripted(t, agent.Config{Name: "child", Hooks: []agent.Hooks{r.hooks()}}, say("Done."))
	parent, _ := scripted(t, agent.Config{Tools: []tools.Tool{agent.AsTool(child, tools.Spec{Description: "x"})},
		Hooks: []agent.Hooks{r.hooks()}},
		providertest.Call("child", agent.Task{Task: "do"}), say("Done."))
	run(t, parent)
	require.Contains(t, r.notes, "begin run/tool1child/run/step1")
	require.Less(t, slices.Index(r.notes, "end run/tool1child/run: <nil>"),
		slices.Index(r.notes, "end run/tool1child: <nil>"))
}

func TestEachSpanEndsOnceHoweverTheWorkEnds(t *testing.T) {
	boom := errors.New("boom")
	for name, c := range map[string]struct {
		steps []providertest.Step
		tool  func(ctx context.Context) (string, error)
		ends  string
	}{
		"a failing model": {steps: []providertest.Step{providertest.FailWith(boom)}, ends: "boom"},
		"a panic in a tool": {steps: []providertest.Step{call("work", 1), say("Done.")},
			tool: func(context.Context) (string, error) { panic("boom") }, ends: "boom"},
		"a tool that hangs": {steps: []providertest.Step{call("work", 1), say("Done.")},
			tool: func(context.Context) (string, error) {
				<-time.After(time.Hour)
				return "", nil
			}, ends: "ended as in_doubt"},
		"a tool that suspends": {steps: []providertest.Step{call("work", 1)},
			tool: func(context.Context) (string, error) {
				return "", tools.Suspend{Prompt: "?"}
			}, ends: "waits for a decision"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var r recorder
				work := tools.New(tools.Spec{Name: "work", Timeout: time.Second},
					func(ctx context.Context, in Number) (string, error) { return c.tool(ctx) })
				a, _ := scripted(t, agent.Config{Tools: []tools.Tool{work}, InDoubt: agent.TellInDoubt,
					Hooks: []agent.Hooks{r.hooks()}}, c.steps...)
				_, _ = a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
				begun, ended := 0, map[string]int{}
				for _, n := range r.notes {
					if name, ok := strings.CutPrefix(n, "end "); ok {
						name, _, _ = strings.Cut(name, ":")
						ended[name]++
						require.Equal(t, 1, ended[name], n)
					}
					if strings.HasPrefix(n, "begin ") {
						begun++
					}
				}
				require.Len(t, ended, begun, "%q", r.notes)
				require.Contains(t, strings.Join(r.notes, "\n"), c.ends)
				<-time.After(2 * time.Hour) // the abandoned call returns
			})
		})
	}
}

func TestAroundCanNeitherStopNorKeepAliveARun(t *testing.T) {
	over, cancel := context.WithCancel(context.WithValue(t.Context(), pathKey{}, "kept"))
	cancel()
	for name, around := range map[string]func(context.Context, *agent.Span) (context.Context, func(error)){
		"a context that has ended": func(context.Context, *agent.Span) (context.Context, func(error)) {
			return over, nil
		},
		"a context that never ends": func(context.Context, *agent.Span) (context.Context, func(error)) {
			return context.WithValue(context.Background(), pathKey{}, "kept"), nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var seen string
				work := tools.New(tools.Spec{Name: "work", Timeout: time.Hour},
					func(ctx context.Context, in Number) (string, error) {
						seen = path(ctx)
						if in.N == 1 {
							return "ok", ctx.Err()
						}
						<-ctx.Done()
						return "", ctx.Err()
					})
				a, _ := scripted(t, agent.Config{Limits: agent.Limits{Duration: time.Minute}, Tools: []tools.Tool{work},
					Hooks: []agent.Hooks{{Around: around}}}, call("work", 1), call("work", 2))
				res := run(t, a)
				require.Equal(t, "kept", seen)
				require.Equal(t, "ok", finished(t, a, "s")[0].Text())
				var limit *agent.LimitError
				require.ErrorAs(t, res.Err(), &limit)
				require.Equal(t, "Duration", limit.Limit)
			})
		})
	}
	t.Run("nothing, and panics", func(t *testing.T) {
		for _, around := range []func(context.Context, *agent.Span) (context.Context, func(error)){
			func(context.Context, *agent.Span) (context.Context, func(error)) { return nil, nil },
			func(context.Context, *agent.Span) (context.Context, func(error)) { panic("begin") },
			func(ctx context.Context, _ *agent.Span) (context.Context, func(error)) {
				return ctx, func(error) { panic("end") }
			},
		} {
			a, _ := scripted(t, agent.Config{Tools: []tools.Tool{new(effects).tool(tools.Spec{Name: "work"})},
				Hooks: []agent.Hooks{{Around: around}}}, call("work", 1), say("Done."))
			require.Equal(t, agent.Completed, run(t, a).Status)
		}
	})
}

func TestAValueThatIsAContextReachesTheWork(t *testing.T) {
	type key struct{}
	var got any
	var cause error
	tool := tools.New(tools.Spec{Name: "work"}, func(ctx context.Context, _ Number) (string, error) {
		got, cause = ctx.Value(key{}), context.Cause(ctx)
		return "ok", nil
	})
	a, _ := scripted(t, agent.Config{Tools: []tools.Tool{tool}, Hooks: []agent.Hooks{{
		Around: func(ctx context.Context, _ *agent.Span) (context.Context, func(error)) {
			ctx, cancel := context.WithCancel(context.WithValue(ctx, key{}, context.Background()))
			cancel()
			return ctx, nil
		}}}}, call("work", 1), say("Done."))
	require.Equal(t, agent.Completed, run(t, a).Status)
	require.NotNil(t, got)
	require.NoError(t, cause, "the end of the context that Around returns has no effect")
}
