package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent/internal/work"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/backoff"
)

// mostUp is how many logs lie between what was decided on and its conversation, at most.
const mostUp = 32

const passUpWithin = 10 * time.Second

// PassUp tells a conversation what was decided elsewhere on work that it has started, so that it
// goes on: what a plan waits for is also open in the session in which the plan was submitted. The
// log of the work is that of another package, such as one of a plan, or that of a subagent. PassUp
// does nothing for another session, for work without a conversation that is open, and for what that
// conversation decides itself. Because what was decided is stored, the end of ctx doesn't stop it,
// and a store that can't be reached for now is tried again; it has 10 s.
func PassUp(ctx context.Context, store journal.Store, log string, decisions []machine.Decision) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), passUpWithin)
	defer cancel()
	delays := backoff.Delays{Min: 50 * time.Millisecond, Max: passUpWithin}
	for tries := 1; ; tries++ {
		err := passUp(ctx, store, log, decisions)
		if err == nil || !fault.Retryable(fault.Of(err)) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(delays.After(tries)):
		}
	}
}

func passUp(ctx context.Context, store journal.Store, log string, decisions []machine.Decision) error {
	top, err := conversation(ctx, store, log)
	if err != nil || top == "" {
		return err
	}
	if slices.ContainsFunc(work.Tree(ctx), func(a machine.Ancestor) bool { return a.Session == top }) {
		return nil
	}
	for _, d := range decisions {
		err := post(ctx, store, top, &Item{ID: "up " + d.ID, Kind: ItemDecide, Decisions: []machine.Decision{d}})
		if _, before := errors.AsType[*journal.PostedError](err); err != nil && !before {
			return fmt.Errorf("agent: passing on what was decided for %q: %w", log, err)
		}
	}
	return nil
}

// conversation returns the session whose run has started work, if that run is open; else none.
func conversation(ctx context.Context, store journal.Store, log string) (string, error) {
	name := log
	for range mostUp {
		h, err := store.Head(ctx, name)
		if errors.Is(err, journal.ErrNoSession) { // another store has it
			return "", nil
		}
		if err != nil {
			return "", fmt.Errorf("agent: session %q: reading its head: %w", name, err)
		}
		if h.Kind == "" && !strings.HasPrefix(name, machine.ChildPrefix) {
			open := h.Status == string(machine.Running) || h.Status == string(machine.Paused)
			if !open || name == log {
				return "", nil
			}
			return name, nil
		}
		if name = h.Parent; name == "" {
			return "", nil
		}
	}
	return "", nil
}
