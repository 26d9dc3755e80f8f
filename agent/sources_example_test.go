package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"sync"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// Plugins is a source of tools that come and go.
type Plugins struct {
	mu      sync.Mutex // guards what follows
	list    []tools.Tool
	changed chan struct{}
}

func (p *Plugins) Name() string { return "plugins" }

func (p *Plugins) List(ctx context.Context) ([]tools.Tool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.list, nil // tools.ListingOf(ctx) says for whom
}

func (p *Plugins) Changed() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.changed
}

// Install adds a tool.
func (p *Plugins) Install(t tools.Tool) { p.change(append(p.list[:len(p.list):len(p.list)], t)) }

// Clear removes all tools.
func (p *Plugins) Clear() { p.change(nil) }

func (p *Plugins) change(list []tools.Tool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list = list
	if p.changed != nil {
		close(p.changed)
	}
	p.changed = make(chan struct{})
}

// A source's new tool is offered from the next run on, after all others.
func ExampleConfig_sources() {
	ctx := context.Background()
	answers := func(name string) tools.Tool {
		return tools.New(tools.Spec{Name: name}, func(ctx context.Context, in struct{}) (string, error) {
			return "ok", nil
		})
	}
	plugins := new(Plugins)
	plugins.Install(answers("calendar"))
	a, err := agent.New(agent.Config{
		Provider: providertest.Script(providertest.Say("One."), providertest.Say("Two.")),
		Tools:    []tools.Tool{answers("search")},
		Sources:  []tools.Source{plugins},
	})
	if err != nil {
		log.Fatal(err)
	}
	for range 2 {
		for ev, err := range a.Stream(ctx, agent.Input{Session: "s-1", Prompt: "Go on."}) {
			if err != nil {
				log.Fatal(err)
			}
			switch ev := ev.(type) {
			case *machine.ToolsChanged:
				fmt.Println("new:", ev.Tools[0].Name)
			case *agent.StepStarted:
				fmt.Println(ev.Tools)
			}
		}
		plugins.Install(answers("mail"))
	}
	// Output:
	// [search calendar]
	// new: mail
	// [search calendar mail]
}

// A tool of the model's choice is loaded when it is needed, so that a hundred others don't fill
// every request.
func ExampleLoadTools() {
	type Name struct {
		Name string `json:"name"`
	}
	invoice := tools.New(tools.Spec{Name: "invoice.create"}, func(ctx context.Context, in struct{}) (string, error) {
		return "invoice 7", nil
	})
	load := tools.New(tools.Spec{Name: "tools.load", Description: "Loads a tool: invoice.create, …"},
		func(ctx context.Context, in Name) (string, error) {
			return "It is there from now on.", agent.LoadTools(ctx, in.Name)
		})
	a, err := agent.New(agent.Config{
		Provider: providertest.Script(
			providertest.Unfit(providertest.Call("invoice.create", struct{}{})), // it isn't loaded yet
			providertest.Call("tools.load", Name{"invoice.create"}),
			providertest.Call("invoice.create", struct{}{}),
			providertest.Say("Done."),
		),
		Tools: []tools.Tool{load, tools.Lazy(invoice, "call tools.load with its name first")},
	})
	if err != nil {
		log.Fatal(err)
	}
	for ev, err := range a.Stream(context.Background(), agent.Input{Prompt: "Write an invoice."}) {
		if err != nil {
			log.Fatal(err)
		}
		switch ev := ev.(type) {
		case *agent.StepStarted:
			fmt.Println("offered:", ev.Tools)
		case *agent.ToolFinished:
			fmt.Println(ev.Result.Text())
		}
	}
	// Output:
	// offered: [tools.load]
	// The call wasn't run: the tool "invoice.create" isn't loaded; call tools.load with its name first
	// offered: [tools.load]
	// It is there from now on.
	// offered: [tools.load invoice.create]
	// invoice 7
	// offered: [tools.load invoice.create]
}

// The server declares a tool that the page in the browser executes. The run pauses until the page
// answers, perhaps in another process.
func ExampleInput_tools() {
	ctx := context.Background()
	store := &journal.MapStore{}
	open := func(steps ...providertest.Step) *agent.Agent {
		a, err := agent.New(agent.Config{Provider: providertest.Script(steps...), Journal: store})
		if err != nil {
			log.Fatal(err)
		}
		return a
	}
	pick := tools.External(tools.Spec{Name: "ui.pickDate", Description: "Lets the user pick a date.",
		Output: json.RawMessage(`{"type":"string","format":"date"}`)})

	a := open(providertest.Call("ui.pickDate", struct{}{}))
	res, err := a.Run(ctx, agent.Input{Session: "s-1", Prompt: "Book a table.", Tools: []tools.Tool{pick}})
	if !errors.As(err, new(*agent.PausedError)) {
		log.Fatal("it should ask: ", err)
	}
	fmt.Println(res.Status, res.Pending[0].Kind, res.Pending[0].Call.Name)

	b := open(providertest.Say("Booked for the 3rd of May."))
	res, err = b.Run(ctx, agent.Resume("s-1", agent.Answer(res.Pending[0].ID, "2026-05-03")))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Status, res.Text())
	// Output:
	// paused external ui.pickDate
	// completed Booked for the 3rd of May.
}

