package agent

import (
	"context"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/memory"
)

// logged reads back what a compaction took out of a session: from its memory.Store, and results
// from the session's log, which has them whole. It stands in for a Store where none is configured,
// and then keeps nothing itself.
type logged struct {
	agent   *Agent
	session string
}

// Put does nothing: the log has the result already.
func (s logged) Put(context.Context, string, string) error { return nil }

// Get returns the text that has the handle.
func (s logged) Get(ctx context.Context, handle string) (string, error) {
	err := fault.Errorf(fault.NotFound, "agent: the session has no text with the handle %q", handle)
	if store := s.agent.memoryConfig.store(s.session); store != nil {
		text, failed := store.Get(ctx, handle)
		if failed == nil || fault.Of(failed) != fault.NotFound {
			return text, failed
		}
		err = failed
	}
	facts, failed := s.agent.sessions.Facts(ctx, s.session, 0, 0)
	if failed != nil {
		return "", failed
	}
	for i := len(facts) - 1; i >= 0; i-- {
		if f, ok := facts[i].(*machine.ToolFinished); ok {
			if text := memory.ResultText(f.Result.Parts); memory.HandleOf(text) == handle {
				return text, nil
			}
		}
	}
	return "", err
}
