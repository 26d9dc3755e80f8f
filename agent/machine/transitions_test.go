package machine_test

import (
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// TestTransitionsAreAsDocumented checks each cell of the table in doc.go: it applies every kind of
// fact, in every form that might be accepted, to machines in every stage.
func TestTransitionsAreAsDocumented(t *testing.T) {
	table := readTable(t)
	require.Len(t, table, len(machine.FactTypes))
	machines := machinesByStage(t)
	for stage, some := range machines {
		got := make(map[string]map[string]bool) // outcomes by fact
		for _, m := range some {
			require.Equal(t, stage, stageOf(m))
			for _, f := range candidates(t, m, machines) {
				next := m.Clone()
				if next.Apply(f) != nil {
					continue
				}
				name := reflect.TypeOf(f).Elem().Name()
				if got[name] == nil {
					got[name] = make(map[string]bool)
				}
				got[name][outcome(m, next)] = true
			}
		}
		for name, row := range table {
			want := make(map[string]bool)
			switch cell := row[stage]; cell {
			case "":
				require.Fail(t, "no such column", stage)
			case "-":
			case "starts":
				want["ready"], want["acting"], want["paused"] = true, true, true
			case "any":
				for other := range machines {
					if other != noRun {
						want[other] = true
					}
				}
			default:
				for outcome := range strings.SplitSeq(cell, "/") {
					want[outcome] = true
				}
			}
			require.Equal(t, slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got[name])), "%s in stage %s",
				name, stage)
		}
	}
}

const noRun = "no run"

// stageOf returns the column of a machine.
func stageOf(m *machine.Machine) string {
	r := m.State().Run
	switch {
	case r == nil:
		return noRun
	case !r.IsOpen():
		return "ended"
	case r.Status == machine.Paused:
		return "paused"
	}
	return string(r.Stage)
}

// outcome returns what the table says about a transition.
func outcome(before, after *machine.Machine) string {
	from, to := stageOf(before), stageOf(after)
	switch {
	case from == to:
		return "="
	case from == "paused" && to == string(before.State().Run.Stage):
		return "back"
	}
	return to
}

// readTable returns the table in doc.go: its cells by fact and stage.
func readTable(t *testing.T) map[string]map[string]string {
	t.Helper()
	src, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	_, text, found := strings.Cut(string(src), "//\tfact  ")
	require.True(t, found)
	text, _, _ = strings.Cut(text, "\n//\n")
	head, body, _ := strings.Cut(text, "\n")
	stages := strings.Fields(strings.Replace(head, noRun, "no_run", 1))
	stages[0] = noRun
	table := make(map[string]map[string]string)
	for line := range strings.Lines(body) {
		cells := strings.Fields(strings.TrimPrefix(line, "//\t"))
		require.Len(t, cells, len(stages)+1, line)
		row := make(map[string]string)
		for i, stage := range stages {
			row[stage] = cells[i+1]
		}
		table[cells[0]] = row
	}
	return table
}

// A builder makes a machine by facts that must all be accepted.
type builder struct {
	t   *testing.T
	m   *machine.Machine
	run string
}

func (b *builder) meta(step int, call string) machine.Meta {
	return machine.Meta{Origin: &machine.Origin{Session: "s-1", Run: b.run}, Seq: b.m.State().Seq + 1, Step: step,
		Call: call}
}

func (b *builder) add(facts ...machine.Fact) *builder {
	b.t.Helper()
	for _, f := range facts {
		meta := f.Envelope()
		require.NoError(b.t, b.m.Apply(machine.Stamp(f, b.meta(meta.Step, meta.Call))))
	}
	return b
}

func (b *builder) call(i int) *provider.ToolCall {
	return &provider.ToolCall{ID: machine.CallID(b.run, 1, i), Name: "look", Input: json.RawMessage(`{}`)}
}

func step(n int) machine.Meta { return machine.Meta{Step: n} }

func start() machine.Fact {
	return &machine.RunStarted{Message: provider.User("go"), Limits: new(machine.DefaultLimits())}
}

func replyWith(stop provider.StopReason, calls ...*provider.ToolCall) machine.Fact {
	msg := message(provider.RoleAssistant, provider.TextPart("hm"))
	for _, c := range calls {
		msg.Parts = append(msg.Parts, provider.Part{Kind: provider.PartToolCall, Call: c})
	}
	return &machine.Replied{Meta: step(1), Message: msg, Stop: stop}
}

func startCall(c *provider.ToolCall) machine.Fact {
	return &machine.ToolStarted{Meta: machine.Meta{Call: c.ID}, Call: c, Repeatable: true}
}

func finishCall(c *provider.ToolCall, status tools.Status) machine.Fact {
	res := &machine.ToolResult{Status: status, ToolResult: provider.ToolResult{CallID: c.ID, Name: c.Name}}
	return &machine.ToolFinished{Meta: machine.Meta{Call: c.ID}, Call: c, Result: res}
}

func suspendCall(c *provider.ToolCall) machine.Fact {
	return &machine.Suspended{Meta: machine.Meta{Call: c.ID},
		Pause: machine.Pause{ID: "p-" + c.ID, Kind: machine.PauseApproval, Call: *c}}
}

func pauseRun() machine.Fact { return &machine.RunEnded{Status: machine.Paused} }

// queued starts a run that waits for a worker.
func queued() machine.Fact {
	f := start().(*machine.RunStarted)
	f.Queue = &machine.Queue{Attempts: 2}
	return f
}

