package compat

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A stage is how far a session has come when it is written.
type stage struct {
	name    string // the session
	replies []providertest.Step
	hooked  bool
	leave   func(p *process) // brings a new session there
	goOn    func(p *process) // what another process does then
	effects []string         // what both have done in the end
}

// step is a reply with text and calls.
func step(calls ...providertest.CallSpec) providertest.Step {
	return providertest.Reply(providertest.Say("I call a tool: "+odd+"\xff"), providertest.Calls(calls...))
}

// oneCall is a stage whose model calls a tool once.
func oneCall(name, tool string, leave, goOn func(p *process), effects ...string) stage {
	return stage{name: name, replies: []providertest.Step{step(call(tool, name))}, leave: leave, goOn: goOn,
		effects: effects}
}

func gives(value any) func(id string) agent.Decision {
	return func(id string) agent.Decision { return agent.Answer(id, value) }
}

var stages = append([]stage{
	oneCall("approval", "drop", func(p *process) { p.pauses(agent.PauseApproval) }, func(p *process) {
		require.Contains(p.t, p.open().Title, "Drop <b>&amp;</b> ")
		p.approved()
	}, "drop approval"),
	oneCall("rejection", "drop", func(p *process) { p.pauses(agent.PauseApproval) }, func(p *process) {
		p.decided(func(id string) agent.Decision { return agent.Reject(id, odd) })
	}),
	oneCall("edit", "drop", func(p *process) { p.pauses(agent.PauseApproval) }, func(p *process) {
		p.decided(func(id string) agent.Decision { return agent.Edit(id, input("edited")) })
	}, "drop edited"),
	oneCall("posted decision", "drop", func(p *process) {
		p.pauses(agent.PauseApproval)
		require.NoError(p.t, p.agent.Session(p.name).Decide(p.t.Context(), agent.Edit(p.open().ID, input("edited"))))
	}, (*process).continued, "drop edited"),
	{name: "standing approval", replies: []providertest.Step{step(call("always", "first")),
		providertest.Say("Done: " + odd), step(call("always", "second"))}, leave: func(p *process) {
		p.pauses(agent.PauseApproval)
		p.decided(agent.AllowAlways)
	}, goOn: (*process).asked, effects: []string{"always first", "always second"}},
	oneCall("steering", "repeat", func(p *process) {
		p.inTool = func() {
			_, err := p.agent.Session(p.name).Steer(p.t.Context(), "Also this: "+odd)
			require.NoError(p.t, err)
			p.kill()
		}
		_, err := p.says()
		require.Error(p.t, err)
	}, func(p *process) {
		p.continued()
		p.heard("Also this: " + odd)
	}, "repeat steering"),
	oneCall("question", "question", func(p *process) { p.pauses("question") }, func(p *process) {
		p.decided(gives(answer))
	}),
	oneCall("question that runs again", "again", func(p *process) { p.pauses("question") }, func(p *process) {
		p.decided(gives(answer))
	}, "again question that runs again"),
	oneCall("front end", "front", func(p *process) { p.pauses(tools.SuspendExternal) }, func(p *process) {
		p.decided(gives(answer))
	}),
	{name: "correction", replies: []providertest.Step{step(call("strict", "wrong")), step(call("strict", "wrong"))},
		leave: func(p *process) { p.pauses(agent.PauseCorrection) }, goOn: func(p *process) {
			right := append(json.RawMessage(`{"step":1,`), input("correction")[1:]...)
			p.decided(func(id string) agent.Decision { return agent.Edit(id, right) })
		}, effects: []string{"strict correction"}},
	oneCall("in a tool call", "hang", killedInTool, func(p *process) {
		_, err := p.agent.Run(p.t.Context(), agent.Continue(p.name))
		require.ErrorAs(p.t, err, new(*agent.PausedError))
		require.Equal(p.t, agent.PauseInDoubt, p.open().Kind)
		p.approved()
	}, "hang in a tool call"),
	oneCall("call in doubt", "hang", func(p *process) {
		killedInTool(p)
		p.dead, p.inTool = false, nil
		p.start()
		_, err := p.agent.Run(p.t.Context(), agent.Continue(p.name))
		require.ErrorAs(p.t, err, new(*agent.PausedError))
	}, func(p *process) {
		require.Equal(p.t, agent.PauseInDoubt, p.open().Kind)
		p.decided(gives("it has happened: " + odd))
	}),
	oneCall("in a call that may be repeated", "repeat", killedInTool, (*process).continued,
		"repeat in a call that may be repeated"),
	{name: "in a model call", leave: func(p *process) {
		p.inModel = p.kill
		_, err := p.says()
		require.Error(p.t, err)
	}, goOn: (*process).continued},
	{name: "between steps", replies: []providertest.Step{step(call("save", "between"))}, hooked: true,
		leave: func(p *process) {
			p.betweenSteps = p.kill
			_, err := p.says()
			require.Error(p.t, err)
		}, goOn: (*process).continued, effects: []string{"save between"}},
	oneCall("host pause", "hang", func(p *process) {
		p.inTool = func() { require.NoError(p.t, p.agent.Session(p.name).Pause(p.t.Context())) }
		_, err := p.says()
		require.ErrorAs(p.t, err, new(*agent.PausedError))
	}, (*process).continued, "hang host pause"),
	oneCall("leg", "save", func(p *process) {
		to, err := p.agent.Advance(p.t.Context(), agent.Input{Session: p.name, Key: "1", Prompt: odd},
			agent.Leg{Steps: 1})
		require.NoError(p.t, err)
		require.Equal(p.t, agent.NextAgain, to.Next)
	}, (*process).continued, "save leg"),
	oneCall("queued", "save", func(p *process) {
		require.NoError(p.t, p.agent.Enqueue(p.t.Context(), agent.Input{Session: p.name, Prompt: odd},
			agent.QueueOptions{}))
	}, (*process).continued, "save queued"),
	{name: "subagent", replies: []providertest.Step{
		step(providertest.CallSpec{Tool: "help", Input: agent.Task{Task: odd}})},
		leave: func(p *process) { p.pauses(agent.PauseApproval) }, goOn: (*process).approved,
		effects: []string{"drop subagent-helper"}},
	oneCall("stopped", "hang", stopped, func(p *process) {
		p.ended(agent.Stopped, string(machine.CodeHost))
		p.asked()
	}, "hang stopped"),
	{name: "stopped, and an approval after it", replies: []providertest.Step{step(call("hang", "stopped")),
		step(call("drop", "after it"))}, leave: func(p *process) {
		stopped(p)
		p.inTool = nil
		p.pauses(agent.PauseApproval)
	}, goOn: (*process).approved, effects: []string{"hang stopped", "drop after it"}},
	oneCall("context ended", "hang", func(p *process) {
		ctx, cancel := context.WithCancel(p.t.Context())
		p.inTool = cancel
		_, err := p.agent.Run(ctx, agent.Input{Session: p.name, Prompt: odd})
		require.Error(p.t, err)
	}, (*process).asked),
	oneCall("canceled", "hang", canceled, func(p *process) {
		p.ended(agent.Stopped, string(machine.CodeCanceled))
		p.asked()
	}),
	oneCall("canceled while it waited", "drop", func(p *process) {
		p.pauses(agent.PauseApproval)
		require.NoError(p.t, p.agent.Session(p.name).Cancel(p.t.Context()))
	}, (*process).asked),
	{name: "canceled, and an approval after it", replies: []providertest.Step{step(call("hang", "canceled")),
		step(call("drop", "after it"))}, leave: func(p *process) {
		canceled(p)
		p.inTool = nil
		p.pauses(agent.PauseApproval)
	}, goOn: (*process).approved, effects: []string{"drop after it"}},
	{name: "superseded", replies: []providertest.Step{step(call("drop", "superseded"))}, leave: func(p *process) {
		p.pauses(agent.PauseApproval)
		p.completed(p.run(agent.Input{Prompt: "Rather this.", Supersede: true}))
	}, goOn: (*process).asked},
	{name: "superseded by what waits", replies: []providertest.Step{step(call("drop", "superseded")),
		step(call("drop", "newer"))}, leave: func(p *process) {
		p.pauses(agent.PauseApproval)
		_, err := p.run(agent.Input{Prompt: "Rather this.", Supersede: true})
		require.ErrorAs(p.t, err, new(*agent.PausedError))
	}, goOn: (*process).approved, effects: []string{"drop newer"}},
	{name: "replaced", replies: []providertest.Step{step(call("drop", "replaced"))}, leave: func(p *process) {
		p.pauses(agent.PauseApproval)
		res, err := p.agent.Session(p.name).Result(p.t.Context())
		require.NoError(p.t, err)
		_, err = p.run(agent.Input{Prompt: "Rather this.", Replaces: res.Start})
		require.ErrorAs(p.t, err, new(*agent.PausedError))
	}, goOn: (*process).approved, effects: []string{"drop replaced"}},
	oneCall("failed", "save", failed, (*process).asked, "save failed"),
	oneCall("failed, and an approval after it", "drop", func(p *process) {
		failed(p)
		p.refuse = false
		p.pauses(agent.PauseApproval)
	}, (*process).approved, "drop failed, and an approval after it"),
	{name: "limited", replies: manyCalls, leave: limited, goOn: func(p *process) {
		p.ended(agent.Stopped, string(machine.CodeLimit))
		p.asked()
	}, effects: manySaves},
	{name: "limited, and an approval after it", replies: append(manyCalls[:len(manyCalls):len(manyCalls)],
		step(call("drop", "after it"))), leave: func(p *process) {
		limited(p)
		p.pauses(agent.PauseApproval)
	}, goOn: (*process).approved, effects: append(manySaves[:len(manySaves):len(manySaves)], "drop after it")},
}, slices.Concat(limitStages, planStages)...)