// One run of an agent may use only some of its tools.
func ExampleInput_only() {
	answers := func(name string) tools.Tool {
		return tools.New(tools.Spec{Name: name}, func(ctx context.Context, in struct{}) (string, error) {
			return "ok", nil
		})
	}
	a, err := agent.New(agent.Config{
		Provider: providertest.Script(providertest.Unfit(providertest.Call("delete", struct{}{})),
			providertest.Say("I can't delete it.")),
		Tools: []tools.Tool{answers("search"), answers("read"), answers("delete")},
	})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	_, err = a.Run(ctx, agent.Input{Prompt: "Look it up.", Only: []string{"raed"}})
	fmt.Println(err)
	for ev, err := range a.Stream(ctx,
		agent.Input{Prompt: "Look it up, and delete it.", Only: []string{"read", "search"}}) {
		if err != nil {
			log.Fatal(err)
		}
		switch ev := ev.(type) {
		case *agent.StepStarted:
			fmt.Println("offered:", ev.Tools)
		case *agent.ToolFinished:
			fmt.Println(ev.Result.Text())
		}
	}
	// Output:
	// agent: Input.Only: there is no tool "raed"; the tools are search, read, delete
	// offered: [search read]
	// The call wasn't run: the tool "delete" isn't available now; the tools are search, read
	// offered: [search read]
}

// Offline is a source that can't list its tools after the first time.
type Offline struct {
	Plugins
	lists int
}

func (o *Offline) List(ctx context.Context) ([]tools.Tool, error) {
	if o.lists++; o.lists > 1 {
		return nil, errors.New("no connection")
	}
	return o.Plugins.List(ctx)
}

// If a source can't list its tools when a run starts, the run has none of them, and the stream says
// so.
func ExampleSourceFailed() {
	source := new(Offline)
	source.Install(tools.New(tools.Spec{Name: "calendar"}, func(ctx context.Context, in struct{}) (string, error) {
		return "ok", nil
	}))
	a, err := agent.New(agent.Config{
		Provider: providertest.Script(providertest.Say("One."), providertest.Say("Two.")),
		Sources:  []tools.Source{source},
	})
	if err != nil {
		log.Fatal(err)
	}
	for range 2 {
		for ev, err := range a.Stream(context.Background(), agent.Input{Session: "s-1", Prompt: "Go on."}) {
			if err != nil {
				log.Fatal(err)
			}
			switch ev := ev.(type) {
			case *agent.StepStarted:
				fmt.Println(ev.Tools)
			case *agent.SourceFailed:
				fmt.Println(ev.Reason)
			}
		}
	}
	// Output:
	// [calendar]
	// agent: source "plugins" can't list its tools, so that the run has none of them: no connection
	// []
}

// A tool that disappears during a run is still offered, so that the request begins as before, and
// its calls are answered.
func ExampleToolsChanged() {
	plugins := new(Plugins)
	plugins.Install(tools.New(tools.Spec{Name: "calendar"}, func(ctx context.Context, in struct{}) (string, error) {
		return "ok", nil
	}))
	remove := tools.New(tools.Spec{Name: "remove"}, func(ctx context.Context, in struct{}) (string, error) {
		plugins.Clear()
		return "removed", nil
	})
	a, err := agent.New(agent.Config{
		Provider: providertest.Script(providertest.Call("remove", struct{}{}),
			providertest.Call("calendar", struct{}{}), providertest.Say("It is gone.")),
		Tools:   []tools.Tool{remove},
		Sources: []tools.Source{plugins},
	})
	if err != nil {
		log.Fatal(err)
	}
	for ev, err := range a.Stream(context.Background(), agent.Input{Prompt: "Remove the calendar."}) {
		if err != nil {
			log.Fatal(err)
		}
		switch ev := ev.(type) {
		case *agent.StepStarted:
			fmt.Println("offered:", ev.Tools)
		case *machine.ToolsChanged:
			fmt.Println("gone:", ev.Tools[0].Name, ev.Tools[0].Gone)
		case *agent.ToolFinished:
			fmt.Println(ev.Result.Text())
		}
	}
	// Output:
	// offered: [remove calendar]
	// removed
	// offered: [remove calendar]
	// gone: calendar true
	// The call wasn't run: the tool "calendar" is no longer available. Go on without it.
	// offered: [remove calendar]
}
