package team

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
)

// A pausing store calls paused after it has stored that a session waits, before Append returns.
type pausing struct {
	journal.Store
	paused func(session, id string)
}

func (s *pausing) Append(ctx context.Context, a journal.Append) error {
	err := s.Store.Append(ctx, a)
	if err == nil && a.Head != nil && len(a.Head.Open) > 0 && s.paused != nil {
		s.paused(a.Session, a.Head.Open[0].ID)
	}
	return err
}

// A decision is taken that comes as soon as there is something to decide, in the conversation and
// in the session of the work.
func TestADecisionThatComesAtOnceIsTaken(t *testing.T) {
	for door, conversation := range map[string]bool{"the conversation": true, "the work": false} {
		for how, hub := range map[string]bool{"by the hub": true, "by the session": false} {
			t.Run(door+", "+how, func(t *testing.T) {
				store := &pausing{Store: &journal.MapStore{}}
				o := options{}
				o.lead.Journal = store
				bubble(t, o, func(t *testing.T, f *fixture) {
					decided := 0
					store.paused = func(session, id string) {
						if (session == "s") != conversation {
							return
						}
						h := f.librarian
						if conversation {
							h = f.lead
						}
						var err error
						if hub {
							_, err = h.Decide(context.Background(), session, agent.Approve(id))
						} else {
							err = h.Agent().Session(session).Decide(context.Background(), agent.Approve(id))
						}
						if err == nil {
							decided++
						}
						time.Sleep(5 * time.Second)
					}
					f.say("s", "start borrow-1")
					passes()
					passes()
					require.Equal(t, 1, decided)
					require.Len(t, f.borrowed, 1)
					require.Len(t, f.reports("s"), 1)
				})
			})
		}
	}
}
