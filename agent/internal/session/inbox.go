package session

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
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
	err  error     // why the rest of it can't be read

	Text string `json:"text,omitempty"` // a message, a mode, a title, the value of a label, or the tool of a rule
	By   string `json:"by,omitempty"`
	Key  string `json:"key,omitempty"` // of a message or a label
	// After is, of a message and of a request to stop, cancel or pause, the number of the newest
	// fact when it was sent: it isn't for a run that began later. 0: it is for any run.
	After uint64 `json:"after,omitempty"`
	// Outside says where text from outside comes from that a message has: see tools.Spec.Outside.
	Outside []string `json:"outside,omitempty"`
	// those that don't fit when they are taken open their pauses again
	Decisions []machine.Decision `json:"decisions,omitempty"`
	// Unchecked says that no agent has seen the decisions: see [PostUnchecked].
	Unchecked bool `json:"unchecked,omitempty"`
}

// The kinds of items. What is done with each is in the list itemKinds of package agent.
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
	if err := post(ctx, s.Store, session, &it); err != nil {
		return err
	}
	if h := s.Holder(session); h != nil {
		h.Poke()
	}
	return nil
}

// PostUnchecked posts decisions to a session without an agent. The agent that takes them checks
// them, screens their texts, and opens the pauses again of those that don't fit. A decision on a
// pause that was decided before is a *[journal.PostedError].
func PostUnchecked(ctx context.Context, store journal.Store, session string, decisions ...machine.Decision) error {
	var b [16]byte
	rand.Read(b[:]) // never fails
	return post(ctx, store, session, &Item{ID: "d-" + hex.EncodeToString(b[:]), Kind: ItemDecide, Decisions: decisions,
		Unchecked: true})
}

// post puts an item into the inbox of a session. Without a Time, it is of now.
func post(ctx context.Context, store journal.Store, session string, it *Item) error {
	item := journal.Item{ID: it.ID, Kind: it.Kind, Time: it.Time.UTC()}
	if it.Time.IsZero() {
		item.Time = time.Now().UTC()
	}
	for _, d := range it.Decisions {
		item.Closes = append(item.Closes, d.ID)
	}
	var err error
	if item.Data, err = machine.Marshal(it); err == nil {
		err = store.Post(ctx, session, item)
	}
	if err != nil {
		return fmt.Errorf("agent: session %q: posting to its inbox: %w", session, err)
	}
	return nil
}

// Send posts an item to the run of a session, in this or another process, with a new ID, and with
// its After. If no run is in progress, the error has the code [machine.ErrNothingOpen].
func (s *Sessions) Send(ctx context.Context, session string, it Item) error {
	it.ID = s.NewID("m-")
	driven := s.driven(session, it.ID)
	head, err := s.Store.Head(ctx, session)
	if !driven {
		if err := inProgress(session, head, err); err != nil {
			return err
		}
	}
	it.After = head.Seq
	return s.Post(ctx, session, it)
}

// maxUnread is how many messages may wait in an inbox.
const maxUnread = 200

var steeringSeed = maphash.MakeSeed()

// Steer posts a message to the run of a session, as [Sessions.Send] does, and sets its After. If
// more than 200 messages would wait then, or several of more than most bytes, the error has the
// code [machine.ErrUnread]; if most is negative, the bytes aren't counted. One that waits already
// isn't counted twice.
func (s *Sessions) Steer(ctx context.Context, session string, it *Item, most int) error {
	// one at a time, so that each counts those before it
	one := s.steering[maphash.String(steeringSeed, session)%uint64(len(s.steering))]
	select {
	case one <- struct{}{}:
		defer func() { <-one }()
	case <-ctx.Done():
		return ctx.Err()
	}
	// the run that expects it is that of a fact after After: one that has ended before isn't driven
	driven := s.driven(session, it.ID)
	if err := s.hasRoom(ctx, session, it, most); err != nil {
		return err
	}
	if !driven {
		if err := s.InProgress(ctx, session); err != nil {
			return err
		}
	}
	return s.Post(ctx, session, *it)
}

