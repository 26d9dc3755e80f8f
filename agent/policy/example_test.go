package policy_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/policy"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

type command struct {
	Program string   `json:"program"`
	Args    []string `json:"args,omitempty"`
}

func cmd(words ...string) command { return command{words[0], words[1:]} }

// The answer "always, in this project" is a grant: another session of the project isn't asked.
func Example() {
	rules, err := policy.Parse([]byte(`{
		"hard": [{"effect": "deny", "tool": "run", "args": ["git", "push"], "why": "A person pushes."}],
		"rules": [{"effect": "ask", "tool": "run", "args": ["go", "test"]}]}`))
	if err != nil {
		log.Fatal(err)
	}
	set, err := policy.New(policy.Config{Rules: rules}) // Book: policy.File(path), to keep grants
	if err != nil {
		log.Fatal(err)
	}
	a, err := agent.New(agent.Config{
		Provider: providertest.Script(
			providertest.Call("run", cmd("go", "test", "./...")), providertest.Say("It passes."),
			providertest.Calls(providertest.CallSpec{Tool: "run", Input: cmd("go", "test", "-count=1", "./...")},
				providertest.CallSpec{Tool: "run", Input: cmd("git", "-c", "color.ui=never", "push")}),
			providertest.Say("It still passes.")),
		Tools: []tools.Tool{tools.New(tools.Spec{Name: "run"}, func(_ context.Context, in command) (string, error) {
			fmt.Println("running", in.Program, in.Args)
			return "ok", nil
		})},
		Modes:    set.Modes(),
		Policies: []tools.Policy{set.Policy()},
		Hooks:    []agent.Hooks{set.Hooks()},
	})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	res, err := a.Run(ctx, agent.Input{Session: "s-1", Prompt: "Test it.", Mode: string(policy.Ask)})
	if !errors.As(err, new(*agent.PausedError)) {
		log.Fatal("it should ask: ", err)
	}
	for _, s := range res.Pending[0].Scopes {
		fmt.Println("Always allow", s.Text)
	}
	always := agent.Approve(res.Pending[0].ID).For(policy.Project).By("ann")
	if _, err = a.Run(ctx, agent.Resume("s-1", always)); err != nil {
		log.Fatal(err)
	}
	_, err = a.Run(ctx, agent.Input{Session: "s-2", Prompt: "Test it again.", Mode: string(policy.Ask)})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// Always allow all calls of run, in this session
	// Always allow run `go test …` in this project
	// running go [test ./...]
	// running go [test -count=1 ./...]
}

// An approved version of a plan may bring permissions with it, which end with that version: rules
// by it, with an end in case nobody drops them.
func ExampleRule() {
	ctx, book := context.Background(), policy.InMemory()
	const version = "plan 7, version 2"
	// the version is approved
	for _, words := range [][]string{{"go", "test"}, {"go", "vet"}} {
		err := book.Put(ctx, "shop", policy.Rule{Effect: tools.Allow, Tool: "run", Args: words, By: version,
			Until: time.Now().Add(24 * time.Hour)})
		if err != nil {
			log.Fatal(err)
		}
	}
	// the version has ended, or another one takes its place
	rules, err := book.Rules(ctx, "shop")
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range rules {
		if r.By == version {
			fmt.Println("dropping", r.Tool, r.Args, "of", r.By)
			if err := book.Drop(ctx, "shop", r); err != nil {
				log.Fatal(err)
			}
		}
	}
	// Output:
	// dropping run [go test] of plan 7, version 2
	// dropping run [go vet] of plan 7, version 2
}

// A tool splits the text of a command itself, and runs it without a shell. Its host says so, so
// that rules may allow such commands.
func ExampleWords() {
	rules, err := policy.Parse([]byte(`{"rules": [{"effect": "allow", "tool": "bash", "args": ["go", "test"]}]}`))
	if err != nil {
		log.Fatal(err)
	}
	set, err := policy.New(policy.Config{Rules: rules,
		Subjects: map[string]func(json.RawMessage) (policy.Subject, error){
			"bash": func(input json.RawMessage) (policy.Subject, error) {
				var in struct{ Command string }
				err := json.Unmarshal(input, &in)
				words, plain := policy.Words(in.Command)
				if !plain {
					err = errors.New("give one command of plain words") // the call is denied
				}
				return policy.Subject{Args: words}, err
			},
		}})
	if err != nil {
		log.Fatal(err)
	}
	bash := tools.New(tools.Spec{Name: "bash"}, func(context.Context, struct{ Command string }) (string, error) {
		return "ok", nil
	}) // it runs policy.Words(Command), as a program and its arguments
	reg, err := tools.NewRegistry(bash)
	if err != nil {
		log.Fatal(err)
	}
	for _, command := range []string{"go test ./...", "go vet", "go test; ls"} {
		input, _ := json.Marshal(map[string]string{"Command": command})
		call, err := reg.Admit(context.Background(), &tools.Call{Name: "bash", Input: input, Mode: "ask"}, nil, nil,
			[]tools.Policy{set.Policy()})
		if err != nil {
			log.Fatal(err)
		}
		switch {
		case call.Rejected != nil:
			fmt.Println(command, "is denied")
		case call.Verdict.Effect == tools.Ask:
			fmt.Println(command, "asks")
		default:
			fmt.Println(command, "is allowed")
		}
	}
	// Output:
	// go test ./... is allowed
	// go vet asks
	// go test; ls is denied
}