var (
	manyCalls = []providertest.Step{step(call("save", "1")), step(call("save", "2")), step(call("save", "3")),
		step(call("save", "4")), step(call("save", "5"))}
	manySaves = []string{"save 1", "save 2", "save 3", "save 4"}
)

func killedInTool(p *process) {
	p.inTool = p.kill
	_, err := p.says()
	require.Error(p.t, err)
}

func stopped(p *process) {
	p.inTool = func() { require.NoError(p.t, p.agent.Session(p.name).Stop(p.t.Context())) }
	_, err := p.says()
	require.ErrorAs(p.t, err, new(*agent.StopError))
}

func canceled(p *process) {
	p.inTool = func() { require.NoError(p.t, p.agent.Session(p.name).Cancel(p.t.Context())) }
	_, err := p.says()
	require.ErrorAs(p.t, err, new(*agent.StopError))
}

func failed(p *process) {
	p.refuse = true
	res, err := p.says()
	require.Error(p.t, err)
	require.Equal(p.t, agent.Failed, res.Status)
}

func limited(p *process) {
	_, err := p.says()
	require.ErrorAs(p.t, err, new(*agent.LimitError))
}

// heard requires that the model was shown a text.
func (p *process) heard(text string) {
	p.t.Helper()
	msgs, err := p.agent.Session(p.name).Messages(p.t.Context())
	require.NoError(p.t, err)
	all := ""
	for i := range msgs {
		all += msgs[i].Text()
	}
	require.Contains(p.t, all, text)
}
