package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
)

// helper is the tool that is an agent.
const helper = "helper"

// calledTools are the tools that the model calls, those that matter more than once.
var calledTools = []string{"look", "look", "mark", "mark", "mark", "pay", "pay", "pay", "pay", "pay", "send", "send",
	"send", "send", "wire", "wire", "ask", "job", "slow", "slow", "long", "long", "deaf", "flaky", "flaky", "fails",
	"sum", "pick", "load", "item1", helper, helper, helper}

// onceTools are the tools whose effect mustn't happen twice.
var onceTools = map[string]bool{"pay": true, "send": true, "wire": true, "ask": true, "long": true, "deaf": true,
	"item0": true, "item1": true, "item2": true}

// text is the schema of an answer.
var text = json.RawMessage(`{"type":"string"}`)

// tools returns the tools of the process.
func (p *process) tools() []tools.Tool {
	act := func(ctx context.Context, in order) (string, error) { return p.work(ctx, in.N, nil) }
	undo := func(ctx context.Context, _ order, _ string) error { return p.undo(ctx) }
	return []tools.Tool{
		tools.New(tools.Spec{Name: "look", ReadOnly: true}, func(ctx context.Context, in order) (string, error) {
			return "seen", p.pass(ctx, in.N)
		}),
		tools.New(tools.Spec{Name: "mark", Idempotent: true, ParallelSafe: true}, act),
		tools.Func[order, string]{Spec: tools.Spec{Name: "pay", ParallelSafe: true}, Run: act, Undo: undo},
		tools.Func[order, string]{Spec: tools.Spec{Name: "send"}, Run: act, Verify: p.verify},
		tools.Func[order, string]{Spec: tools.Spec{Name: "wire", Risk: tools.High, AllowAlways: true,
			Expires: 50 * time.Second}, Run: act, Undo: undo},
		tools.New(tools.Spec{Name: "ask"}, p.ask),
		tools.New(tools.Spec{Name: "job"}, func(ctx context.Context, in order) (string, error) {
			if err := p.pass(ctx, in.N); err != nil {
				return "", err
			}
			return "", tools.Suspend{Kind: "job", Prompt: "it takes a while", Schema: text}
		}),
		tools.New(tools.Spec{Name: "slow", Idempotent: true, Timeout: 2 * time.Second}, act),
		tools.New(tools.Spec{Name: "long"}, func(ctx context.Context, in order) (string, error) {
			most := 2 * lease
			return p.work(ctx, in.N, &most)
		}),
		tools.New(tools.Spec{Name: "deaf", Timeout: 2 * time.Second},
			func(ctx context.Context, in order) (string, error) {
				// it ignores the end of its context, for longer than anybody waits for it
				most := 12 * time.Second
				return p.work(context.WithoutCancel(ctx), in.N, &most)
			}),
		tools.New(tools.Spec{Name: "flaky", Idempotent: true, ParallelSafe: true}, p.flaky),
		tools.New(tools.Spec{Name: "fails"}, func(ctx context.Context, in order) (string, error) {
			if err := p.pass(ctx, in.N); err != nil || in.N%2 == 0 {
				return "", errors.Join(err, fmt.Errorf("%d can't be done", in.N))
			}
			if in.N%3 == 0 {
				runtime.Goexit()
			}
			panic("a tool")
		}),
		tools.New(tools.Spec{Name: "sum", Inline: true}, func(_ context.Context, in order) (int, error) {
			return in.N + in.N, nil
		}),
		tools.New(tools.Spec{Name: "load", Idempotent: true}, p.load),
	}
}

// external is a tool that somebody else executes.
var external = tools.External(tools.Spec{Name: "pick", Output: text,
	Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)})

// pass lets the time of a call pass.
func (p *process) pass(ctx context.Context, n int) error {
	most := 800 * time.Millisecond
	if n%4 == 0 {
		most = 5 * time.Second
	}
	key, i := p.count("call %d", n)
	return p.wait(ctx, 1+p.within(most, p.name, key, i))
}

// work has an effect in the middle of a call.
func (p *process) work(ctx context.Context, n int, most *time.Duration) (string, error) {
	p.fly(n, 1)
	defer p.fly(n, -1)
	if err := p.pass(ctx, n); err != nil {
		return "", err
	}
	if most != nil {
		key, i := p.count("call %d", n)
		if err := p.wait(ctx, p.within(*most, p.name, key, i)); err != nil {
			return "", err
		}
	}
	c, _ := tools.CallOf(ctx)
	if !p.act(ctx, p, n, onceTools[c.Name]) {
		return "", fault.New(fault.Permanent, "the fence is stale")
	}
	p.sprung(afterEffect)
	key, i := p.count("call %d", n)
	_ = p.wait(ctx, 1+p.within(200*time.Millisecond, p.name, key, i))
	return fmt.Sprint("done ", n), nil
}

// verify looks for the effect of a call.
func (p *process) verify(ctx context.Context, in order, _ string) error {
	if done, _ := p.acted(in.N); !done {
		return tools.Mismatch{Expected: "done", Actual: "not done"}
	}
	return nil
}

// undo reverts the effect of a call.
func (p *process) undo(ctx context.Context) error {
	if err := p.pass(ctx, 1); err != nil {
		return err
	}
	key := tools.IdempotencyKey(ctx)
	p.world.mu.Lock()
	defer p.world.mu.Unlock()
	if len(p.effects[key]) == 0 {
		p.failLocked("an effect is undone that never was: %s", key)
	}
	for i := range p.effects[key] {
		p.effects[key][i].undone = true
	}
	p.note("%s: undid %s", p.name, key)
	return nil
}

// ask asks a question, and acts when it is answered.
func (p *process) ask(ctx context.Context, in order) (string, error) {
	key := tools.IdempotencyKey(ctx)
	r, again := tools.Resumed(ctx)
	if !again {
		if err := p.pass(ctx, in.N); err != nil {
			return "", err
		}
		return "", tools.Suspend{Kind: "question", Prompt: "how many?", Schema: text, Again: true, State: key}
	}
	var was, answer string
	if err := r.Decode(&was, &answer); err != nil || was != key || answer == "" {
		p.fail("ask(%d) runs again with the state %s and the answer %s: %v", in.N, r.State, r.Answer, err)
	}
	return p.work(ctx, in.N, nil)
}

// flaky fails now and then.
func (p *process) flaky(ctx context.Context, in order) (string, error) {
	key, i := p.count("flaky %d", in.N)
	if p.draw(p.name, key, i)%2 == 0 {
		return "", fault.New(fault.Transient, "try again")
	}
	return p.work(ctx, in.N, nil)
}
