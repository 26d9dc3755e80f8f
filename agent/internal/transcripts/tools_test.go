package transcripts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
)

// A toolSpec is a line of the command tools.
type toolSpec struct {
	name  string
	attrs map[string]string
	calls atomic.Int32 // how often it ran, in all processes
}

func parseTool(text string) (*toolSpec, error) {
	fields := strings.Fields(text)
	t := &toolSpec{name: fields[0], attrs: map[string]string{}}
	for _, f := range fields[1:] {
		key, value, _ := strings.Cut(f, "=")
		if !strings.Contains(" "+attributes+" ", " "+key+" ") {
			return nil, fmt.Errorf("a tool has no attribute %q, but: %s", key, attributes)
		}
		t.attrs[key] = value
	}
	return t, nil
}

const attributes = "agent allow-always asks broken denied-by-check expires fails high-risk idempotent modes of " +
	"panics parallel preview question readonly requires scoped size stuck switches-to takes text undo unverified"

func (t *toolSpec) has(attr string) bool {
	_, ok := t.attrs[attr]
	return ok
}

func (t *toolSpec) duration(attr string) time.Duration {
	d, _ := time.ParseDuration(t.attrs[attr])
	return d
}

const (
	numberSchema = `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],` +
		`"additionalProperties":false}`
	textSchema = `{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],` +
		`"additionalProperties":false}`
	answerSchema = `{"type":"string","enum":["red","blue"]}`
)

// tool returns the tool as a process has it.
func (t *toolSpec) tool(p *process) tools.Tool {
	spec := tools.Spec{
		Name: t.name, Description: "Works.", Schema: json.RawMessage(numberSchema),
		ReadOnly: t.has("readonly"), Idempotent: t.has("idempotent"), ParallelSafe: t.has("parallel"),
		AllowAlways: t.has("allow-always"), Expires: t.duration("expires"),
	}
	if t.has("text") {
		spec.Schema = json.RawMessage(textSchema)
	}
	if t.has("high-risk") {
		spec.Risk = tools.High
	}
	if t.has("asks") {
		spec.Approval = tools.AskAlways
	}
	if t.has("modes") {
		spec.Modes = strings.Split(t.attrs["modes"], ",")
	}
	if t.has("requires") {
		spec.Requires = strings.Split(t.attrs["requires"], ",")
	}
	raw := tools.Raw{Spec: spec, Run: func(ctx context.Context, input json.RawMessage) (tools.Result, error) {
		return t.run(ctx, p, input)
	}}
	if t.has("undo") {
		raw.Undo = func(_ context.Context, input, _ json.RawMessage) error {
			p.print("", "undo %s %s", t.name, input)
			if p.at("during undo " + t.name) {
				return errDead
			}
			return nil
		}
	}
	if t.has("denied-by-check") {
		raw.Check = func(context.Context, json.RawMessage) error { return errors.New("it is locked") }
	}
	if t.has("unverified") {
		raw.Verify = func(context.Context, json.RawMessage, tools.Result) error {
			return tools.Mismatch{Expected: "published", Actual: "draft"}
		}
	}
	if t.has("preview") { // of something that changes with each day
		raw.Preview = func(context.Context, json.RawMessage) (string, error) {
			return fmt.Sprintf("-day %d\n+done\n", time.Now().YearDay()), nil
		}
	}
	if t.has("scoped") {
		raw.Scope = func(input json.RawMessage) string { return string(input) }
	}
	return raw
}

// run is what the tool does.
func (t *toolSpec) run(ctx context.Context, p *process, input json.RawMessage) (tools.Result, error) {
	if p.isDead() {
		return tools.Result{}, errDead
	}
	key := ""
	if t.has("idempotent") {
		key = ", key " + tools.IdempotencyKey(ctx)
	}
	calls := int(t.calls.Add(1))
	if r, ok := tools.Resumed(ctx); ok {
		p.print("", "tool %s %s runs again with %s", t.name, input, r.Answer)
		return tools.Text("it is " + string(r.Answer)), nil
	}
	p.print("", "tool %s %s runs%s", t.name, input, key)
	if p.at("during tool " + t.name) {
		return tools.Result{}, errDead
	}
	if d := t.duration("stuck"); d > 0 {
		time.Sleep(d) // whatever becomes of ctx
	}
	if d := t.duration("takes"); d > 0 {
		select {
		case <-time.After(d):
		case <-ctx.Done():
			p.print("", "tool %s %s is canceled", t.name, input)
			return tools.Result{}, ctx.Err()
		}
		p.print("", "tool %s %s ends", t.name, input)
	}
	switch {
	case t.has("panics"):
		panic("a mistake")
	case t.has("question"):
		return tools.Result{}, tools.Suspend{Kind: "question", Prompt: "which one?",
			Schema: json.RawMessage(answerSchema), Again: t.attrs["question"] == "again"}
	case t.has("fails"):
		if n, err := strconv.Atoi(t.attrs["fails"]); err != nil || calls <= n {
			return tools.Result{}, errors.New("no such page")
		}
	case t.has("broken"):
		if n, err := strconv.Atoi(t.attrs["broken"]); err != nil || calls <= n {
			return tools.Result{}, fault.New(fault.Transient, "the connection was lost")
		}
	case t.has("switches-to"):
		if err := agent.SwitchMode(ctx, t.attrs["switches-to"], "the tool says so"); err != nil {
			return tools.Result{}, err
		}
	case t.has("size"):
		n, _ := strconv.Atoi(t.attrs["size"])
		return tools.Text("page " + string(input) + strings.Repeat(" word", n)), nil
	}
	return tools.Text("done"), nil
}
