package machine_test

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// A driver asks what has to happen, does it, and reports the outcome. Here everything that happens
// is scripted: the model calls one tool, reads its result, and answers.
func Example() {
	call := &provider.ToolCall{ID: machine.CallID("r-1", 1, 0), Name: "weather",
		Input: json.RawMessage(`{"city":"Bonn"}`)}
	result := provider.ToolResult{CallID: call.ID, Name: call.Name, Parts: []provider.Part{provider.TextPart("sunny")}}
	limits := machine.DefaultLimits()
	script := []machine.Fact{
		&machine.RunStarted{Message: provider.User("How is the weather in Bonn?"), Limits: &limits},
		&machine.StepStarted{Meta: machine.Meta{Step: 1}},
		&machine.Replied{Meta: machine.Meta{Step: 1}, Stop: provider.StopToolCalls,
			Message: provider.Message{Role: provider.RoleAssistant,
				Parts: []provider.Part{{Kind: provider.PartToolCall, Call: call}}}},
		&machine.ToolStarted{Meta: machine.Meta{Step: 1, Call: call.ID}, Call: call, IdempotencyKey: call.ID},
		&machine.ToolFinished{Meta: machine.Meta{Step: 1, Call: call.ID}, Call: call,
			Result: &machine.ToolResult{ToolResult: result, Status: tools.OK}},
		&machine.StepStarted{Meta: machine.Meta{Step: 2}},
		&machine.Replied{Meta: machine.Meta{Step: 2}, Message: provider.Assistant("It is sunny."),
			Stop: provider.StopDone},
		&machine.RunEnded{Status: machine.Completed},
	}
	names := map[machine.ActionKind]string{machine.ActNothing: "nothing", machine.ActCallModel: "call the model",
		machine.ActRunCalls: "run calls",
		machine.ActDoubt:    "a call is in doubt", machine.ActFinish: "finish"}

	m, run := machine.New("s-1"), &machine.Origin{Session: "s-1", Run: "r-1"}
	for _, f := range script {
		meta := f.Envelope()
		meta.Origin, meta.Seq = run, m.State().Seq+1
		f = machine.Stamp(f, meta) // a driver stores it next
		if err := m.Apply(f); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%T: %s\n", f, names[m.Next().Kind])
	}
	fmt.Println(m.Result(machine.Completed, "", nil).Text())

	// Output:
	// *machine.RunStarted: call the model
	// *machine.StepStarted: call the model
	// *machine.Replied: run calls
	// *machine.ToolStarted: a call is in doubt
	// *machine.ToolFinished: call the model
	// *machine.StepStarted: call the model
	// *machine.Replied: finish
	// *machine.RunEnded: nothing
	// It is sunny.
}

// After a crash, the stored facts make the same state again, and nothing runs twice.
func ExampleReplay() {
	limits := machine.DefaultLimits()
	origin := machine.Origin{Session: "s-1", Run: "r-1"}
	call := &provider.ToolCall{ID: machine.CallID("r-1", 1, 0), Name: "pay"}
	m, err := machine.Replay("s-1",
		&machine.RunStarted{Meta: machine.Meta{Origin: &origin, Seq: 1}, Message: provider.User("Pay the bill."),
			Limits: &limits},
		&machine.StepStarted{Meta: machine.Meta{Origin: &origin, Seq: 2, Step: 1}},
		&machine.Replied{Meta: machine.Meta{Origin: &origin, Seq: 3, Step: 1}, Stop: provider.StopToolCalls,
			Message: provider.Message{Role: provider.RoleAssistant,
				Parts: []provider.Part{{Kind: provider.PartToolCall, Call: call}}}},
		&machine.ToolStarted{Meta: machine.Meta{Origin: &origin, Seq: 4, Step: 1, Call: call.ID}, Call: call},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	action := m.Next()
	fmt.Println(action.Kind == machine.ActDoubt, m.State().Run.Calls[action.Calls[0]].Call.Name)

	// Output: true pay
}

// A tool that reads logs replays the facts of a session, and says from the state where its run is.
func ExampleMachine_State() {
	limits := machine.DefaultLimits()
	origin := machine.Origin{Session: "s-1", Run: "r-1"}
	pay := &provider.ToolCall{ID: machine.CallID("r-1", 1, 0), Name: "pay"}
	note := &provider.ToolCall{ID: machine.CallID("r-1", 1, 1), Name: "note"}
	m, err := machine.Replay("s-1",
		&machine.RunStarted{Meta: machine.Meta{Origin: &origin, Seq: 1}, Message: provider.User("Pay the bill."),
			Limits: &limits},
		&machine.StepStarted{Meta: machine.Meta{Origin: &origin, Seq: 2, Step: 1}},
		&machine.Replied{Meta: machine.Meta{Origin: &origin, Seq: 3, Step: 1}, Stop: provider.StopToolCalls,
			Message: provider.Message{Role: provider.RoleAssistant, Parts: []provider.Part{
				{Kind: provider.PartToolCall, Call: pay}, {Kind: provider.PartToolCall, Call: note}}}},
		&machine.ToolStarted{Meta: machine.Meta{Origin: &origin, Seq: 4, Step: 1, Call: pay.ID}, Call: pay},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	run := m.State().Run
	switch run.Stage {
	case machine.StageReady, machine.StageCalling:
		fmt.Println("the model is asked")
	case machine.StageReplied:
		fmt.Println("the model has answered")
	case machine.StageFailed:
		fmt.Println("the model call has failed")
	case machine.StageActing:
		for _, c := range run.Calls {
			switch c.Status {
			case machine.CallOpen, machine.CallApproved:
				fmt.Println(c.Call.Name, "hasn't begun")
			case machine.CallStarted:
				fmt.Println(c.Call.Name, "has begun, and may have had an effect")
			case machine.CallSuspended:
				fmt.Println(c.Call.Name, "waits for a decision")
			case machine.CallDecided, machine.CallDone:
				fmt.Println(c.Call.Name, "is over")
			}
		}
	}

	// Output:
	// pay has begun, and may have had an effect
	// note hasn't begun
}

// A host asks the error of a Result which end it was.
func ExampleResult_Err() {
	limits := machine.DefaultLimits()
	m, err := machine.Replay("s-1",
		&machine.RunStarted{Meta: machine.Meta{Origin: &machine.Origin{Session: "s-1", Run: "r-1"}, Seq: 1},
			Message: provider.User("Write the report."), Limits: &limits})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, res := range []*machine.Result{
		m.Result(machine.Stopped, machine.CodeLength, nil),
		m.Result(machine.Stopped, machine.CodeFiltered, nil),
		m.Result(machine.Running, "", nil),
	} {
		switch err := res.Err(); {
		case errors.Is(err, machine.ErrCutAnswer):
			fmt.Println("ask for less")
		case errors.Is(err, machine.ErrFiltered):
			fmt.Println("ask for something else")
		case errors.Is(err, machine.ErrRunning):
			fmt.Println("wait")
		}
	}

	// Output:
	// ask for less
	// ask for something else
	// wait
}
