package agent_test

import (
	"context"
	"fmt"
	"log"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A tool records what the host wants to keep, and shows what a page wants to show. The model sees
// neither.
func ExampleEmit() {
	type Offer struct {
		Hotel string `json:"hotel"`
		Euros int    `json:"euros"`
	}
	book := tools.New(tools.Spec{Name: "book"}, func(ctx context.Context, in City) (string, error) {
		if err := agent.Show(ctx, "map", in); err != nil { // only whoever reads the stream gets this
			return "", err
		}
		if err := agent.Emit(ctx, "offer", Offer{"Grand", 120}); err != nil { // this is stored with the session
			return "", err
		}
		return "booked", nil
	})
	a, err := agent.New(agent.Config{
		Provider: providertest.Script(providertest.Call("book", City{Name: "Oslo"}), providertest.Say("Done.")),
		Tools:    []tools.Tool{book},
	})
	if err != nil {
		log.Fatal(err)
	}
	for ev, err := range a.Stream(context.Background(),
		agent.Input{Session: "s-1", Prompt: "A room in Oslo, please."}) {
		if err != nil {
			log.Fatal(err)
		}
		switch ev := ev.(type) {
		case *agent.Shown:
			fmt.Println("note", ev.Kind, string(ev.Value))
		case *machine.Emitted:
			fmt.Println("fact", ev.Kind, string(ev.Value))
		}
	}
	// Output:
	// note map {"city":"Oslo"}
	// fact offer {"hotel":"Grand","euros":120}
}

// A host sends events to a page as JSON, and another host reads them.
func ExampleMarshalEvent() {
	a, err := agent.New(agent.Config{Provider: providertest.Script(providertest.Say("Hello, world."))})
	if err != nil {
		log.Fatal(err)
	}
	for ev, err := range a.Stream(context.Background(), agent.Input{Session: "s-1", Prompt: "Greet them."}) {
		if err != nil {
			log.Fatal(err)
		}
		line, err := agent.MarshalEvent(ev)
		if err != nil {
			log.Fatal(err)
		}
		back, err := agent.UnmarshalEvent(line)
		if err != nil {
			log.Fatal(err)
		}
		if d, ok := back.(*agent.TextDelta); ok {
			fmt.Printf("part %d: %q\n", d.Index, d.Text)
		}
	}
	// Output:
	// part 0: "Hello, "
	// part 0: "world."
}

// Another process follows a session that this one drives: it reads the facts from the journal.
func ExampleSession_Watch() {
	ctx, store := context.Background(), &journal.MapStore{}
	here, err := agent.New(agent.Config{Journal: store, Provider: providertest.Script(providertest.Say("Done."))})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := here.Run(ctx, agent.Input{Session: "s-1", Prompt: "Tidy up."}); err != nil {
		log.Fatal(err)
	}
	there, err := agent.New(agent.Config{Journal: store, Provider: providertest.Script()})
	if err != nil {
		log.Fatal(err)
	}
	for ev, err := range there.Session("s-1").Watch(ctx, 1) { // the facts after number 1, and then new ones
		if err != nil {
			log.Fatal(err)
		}
		switch ev := ev.(type) {
		case *agent.Replied:
			fmt.Println(ev.Seq, ev.Message.Text())
		case *agent.RunEnded:
			fmt.Println(ev.Seq, ev.Status)
			return
		}
	}
	// Output:
	// 3 Done.
	// 4 completed
}

// A page shows what the agents do that an agent calls.
func ExampleInput_children() {
	critic, err := agent.New(agent.Config{Name: "critic", Provider: providertest.Script(providertest.Say("Too long."))})
	if err != nil {
		log.Fatal(err)
	}
	editor, err := agent.New(agent.Config{
		Name: "editor",
		Provider: providertest.Script(providertest.Call("critic", agent.Task{Task: "Read it."}),
			providertest.Say("Shortened.")),
		Tools: []tools.Tool{agent.AsTool(critic, tools.Spec{Description: "Finds faults in a text."})},
	})
	if err != nil {
		log.Fatal(err)
	}
	for ev, err := range editor.Stream(context.Background(),
		agent.Input{Session: "s-1", Prompt: "Improve it.", Children: true}) {
		if err != nil {
			log.Fatal(err)
		}
		if f, ok := ev.(*agent.Replied); ok {
			fmt.Printf("%s: %q\n", f.Agent(), f.Message.Text())
		}
	}
	// Output:
	// editor: ""
	// critic: "Too long."
	// editor: "Shortened."
}

// What a provider does itself, and what it cites, is shown while the reply is written.
func ExamplePartAdded() {
	a, err := agent.New(agent.Config{Provider: providertest.Script(providertest.Reply(
		providertest.Say("It opened in 2007."),
		providertest.Source(provider.Source{URL: "https://example.com/opera", Title: "The opera house"}),
	))})
	if err != nil {
		log.Fatal(err)
	}
	for ev, err := range a.Stream(context.Background(), agent.Input{Prompt: "When did the opera house open?"}) {
		if err != nil {
			log.Fatal(err)
		}
		switch ev := ev.(type) {
		case *agent.TextDelta:
			fmt.Printf("part %d: %q\n", ev.Index, ev.Text)
		case *agent.PartAdded:
			fmt.Printf("part %d: %s %s\n", ev.Index, ev.Part.Kind, ev.Part.Source.URL)
		}
	}
	// Output:
	// part 0: "It "
	// part 0: "opened "
	// part 0: "in "
	// part 0: "2007."
	// part 1: source https://example.com/opera
}
