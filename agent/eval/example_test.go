package eval_test

import (
	"context"
	"fmt"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/eval"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
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

func ExampleJudge() {
	judge := providertest.Script(providertest.Say(`{"reason": "It gives no number.", "pass": false}`))
	polite := eval.Judge(judge, "The answer gives the temperature as a number.", nil)
	score, err := polite(context.Background(), &eval.Trial{Answer: "It is cold.",
		Messages: []provider.Message{provider.User("How cold is it in Oslo?")}})
	fmt.Println(score.Pass, score.Why, err)
	// Output: false It gives no number. <nil>
}
