package agent_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"iter"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// An album keeps what was shown, with what it looked like then.
type album struct {
	mu     sync.Mutex
	things []any
	looks  []string
}

func (a *album) keep(thing any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.things = append(a.things, thing)
	a.looks = append(a.looks, look(thing))
}

// look returns all that can be reached from v, as text.
func look(v any) string {
	var b strings.Builder
	lookAt(&b, reflect.ValueOf(v))
	return b.String()
}

func lookAt(b *strings.Builder, v reflect.Value) {
	switch k := v.Kind(); {
	case k == reflect.Invalid, k == reflect.Func, k == reflect.Chan:
	case v.Type() == reflect.TypeFor[*time.Location](), v.Type() == reflect.TypeFor[*tools.Definition]():
	case k == reflect.Pointer, k == reflect.Interface:
		lookAt(b, v.Elem())
	case k == reflect.Struct:
		b.WriteString(v.Type().Name() + "{")
		for i := range v.NumField() {
			lookAt(b, v.Field(i))
			b.WriteByte(',')
		}
		b.WriteByte('}')
	case k == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8:
		fmt.Fprintf(b, "%q", v.Bytes())
	case k == reflect.Slice, k == reflect.Array:
		fmt.Fprintf(b, "%d[", v.Len())
		for i := range v.Len() {
			lookAt(b, v.Index(i))
			b.WriteByte(',')
		}
		b.WriteByte(']')
	default:
		fmt.Fprintf(b, "%v", v)
	}
}

var keptSteps = flag.Int("kept-steps", 25, "how many model calls TestWhatARunHasShownNeverChanges makes")

// A chatter is a model that makes calls of all kinds in each step, and says it in pieces of all
// lengths. It keeps its requests.
type chatter struct {
	album *album
	asked int
}

func (c *chatter) Stream(_ context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
	c.asked++
	n := c.asked
	if n%10 == 0 { // it holds the whole conversation
		c.album.keep(req)
	}
	return func(yield func(provider.Chunk, error) bool) {
		say := func(chunks ...provider.Chunk) bool {
			for _, chunk := range chunks {
				if !yield(chunk, nil) {
					return false
				}
			}
			return true
		}
		if n%9 == 4 && !say(provider.Start("m"), provider.Text("void"), provider.Text("void"),
			provider.ToolStart(0, "v", "add"), provider.ToolDelta(0, `{"n`)) {
			return
		}
		if n%9 == 4 { // the guard makes the call again
			yield(provider.Chunk{}, fault.New(fault.Transient, "broken"))
			return
		}
		if !say(provider.Start("m"), provider.Reasoning("well "), provider.Reasoning(fmt.Sprint(n))) {
			return
		}
		for i := range n % 12 {
			if !say(provider.Text(strings.Repeat(string(rune('a'+(n+i)%26)), (i*i)%300))) {
				return
			}
		}
		use := provider.Usage{Input: int64(n), Output: 1}
		if strings.Contains(req.LastUserText(), "stop") || n > *keptSteps {
			say(provider.Text("done"), provider.End(provider.StopDone, use))
			return
		}
		names := [][]string{{"add"}, {"add", "add", "read"}, {"read", "read", "read", "read", "add"},
			{"nonsense", "add"}, {"ask", "read", "late"}, {"read", "suspend"}}[n%6]
		for i, name := range names {
			if !say(provider.ToolStart(i, "same", name), provider.ToolDelta(i, `{"n"`),
				provider.ToolDelta(i, fmt.Sprintf(`:%d`, n)), provider.ToolDelta(i, `}`),
				provider.AttachTo(i, provider.Opaque{Provider: "p", Data: fmt.Sprint(n, i)}), provider.ToolEnd(i)) {
				return
			}
		}
		say(provider.End(provider.StopToolCalls, use))
	}
}

// TestWhatARunHasShownNeverChanges: events, requests, what hooks were given, results and states
// that were asked for, over steps whose calls are answered at once, beside each other, after a
// decision, or never.
func TestWhatARunHasShownNeverChanges(t *testing.T) {
	for name, hooked := range map[string]bool{"with hooks": true, "without": false} {
		for where, store := range stores {
			t.Run(name+" "+where, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { keepAll(t, hooked, store()) })
			})
		}
	}
}

