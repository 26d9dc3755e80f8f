package machine_test

import (
	"encoding/json"
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
