package temporal_test

import (
	"context"
	"fmt"
	"io"
	stdlog "log"
	"log/slog"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/work/temporal"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

type page struct {
	Text string `json:"text"`
}

// A stand-in is a client of the SDK's test environment, which has no server.
type standIn struct {
	client.Client
	env *testsuite.TestWorkflowEnvironment
}

func (s standIn) SignalWorkflow(_ context.Context, _, _, name string, value any) error {
	s.env.SignalWorkflow(name, value)
	return nil
}

// A person approves a call two days after the run has asked. In between, no process has the run.
func Example() {
	ctx := context.Background()
	writer, err := agent.New(agent.Config{
		Name: "writer", Journal: &journal.MapStore{},
		Tools: []tools.Tool{tools.New(tools.Spec{Name: "publish", Risk: tools.High},
			func(ctx context.Context, p page) (string, error) { return "published", nil })},
		Provider: providertest.Script(providertest.Call("publish", page{"news"}),
			providertest.Say("The news is published.")),
	})
	if err != nil {
		stdlog.Fatal(err)
	}
	var suite testsuite.WorkflowTestSuite // for real, worker.New and client.Dial
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.NewTextHandler(io.Discard, nil))))
	env := suite.NewTestWorkflowEnvironment()
	if err := temporal.Register(env, writer); err != nil {
		stdlog.Fatal(err)
	}

	env.RegisterDelayedCallback(func() {
		pending, err := writer.Session("s-1").Pending(ctx)
		if err != nil || len(pending) != 1 {
			stdlog.Fatal(err)
		}
		fmt.Println("asked:", pending[0].Call.Name)
		err = temporal.Decided(ctx, standIn{env: env}, writer.Session("s-1"), agent.Approve(pending[0].ID).By("ann"))
		if err != nil {
			stdlog.Fatal(err)
		}
	}, 48*time.Hour)

	in := agent.Input{Session: "s-1", Key: "first", Prompt: "Publish the news."}
	run, err := temporal.NewRun("writer", in, agent.Leg{}) // for real, temporal.Start does this
	if err != nil {
		stdlog.Fatal(err)
	}
	env.ExecuteWorkflow(temporal.Workflow, run)
	var end temporal.Ended
	if err := env.GetWorkflowResult(&end); err != nil {
		stdlog.Fatal(err)
	}
	res, err := writer.Session("s-1").Result(ctx)
	if err != nil {
		stdlog.Fatal(err)
	}
	fmt.Println(end.Status)
	fmt.Println(res.Text())
	// Output:
	// asked: publish
	// completed
	// The news is published.
}
