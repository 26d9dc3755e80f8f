package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
)

// steer posts a message to the run of a session.
func (a *Agent) steer(ctx context.Context, name, text string) (*Receipt, error) {
	it := session.Item{ID: newID("m-"), Kind: session.ItemSteer, Text: text}
	if x := a.driverOf(name); x != nil {
		if r := x.receipts.expect(it.ID, a.following(name, it.ID)); r != nil {
			if err := a.sessions.Post(ctx, name, it); err != nil {
				x.receipts.forget(it.ID)
				return nil, err
			}
			return r, nil
		}
	}
	after := uint64(0) // in the log its delivery comes later
	if head, err := a.sessions.Store.Head(ctx, name); err == nil {
		after = head.Seq
	}
	id, err := a.sessions.Send(ctx, name, it)
	if err != nil {
		return nil, err
	}
	return a.posted(name, id, after), nil
}

// posted returns the receipt of a message whose delivery comes after a fact of the log.
func (a *Agent) posted(session, id string, after uint64) *Receipt {
	return &Receipt{Posted: true, start: after, follow: a.following(session, id)}
}

// following returns the function that waits for a message.
func (a *Agent) following(session, id string) func(ctx context.Context, after uint64) (int, error) {
	return func(ctx context.Context, after uint64) (int, error) { return a.follow(ctx, session, id, after) }
}

// steerOnce posts a message with a key to the run of a session. Its id is made of the key and the
// run, so that the store accepts it once.
func (a *Agent) steerOnce(ctx context.Context, name, key, text string) (*Receipt, error) {
	m, err := a.sessions.Load(ctx, name)
	if err != nil {
		return nil, err
	}
	s := m.State()
	if err := duplicate(s, key); err != nil {
		return nil, err
	}
	if s.Run == nil {
		return nil, &SessionError{Session: name, Code: ErrNothingOpen}
	}
	sum := sha256.Sum256([]byte(s.Run.ID + "\x00" + key))
	it := session.Item{ID: "m-" + hex.EncodeToString(sum[:16]), Kind: session.ItemSteer, Text: text, Key: key}
	_, err = a.sessions.Send(ctx, name, it)
	if err != nil && !errors.As(err, new(*journal.PostedError)) {
		return nil, err
	}
	return a.posted(name, it.ID, s.Seq), nil
}

// follow watches a session until its log says whether a message was delivered.
func (a *Agent) follow(ctx context.Context, session, id string, after uint64) (step int, err error) {
	delivered := false
	for ev, err := range a.Session(session).Watch(ctx, after) {
		if errors.Is(err, ErrNothingOpen) {
			break
		}
		if err != nil {
			return 0, err
		}
		switch ev := ev.(type) {
		case *machine.Steered:
			delivered = delivered || ev.ID == id
		case *StepStarted:
			if delivered {
				return ev.Step, nil
			}
		case *RunEnded:
			switch ev.Code {
			case machine.CodeContextReset, machine.CodeLeg, machine.CodeDrained: // the run that goes on reads it
			default:
				return 0, errNotDelivered
			}
		}
	}
	return 0, errNotDelivered
}

// Steer sends a message to the run in progress, in this or another process, and returns without
// waiting. The model reads the message before its next call; a run that was about to finish makes
// one more step. If no run is in progress, the error is [ErrNothingOpen].
//
// A sender that may send the message again, because it doesn't know whether the first one arrived,
// gives it a key, like [Input].Key; at most one, and an empty one is none. If the session had an
// input or a message with the same key, the error is [ErrDuplicate]. While the first one waits to
// be read, nothing is sent, and the Receipt is about the first one.
func (s *Session) Steer(ctx context.Context, text string, key ...string) (*Receipt, error) {
	ctx, err := s.ready(ctx)
	if err != nil {
		return nil, err
	}
	if len(key) > 1 {
		return nil, &ArgError{Func: "Steer", Field: "key",
			Problem: fmt.Sprintf("there are %d keys; a message has one", len(key))}
	}
	once := strings.Join(key, "")
	if err := checkLine("Key", once, maxKey); err != nil {
		return nil, err
	}
	if err := s.agent.checkMessage(text); err != nil {
		return nil, err
	}
	text, err = s.agent.beforeInput(ctx, IncomingText{Session: s.id, Source: FromSteering, Text: text})
	if err != nil {
		return nil, err
	}
	if err := s.agent.checkMessage(text); err != nil { // once more: the hooks may have changed it
		return nil, err
	}
	text = s.agent.redact.Text(text)
	if once != "" {
		return s.agent.steerOnce(ctx, s.id, once, text)
	}
	return s.agent.steer(ctx, s.id, text)
}
