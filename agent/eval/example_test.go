package eval_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing/fstest"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/eval"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/mock"
)

// City is the input of the tool.
type City struct {
	Name string `json:"city"`
}

// weatherAgent is what a program makes its agent with.
func weatherAgent(model provider.Provider) (*agent.Agent, error) {
	return agent.New(agent.Config{Provider: model, Tools: []tools.Tool{
		tools.New(tools.Spec{Name: "weather", Description: "Current weather in a city.", ReadOnly: true},
			func(_ context.Context, in City) (string, error) { return "3 °C in " + in.Name, nil }),
	}})
}

func ExampleRun() {
	tried := 0
	newAgent := func() (*agent.Agent, error) {
		if tried++; tried%4 == 0 { // in one of four conversations the model forgets the tool
			return weatherAgent(providertest.Script(providertest.Say("It is cold in Norway.")))
		}
		return weatherAgent(providertest.Script(
			providertest.Call("weather", City{"Oslo"}), providertest.Say("It is 3 °C.")))
	}
	report, err := eval.Run(context.Background(), newAgent, eval.Config{
		Cases: []eval.Case{{
			Name:  "weather",
			Input: agent.Input{Prompt: "How cold is it in Oslo?"},
			Score: []eval.Scorer{eval.Called("weather"), eval.Text("3 °C"), eval.Steps(3)},
		}},
		Trials: 20, Parallel: 1,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	rate := report.Rate("weather", "")
	low, high := rate.Interval()
	fmt.Printf("%v trials passed: %.0f to %.0f %%\n", rate, 100*low, 100*high)
	all, _, _ := rate.PassAll(3)
	any, _, _ := rate.PassAny(3)
	fmt.Printf("pass^3 %.2f, pass@3 %.2f\n", all, any)
	fmt.Println(report.Trials[3].Scores[1].Why)
	// Output:
	// 15 of 20 trials passed: 53 to 89 %
	// pass^3 0.40, pass@3 0.99
	// the calls were []
}

func ExampleReport_Compare() {
	report := func(passed int) *eval.Report {
		var r eval.Report
		for n := range 40 {
			r.Trials = append(r.Trials, eval.Trial{Case: "weather", N: n + 1, Status: agent.Completed,
				Scores: []eval.Score{{Name: "called weather", Pass: n < passed}}})
		}
		return &r
	}
	c := report(24).Compare(report(36))
	fmt.Println(c.Worse[0].Score, "passed", c.Worse[0].Before, "and now", c.Worse[0].Now)
	fmt.Println(len(report(33).Compare(report(36)).Noise), "change that is noise")
	// Output:
	// called weather passed 36 of 40 and now 24 of 40
	// 1 change that is noise
}

// The outside calls of tools are answered from files, so that trials differ by the model alone.
func ExampleRun_mocks() {
	mocks, err := mock.New(mock.Config{Master: mock.Mock, Files: []fs.FS{fstest.MapFS{
		"weather/current.default.json": {Data: []byte(`"-12 °C in {{city}}"`)},
	}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	newAgent := func() (*agent.Agent, error) {
		model := providertest.Script(providertest.Call("weather", City{"Oslo"}), providertest.Say("Very cold."))
		return agent.New(agent.Config{Provider: model, Tools: []tools.Tool{
			tools.New(tools.Spec{Name: "weather", Description: "Current weather in a city.", ReadOnly: true},
				func(ctx context.Context, in City) (string, error) {
					key := mock.Key{Name: "current", Values: map[string]any{"city": in.Name}}
					return mock.Call(ctx, mocks.Category("weather"), key,
						func(context.Context) (string, error) { return "", errors.New("no network here") })
				}),
		}})
	}
	report, err := eval.Run(context.Background(), newAgent, eval.Config{Trials: 2, Cases: []eval.Case{{
		Name: "frost", Input: agent.Input{Prompt: "Do I need gloves in Oslo?"},
		Score: []eval.Scorer{eval.Called("weather"), eval.Text("cold")},
	}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.Rate("frost", ""), "passed after reading", report.Trials[0].Messages[2].Parts[0].Result.Text())
	// Output: 2 of 2 passed after reading -12 °C in Oslo
}

// A report that was written is scored again, without running anything.
func ExampleReport_Rescore() {
	newAgent := func() (*agent.Agent, error) { return weatherAgent(providertest.Script(providertest.Say("Cold."))) }
	c := eval.Case{Name: "weather", Input: agent.Input{Prompt: "How cold is it in Oslo?"}}
	report, err := eval.Run(context.Background(), newAgent, eval.Config{Cases: []eval.Case{c}})
	var file bytes.Buffer // or one on a disk
	if err := errors.Join(err, report.Write(&file)); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.Rate("weather", ""))

	report, err = eval.Read(&file)
	if err != nil {
		fmt.Println(err)
		return
	}
	c.Score = append(c.Score, eval.Text("°C"))
	report, err = report.Rescore(context.Background(), eval.Config{Cases: []eval.Case{c}})
	fmt.Println(report.Rate("weather", ""), err)
	// Output:
	// 5 of 5
	// 0 of 5 <nil>
}

// A session that went wrong becomes a case: did a change mend it?
func ExampleFromSession() {
	ctx := context.Background()
	old, err := weatherAgent(providertest.Script(providertest.Say("It is warm, I guess.")))
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := old.Run(ctx, agent.Input{Session: "s-1", Prompt: "How cold is it in Oslo?"}); err != nil {
		fmt.Println(err)
		return
	}
	c, err := eval.FromSession(ctx, old.Session("s-1"), 1) // before its first model call
	if err != nil {
		fmt.Println(err)
		return
	}
	c.Name, c.Score = "guesses", []eval.Scorer{eval.Called("weather")}
	report, err := eval.Run(ctx, func() (*agent.Agent, error) {
		return weatherAgent(providertest.Script(
			providertest.Call("weather", City{"Oslo"}), providertest.Say("It is 3 °C.")))
	}, eval.Config{Cases: []eval.Case{c}})
	fmt.Println(c.Input.Prompt, report.Rate("guesses", ""), err)
	// Output: How cold is it in Oslo? 5 of 5 <nil>
}

func ExampleJudge() {
	judge := providertest.Script(providertest.Say(`{"reason": "It gives no number.", "pass": false}`))
	polite := eval.Judge(judge, "The answer gives the temperature as a number.", nil)
	score, err := polite(context.Background(), &eval.Trial{Answer: "It is cold.",
		Messages: []provider.Message{provider.User("How cold is it in Oslo?")}})
	fmt.Println(score.Pass, score.Why, err)
	// Output: false It gives no number. <nil>
}
