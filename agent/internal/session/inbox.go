package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
)

// An Item is a request to a session, from this or another process. It waits in the session's inbox
// in the store until the process that drives the session reads it: at the next safe point of a run,
// or when a run starts or is resumed.
type Item struct {
	ID   string    `json:"-"`
	Kind string    `json:"-"`
	Time time.Time `json:"-"` // when it was posted, or, of decisions, checked

	Text string `json:"text,omitempty"` // a message, a mode, a title, the value of a label, or the tool of a rule
	By   string `json:"by,omitempty"`
	Key  string `json:"key,omitempty"` // of a message or a label
	// those that don't fit when they are taken open their pauses again
	Decisions []machine.Decision `json:"decisions,omitempty"`
}

// The kinds of items.
const (
	ItemSteer  = "steer"
	ItemStop   = "stop"
	ItemPause  = "pause"
	ItemCancel = "cancel"
	ItemMode   = "mode"
	ItemRevoke = "revoke"
	ItemTitle  = "title"
	ItemLabel  = "label"
	ItemDecide = "decide"
)

// Post puts an item into the inbox of a session, and wakes its holder if that is in this process.
func (s *Sessions) Post(ctx context.Context, session string, it Item) error {
	data, err := machine.Marshal(it)
	if err != nil {
		return fmt.Errorf("agent: session %q: encoding an inbox item: %w", session, err)
	}
	item := journal.Item{ID: it.ID, Kind: it.Kind, Time: it.Time.UTC(), Data: data}
	if it.Time.IsZero() {
		item.Time = time.Now().UTC()
	}
	for _, d := range it.Decisions {
		item.Closes = append(item.Closes, d.ID)
	}
	if err := s.Store.Post(ctx, session, item); err != nil {
		return fmt.Errorf("agent: session %q: posting to its inbox: %w", session, err)
	}
	if h := s.Holder(session); h != nil {
		h.Poke()
	}
	return nil
}

// Send posts an item to the run of a session, in this or another process, and returns its id. If no
// run is in progress, the error has the code [machine.ErrNothingOpen].
func (s *Sessions) Send(ctx context.Context, session string, it Item) (id string, err error) {
	if it.ID == "" {
		it.ID = s.NewID("m-")
	}
	if !s.driven(session, it.ID) {
		if err := s.InProgress(ctx, session); err != nil {
			return "", err
		}
	}
	return it.ID, s.Post(ctx, session, it)
}

// Inbox returns the items in the session's inbox, oldest first, and leaves them there. Items that
// can't be read have no content.
func (l *Log) Inbox() (items []Item) {
	if l.Lost() {
		return nil
	}
	s := l.sessions
	posted, err := s.Store.Take(l.Stored, l.Name, l.lease.Fence)
	if err != nil {
		if _, ok := errors.AsType[*journal.ConflictError](err); ok {
			l.Cancel(busy(l.Name, err))
		}
		s.Logger.WarnContext(l.Ctx, "agent: reading the inbox", "session", l.Name, "error", err)
		return nil
	}
	for _, p := range posted {
		it := Item{}
		if err := json.Unmarshal(p.Data, &it); err != nil {
			s.Logger.WarnContext(l.Ctx, "agent: an inbox item can't be read and is ignored", "session", l.Name,
				"item", p.ID, "error", err)
		}
		it.ID, it.Kind, it.Time = p.ID, p.Kind, p.Time
		items = append(items, it)
	}
	return items
}

// Remove removes an item from the inbox before it is acted on. It returns false if the item is
// still there.
func (l *Log) Remove(id string) bool {
	l.Lock()
	app := journal.Append{Session: l.Name, After: l.State().Seq, Fence: l.lease.Fence, Taken: []string{id}}
	l.Unlock()
	if err := l.sessions.Store.Append(l.Stored, app); err != nil {
		l.sessions.Logger.WarnContext(l.Ctx, "agent: removing an inbox item", "session", l.Name, "item", id, "error",
			err)
		return journal.Unclear(err) // if it is gone, this is the only process that knows it
	}
	return true
}