// hasRoom sets After, and returns an error if a message can't wait together with those that do.
func (s *Sessions) hasRoom(ctx context.Context, session string, it *Item, most int) error {
	head, err := s.Store.Head(ctx, session)
	it.After = head.Seq
	if errors.Is(err, journal.ErrNoSession) || err == nil && head.Inbox == 0 {
		return nil
	}
	if err != nil {
		return unanswered(session, "reading its head", err)
	}
	posted, err := s.Store.Take(ctx, session, head.Fence)
	if errors.As(err, new(*journal.ConflictError)) { // its run has ended, or goes on elsewhere
		return nil
	}
	if err != nil {
		return unanswered(session, "reading its inbox", err)
	}
	posted = slices.DeleteFunc(posted, func(p journal.Item) bool { return p.Kind != ItemSteer })
	size := 0 // as they are stored, which is about what a request has of them
	for _, p := range posted {
		if size += len(p.Data); p.ID == it.ID {
			return nil
		}
	}
	if len(posted) == 0 || len(posted) < maxUnread && (most < 0 || size+len(it.Text) <= most) {
		return nil
	}
	bound := fmt.Sprintf("At most %d may wait", maxUnread)
	if most >= 0 {
		bound += fmt.Sprintf(", with %d bytes in all", most)
	}
	return &machine.SessionError{Session: session, Code: machine.ErrUnread,
		Problem: fmt.Sprintf("this message of %d bytes isn't sent: the run hasn't read %d of the messages before it, "+
			"which have %d bytes. %s. Send it again once they have been read, or stop the run", len(it.Text), len(posted),
			size, bound)}
}

// Inbox returns the items in the session's inbox, oldest first, and leaves them there. Items that
// can't be read have no content. If Ctx ends meanwhile, it returns none.
func (l *Log) Inbox() (items []Item) {
	if l.Lost() {
		return nil
	}
	ctx := l.Reads
	if ctx.Err() != nil { // what is left to do has its own time
		ctx = l.Stored
	}
	items, err := l.readInbox(ctx)
	if err != nil && ctx.Err() == nil {
		l.sessions.Logger.WarnContext(l.Ctx, "agent: reading the inbox", "session", l.Name, "error", err)
	}
	for i := range items {
		if it := &items[i]; it.err != nil {
			l.sessions.Logger.WarnContext(l.Ctx, "agent: an inbox item can't be read and is ignored", "session", l.Name,
				"item", it.ID, "error", it.err)
		}
	}
	return items
}

// readInbox is Inbox with an error. If another process has the session, Ctx ends.
func (l *Log) readInbox(ctx context.Context) (items []Item, err error) {
	posted, err := l.sessions.Store.Take(ctx, l.Name, l.lease.Fence)
	if err != nil {
		if _, ok := errors.AsType[*journal.ConflictError](err); ok && ctx.Err() == nil {
			l.Cancel(busy(l.Name, err))
		}
		return nil, err
	}
	for _, p := range posted {
		it := Item{}
		it.err = json.Unmarshal(p.Data, &it)
		it.ID, it.Kind, it.Time = p.ID, p.Kind, p.Time
		items = append(items, it)
	}
	return items, nil
}

// Remove removes items from the inbox before they are acted on, and refuses those that come with
// these ids, or close them, from now on. It returns false if they may still be there.
func (l *Log) Remove(ids ...string) bool {
	l.Lock()
	app := journal.Append{Session: l.Name, After: l.State().Seq, Fence: l.lease.Fence, Taken: ids}
	l.Unlock()
	if err := l.sessions.Store.Append(l.Stored, app); err != nil {
		l.sessions.Logger.WarnContext(l.Ctx, "agent: removing inbox items", "session", l.Name, "items", ids, "error",
			err)
		return journal.Unclear(err) // if it is gone, this is the only process that knows it
	}
	return true
}
