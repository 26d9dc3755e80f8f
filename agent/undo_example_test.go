package agent_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A tool whose calls may fail half-way says that its Undo may be called for those as well.
func ExampleSession_Undo() {
	type Order struct {
		Item string `json:"item"`
	}
	reserved := map[string]string{} // what is reserved, by the key of the call
	order := tools.Func[Order, string]{
		Spec: tools.Spec{Name: "order", UndoFailed: true},
		Run: func(ctx context.Context, in Order) (string, error) {
			reserved[tools.IdempotencyKey(ctx)] = in.Item
			if in.Item == "lamp" {
				return "", errors.New("the payment was declined") // the lamp is reserved all the same
			}
			return "ordered", nil
		},
		Undo: func(ctx context.Context, in Order, _ string) error { // "" for a call that has failed
			delete(reserved, tools.IdempotencyKey(ctx))
			return nil
		},
	}
	a, err := agent.New(agent.Config{
		Provider: providertest.Script(
			providertest.Call("order", Order{"chair"}),
			providertest.Call("order", Order{"lamp"}),
			providertest.Say("The lamp couldn't be paid for."),
		),
		Tools: []tools.Tool{order},
	})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	if _, err := a.Run(ctx, agent.Input{Session: "s-1", Prompt: "Order a chair and a lamp."}); err != nil {
		log.Fatal(err)
	}
	fmt.Println("reserved:", len(reserved))
	receipt, err := a.Session("s-1").Undo(ctx, agent.Rollback{User: "ann"})
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range receipt.Undone {
		fmt.Println("undone:", string(c.Call.Input))
	}
	fmt.Println("reserved:", len(reserved))
	// Output:
	// reserved: 2
	// undone: {"item":"lamp"}
	// undone: {"item":"chair"}
	// reserved: 0
}
