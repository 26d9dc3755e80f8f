package durable

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/pawlkit/pawl/agent"
)

// person is a process that decides on what the runs wait for, by the ids of the pauses. It prints a
// line for each decision.
func person(args []string) error {
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
	ctx := context.Background()
	a, err := NewAgent(ctx, w, store)
	if err != nil {
		return err
	}
	return decide(ctx, w, a)
}

// decide decides on all pauses, one after the other, until ctx ends.
func decide(ctx context.Context, w *World, a *agent.Agent) error {
	s := a.Session(Session)
	for ctx.Err() == nil {
		pending, err := s.Pending(ctx)
		if err != nil && !errors.Is(err, agent.ErrNothingOpen) && ctx.Err() == nil {
			return err
		}
		rand.Shuffle(len(pending), func(i, j int) { pending[i], pending[j] = pending[j], pending[i] })
		for i := range pending {
			d, err := w.decision(&pending[i])
			if err != nil {
				return err
			}
			var refused *agent.DecisionError // it was decided before, but the run hasn't been resumed yet
			if err := s.Decide(ctx, d.By("ann")); err != nil && !errors.As(err, &refused) && ctx.Err() == nil {
				return err
			}
			fmt.Println("decided")
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
	return nil
}

// decision approves all but every third order, answers questions, and looks what has happened if a
// call is in doubt.
func (w *World) decision(p *agent.Pause) (d agent.Decision, err error) {
	var in Order
	if err := json.Unmarshal(p.Call.Input, &in); err != nil {
		return d, err
	}
	switch p.Kind {
	case "question", "external":
		return agent.Answer(p.ID, answer(p.ID)), nil
	case agent.PauseApproval:
		if in.N%3 == 0 {
			return agent.Reject(p.ID, "not this one"), nil
		}
		return agent.Approve(p.ID), nil
	case agent.PauseInDoubt:
		paid, _, err := w.Paid(in.N)
		if paid > 0 {
			return agent.Answer(p.ID, "it was paid"), err
		}
		return agent.Approve(p.ID), err
	}
	return d, fmt.Errorf("a pause of kind %q", p.Kind)
}

// answer is what the person answers to a question.
func answer(pause string) string { return "answer-to-" + pause }