func keepAll(t *testing.T, hooked bool, store journal.Store) {
	var kept album
	var e effects
	late := tools.New(tools.Spec{Name: "late", Timeout: time.Second, Idempotent: true},
		func(_ context.Context, in Number) (tools.Result, error) {
			<-time.After(30 * time.Second) // it is abandoned, and comes back in the middle of a later step
			return tools.Result{}, &tools.Suspend{Kind: "late", Prompt: "too late"}
		})
	suspend := tools.New(tools.Spec{Name: "suspend"}, func(context.Context, Number) (string, error) {
		return "", &tools.Suspend{Kind: "question", Prompt: "how much?"}
	})
	read := tools.New(tools.Spec{Name: "read", ReadOnly: true},
		func(_ context.Context, in Number) (map[string]any, error) {
			<-time.After(3 * time.Second)
			return map[string]any{"n": in.N, "text": strings.Repeat("r", in.N)}, nil
		})
	cfg := agent.Config{
		Journal: store, Provider: &chatter{album: &kept},
		Limits: agent.Limits{Steps: -1, Duration: -1},
		Tools: []tools.Tool{e.tool(tools.Spec{Name: "add"}), e.tool(tools.Spec{Name: "ask", Risk: tools.High}), read,
			suspend, late},
	}
	if hooked {
		cfg.Hooks = []agent.Hooks{{
			Name: "album",
			AfterStep: func(_ context.Context, s *agent.Step, r *provider.Response) error {
				if s.N%10 == 0 {
					kept.keep(s)
				}
				kept.keep(r)
				return nil
			},
			BeforeTool:   func(_ context.Context, c *agent.ToolCall) error { kept.keep(c); return nil },
			BeforeFinish: func(_ context.Context, r *agent.Result) error { kept.keep(r); return nil },
			AfterRun:     func(_ context.Context, r *agent.Result) error { kept.keep(r); return nil },
		}}
	}
	a := newAgent(t, cfg)
	var in agent.Work = agent.Input{Session: "s", Prompt: "go"}
	var facts []agent.Fact
	var encoded []string
	for {
		var res *agent.Result
		for ev, err := range a.Stream(t.Context(), in) {
			require.NoError(t, err)
			kept.keep(ev)
			if f, ok := ev.(agent.Fact); ok {
				rec, err := machine.Encode(f)
				require.NoError(t, err)
				facts, encoded = append(facts, f), append(encoded, string(rec.Data))
			}
			if end, ok := ev.(*agent.RunEnded); ok {
				res = end.Result
			}
			if step, ok := ev.(*agent.StepStarted); ok && step.Step%7 == 0 {
				_, err := a.Session("s").Steer(t.Context(), "go on")
				require.NoError(t, err)
			}
		}
		kept.keep(res)
		if res.Status == agent.Completed {
			break
		}
		require.Equal(t, agent.Paused, res.Status, res.Reason)
		pending, err := a.Session("s").Pending(t.Context())
		require.NoError(t, err)
		kept.keep(pending)
		var decisions []agent.Decision
		for i, p := range pending {
			if p.Kind == agent.PauseApproval && i%2 == 0 {
				decisions = append(decisions, agent.Approve(p.ID))
			} else if p.Kind == agent.PauseApproval {
				decisions = append(decisions, agent.Edit(p.ID, json.RawMessage(`{"n":7}`)))
			} else {
				decisions = append(decisions, agent.Answer(p.ID, "much"))
			}
		}
		in = agent.Resume("s", decisions...)
	}
	<-time.After(time.Minute) // what was left behind comes back
	synctest.Wait()
	require.Greater(t, len(kept.things), 20**keptSteps)
	for i, thing := range kept.things {
		if now := look(thing); now != kept.looks[i] {
			t.Fatalf("thing %d, a %T, has changed:\nfrom %s\nto   %s", i, thing, kept.looks[i], now)
		}
	}
	again, err := a.Session("s").Facts(t.Context())
	require.NoError(t, err)
	require.Len(t, again, len(facts))
	for i, f := range again {
		rec, err := machine.Encode(f)
		require.NoError(t, err)
		require.Equal(t, encoded[i], string(rec.Data))
	}
	requireSound(t, "s", again)
}
