package durable

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

const (
	// Session is the session of the runs.
	Session = "s"
	// Runs is how many runs the session has, and Steps how many model calls of each make tool
	// calls; one more ends the run.
	Runs, Steps = 3, 4
	// lease is longer than a process that isn't killed is ever held up, because a process without
	// its lease may repeat what another has begun.
	lease = 2 * time.Second
	pause = 100 * time.Millisecond // before trying or looking again
)

// model says in each step what is to be done in it, whoever asks: it knows the run and the step by
// the conversation. Of the tools on the shelf it calls all that it is offered.
func model() provider.Provider {
	return providertest.Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
		run, step := 0, 0
		for i := range req.Messages {
			switch req.Messages[i].Role {
			case provider.RoleUser:
				run, step = run+1, 0
			case provider.RoleAssistant:
				step++
			}
		}
		if step == Steps {
			return providertest.Say("All done.").Response(), nil
		}
		names := [Steps][]string{{"pay", "mark", "pay", "transfer"}, {"mark", "book", "load"}, {"approved", "mark"},
			{"pick", "pay", "approved"}}[step]
		for i := range req.Tools {
			if strings.HasPrefix(req.Tools[i].Name, "item") {
				names = append(names, req.Tools[i].Name)
			}
		}
		var calls []providertest.CallSpec
		for i, name := range names {
			calls = append(calls, providertest.CallSpec{Tool: name, Input: Order{1000*run + 100*step + i + 1}})
		}
		return providertest.Calls(calls...).Response(), nil
	})
}

// NewAgent returns the agent. Its source waits for changes until stop ends.
func NewAgent(stop context.Context, w *World, store journal.Store) (*agent.Agent, error) {
	shelf, err := NewShelf(stop, w)
	if err != nil {
		return nil, err
	}
	return agent.New(agent.Config{Name: "worker", Provider: model(), Journal: store, Tools: w.tools(),
		Sources: []tools.Source{shelf}, Lease: lease,
		Limits: agent.Limits{Steps: 100}}) // model calls that are lost count
}

// terminated is the exit status of a host that was asked to stop.
const terminated = 3

// host is a process that runs what isn't complete, from wherever it is, with readers of its own. It
// prints a line for each fact. SIGTERM ends it as a deployment ends a server.
func host(args []string) error {
	w, err := OpenWorld(args[0])
	if err != nil {
		return err
	}
	defer w.Close()
	store, err := open(args[0])
	if err != nil {
		return err
	}
	defer store.Close()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	a, err := NewAgent(ctx, w, store)
	if err != nil {
		return err
	}
	h, err := live.New(live.Config{Agent: a, Recover: pause})
	if err != nil {
		return err
	}
	defer h.Close()
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM)
	go func() {
		<-asked
		_ = h.Close()
		os.Exit(terminated)
	}()
	var others sync.WaitGroup
	for _, name := range readers {
		others.Go(func() { follow(ctx, h, w, name) })
	}
	defer others.Wait()
	defer stop()
	for n := 1; n <= Runs; n++ {
		if err := complete(ctx, h, n); err != nil {
			return err
		}
	}
	for _, name := range readers { // they have a moment more to see the end
		for seq := uint64(0); seq < end(ctx, a); <-time.After(pause) {
			if seq, err = w.Seen(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// complete starts run n unless that was done before, and waits for its end.
func complete(ctx context.Context, h *live.Hub, n int) error {
	run := ""
	for run == "" {
		started, err := h.Start(ctx, agent.Input{Session: Session, Prompt: fmt.Sprint("run ", n),
			Key: fmt.Sprint("key ", n), Tools: []tools.Tool{pick()}})
		var dup *agent.SessionError
		switch {
		case errors.Is(err, agent.ErrDuplicate) && errors.As(err, &dup):
			run = dup.Run
		case errors.Is(err, agent.ErrBusy): // the lease of one that was killed, or the hub is resuming the run
			<-time.After(pause)
		case err != nil:
			return err
		default:
			run = started.Run
		}
	}
	for ev, err := range h.Watch(ctx, Session, 0) {
		if err != nil {
			return err
		}
		end, ended := ev.(*agent.RunEnded)
		switch {
		case !ended || end.Run() != run || end.Status == agent.Paused:
		case end.Status == agent.Completed:
			return nil
		default:
			return fmt.Errorf("run %d ended as %s: %s", n, end.Status, end.Reason)
		}
	}
	return nil
}

// end returns the number of the last fact.
func end(ctx context.Context, a *agent.Agent) uint64 {
	for info := range a.Sessions(ctx, agent.SessionFilter{}) {
		return info.Facts
	}
	return 0
}
