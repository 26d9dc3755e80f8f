package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

type Trip struct {
	To string `json:"to"`
}

// A tool asks two questions at once, and runs again with the answers and with what it had found out
// before. The run waits in the journal: the answer may come days later, in another process.
func Example_suspend() {
	type offer struct {
		Flight string `json:"flight"`
		Price  int    `json:"price"`
	}
	type choice struct {
		Seat string `json:"seat"`
		Bags int    `json:"bags"`
	}
	book := tools.New(tools.Spec{Name: "book"}, func(ctx context.Context, in Trip) (string, error) {
		r, answered := tools.Resumed(ctx)
		if !answered {
			return "", tools.Suspend{
				Kind: "question", Prompt: "Flight PW7 to " + in.To + " for 120 €: which seat, how many bags?",
				Schema: json.RawMessage(
					`{"type":"object","properties":{"seat":{"enum":["window","aisle"]},"bags":{"type":"integer","minimum":0}},"required":["seat","bags"]}`),
				Again: true, State: offer{Flight: "PW7", Price: 120},
			}
		}
		var o offer
		var c choice
		if err := r.Decode(&o, &c); err != nil {
			return "", err
		}
		return fmt.Sprintf("booked %s for %d €: %s, %d bags", o.Flight, o.Price, c.Seat, c.Bags), nil
	})
	a, err := agent.New(agent.Config{
		Journal: &journal.MapStore{},
		Provider: providertest.Script(providertest.Call("book", Trip{To: "Oslo"}),
			providertest.Say("You fly with PW7.")),
		Tools: []tools.Tool{book},
	})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	res, err := a.Run(ctx, agent.Input{Session: "s-1", Prompt: "Book me a flight to Oslo."})
	if !errors.As(err, new(*agent.PausedError)) {
		log.Fatal("it should ask: ", err)
	}
	for _, p := range res.Pending {
		fmt.Println(p.Reason)
	}
	res, err = a.Run(ctx,
		agent.Resume("s-1", agent.Answer(res.Pending[0].ID, choice{Seat: "window", Bags: 1}).By("ann")))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Messages[2].Parts[0].Result.Text())
	fmt.Println(res.Text())
	// Output:
	// Flight PW7 to Oslo for 120 €: which seat, how many bags?
	// booked PW7 for 120 €: window, 1 bags
	// You fly with PW7.
}

// A button of a page calls a tool without a model. The call is checked, approved, verified and
// journaled like one that a model makes, and can be undone.
func ExampleSession_Call() {
	pages := map[string]bool{"home": true, "old": true}
	type Page struct {
		ID string `json:"id"`
	}
	remove := tools.Func[Page, string]{
		Spec: tools.Spec{Name: "cms.deletePage", Risk: tools.High}, // high risk: asks for approval
		Run: func(ctx context.Context, in Page) (string, error) {
			delete(pages, in.ID)
			return "deleted " + in.ID, nil
		},
		Undo: func(ctx context.Context, in Page, _ string) error {
			pages[in.ID] = true
			return nil
		},
	}
	a, err := agent.New(agent.Config{Journal: &journal.MapStore{}, Provider: providertest.Script(),
		Tools: []tools.Tool{remove}})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	s := a.Session("s-1")
	res, err := s.Call(ctx, "cms.deletePage", Page{ID: "old"})
	if !errors.As(err, new(*agent.PausedError)) {
		log.Fatal("it should ask: ", err)
	}
	fmt.Println(res.Status, res.Pending[0].Reason)
	res, err = a.Run(ctx, agent.Resume("s-1", agent.Approve(res.Pending[0].ID).By("ann")))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Status, res.Called.Status, res.Text(), len(pages))
	if _, err := s.Undo(ctx, agent.Rollback{}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(pages))
	// Output:
	// paused this tool is of high risk
	// completed ok deleted old 1
	// 2
}
