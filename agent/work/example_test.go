package work_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/work"
	"github.com/pawlkit/pawl/provider/providertest"
)

// Inputs are stored, and a worker runs them. It may be another process, if the journal is on disk.
func Example() {
	a, err := agent.New(agent.Config{
		Journal:  &journal.MapStore{},
		Provider: providertest.Script(providertest.Say("The report is written.")),
	})
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	err = a.Enqueue(ctx, agent.Input{Session: "report-7", Key: "report-7", Prompt: "Write the report."},
		agent.QueueOptions{Attempts: 3})
	if err != nil {
		log.Fatal(err)
	}
	w, err := work.New(work.Config{
		Agents: []*agent.Agent{a},
		Leg:    agent.Leg{Time: time.Minute},
		Rules:  []work.Rule{{Status: agent.Paused, After: 24 * time.Hour, Do: work.Cancel}},
		Ended: func(ctx context.Context, r *agent.Result) error {
			fmt.Println(r.Session, r.Status, r.Text())
			stop() // a real one goes on until the process is to end
			return nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := w.Run(ctx); err != nil {
		log.Fatal(err)
	}
	// Output: report-7 completed The report is written.
}