// inRun returns a session with a queued run that has ended, a standing approval, and another queued
// run of which nothing but the start has happened.
func inRun(t *testing.T) *builder {
	b := &builder{t: t, m: machine.New("s-1"), run: "r-1"}
	c := b.call(0)
	b.add(queued(), &machine.Continued{}, &machine.StepStarted{Meta: step(1)},
		replyWith(provider.StopToolCalls, c), suspendCall(c),
		&machine.Decided{Decision: machine.AllowAlways("p-" + c.ID)}, startCall(c), finishCall(c, tools.OK),
		&machine.RunEnded{Status: machine.Stopped})
	b.run = "r-2"
	return b.add(queued(), &machine.Continued{})
}

// machinesByStage returns machines in each stage, in all conditions that matter for which facts may
// follow.
func machinesByStage(t *testing.T) map[string][]*machine.Machine {
	ready := func() *builder { return inRun(t) }
	calling := func() *builder { return ready().add(&machine.StepStarted{Meta: step(1)}) }
	acting := func() *builder {
		b := calling()
		return b.add(replyWith(provider.StopToolCalls, b.call(0), b.call(1)))
	}
	suspended := func() *builder {
		b := acting()
		return b.add(suspendCall(b.call(0)), startCall(b.call(1)))
	}
	oneLeft := func() *builder {
		b := acting()
		return b.add(startCall(b.call(0)), startCall(b.call(1)), finishCall(b.call(0), tools.OK))
	}
	replied := func() *builder { return calling().add(replyWith(provider.StopDone)) }
	cut := func() *builder { return calling().add(replyWith(provider.StopPaused)) }
	failed := func() *builder { return calling().add(&machine.StepFailed{Meta: step(1)}) }

	out := map[string][]*machine.Machine{noRun: {machine.New("s-1")}}
	for _, make := range []func() *builder{ready, calling, acting, suspended, oneLeft, replied, cut, failed} {
		m := make().m
		out[stageOf(m)] = append(out[stageOf(m)], m)
		out["paused"] = append(out["paused"], make().add(pauseRun()).m)
		if m.State().Run.Stage != machine.StageActing {
			out["ended"] = append(out["ended"], make().add(&machine.RunEnded{Status: machine.Failed}).m,
				make().add(&machine.RunEnded{Status: machine.Stopped, Code: machine.CodeContextReset}).m)
		}
	}
	return out
}

// candidates returns facts of all kinds, in the forms that m might accept.
func candidates(t *testing.T, m *machine.Machine, machines map[string][]*machine.Machine) []machine.Fact {
	r := m.State().Run
	b := &builder{t: t, m: m, run: "r-9"}
	last := 0
	if r != nil {
		b.run, last = r.ID, r.Step
	}
	var facts []machine.Fact
	try := func(f machine.Fact) {
		meta := f.Envelope()
		facts = append(facts, machine.Stamp(f, b.meta(meta.Step, meta.Call)))
	}
	for n := last; n <= last+1; n++ {
		try(&machine.StepStarted{Meta: step(n)})
		try(&machine.StepFailed{Meta: step(n)})
	}
	try(replyWith(provider.StopDone))
	for i := range 2 {
		c := b.call(i)
		try(replyWith(provider.StopToolCalls, c))
		try(startCall(c))
		for _, status := range []tools.Status{tools.OK, tools.NotRun, tools.Answered} {
			try(finishCall(c, status))
		}
		try(suspendCall(c))
		if now := r.Call(c.ID); now != nil && now.Status == machine.CallSuspended {
			try(&machine.Suspended{Meta: machine.Meta{Call: c.ID}, Pause: now.Reopened("s-1", "why")})
		}
		for _, d := range []machine.Decision{machine.Approve("p-" + c.ID), machine.Reject("p-"+c.ID, "no")} {
			try(&machine.Decided{Meta: machine.Meta{Call: c.ID}, Decision: d})
		}
		try(&machine.Undone{Calls: []machine.UndoneCall{{Call: c}}})
	}
	try(&machine.Compacted{Report: &memory.Report{}})
	try(&machine.NoteWritten{Category: "a", Index: 1})
	try(&machine.Steered{Message: provider.User("hi")})
	try(&machine.SentBack{Why: machine.SendBackHook, Text: "more"})
	try(&machine.ModeChanged{To: "a"})
	try(&machine.PhaseChanged{To: "a"})
	try(&machine.ContextResetRequested{})
	try(&machine.ToolsChanged{Tools: []machine.ToolFingerprint{{Name: "look"}}})
	try(&machine.Continued{})
	try(&machine.RuleRevoked{Tool: "look"})
	try(&machine.TitleChanged{Title: "a title"})
	try(&machine.LabelChanged{Key: "a", Value: "b"})
	try(&machine.Emitted{Kind: "price", Value: json.RawMessage(`1`)})
	for _, status := range []machine.Status{machine.Paused, machine.Completed, machine.Stopped, machine.Failed} {
		try(&machine.RunEnded{Status: status})
		try(&machine.RunEnded{Status: status, Code: machine.CodeQueued})
	}
	try(&machine.Delivered{Ended: "r-1"})
	for _, some := range machines {
		for _, other := range some {
			if other.State().Run != nil {
				b.run = other.State().Run.ID
				try(&machine.Snapshot{State: other.State()})
			}
		}
	}
	b.run = "r-9"
	try(start())
	try(queued())
	direct := start().(*machine.RunStarted)
	direct.Call = &provider.ToolCall{ID: machine.CallID("r-9", 0, 0), Name: "look"}
	try(direct)
	return facts
}
