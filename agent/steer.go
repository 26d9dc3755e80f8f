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
)

// steer posts a message to the run of a session.
func (a *Agent) steer(ctx context.Context, name, text string) (*Receipt, error) {
	after := uint64(0) // in the log its delivery comes later
	if head, err := a.sessions.Store.Head(ctx, name); err == nil {
		after = head.Seq
	}
	id, err := a.sessions.Send(ctx, name, session.Item{ID: newID("m-"), Kind: session.ItemSteer, Text: text})
	if err != nil {
		return nil, err
	}
	return a.receipt(name, id, after), nil
}

// receipt returns the receipt of a message whose delivery comes after a fact of the log.
func (a *Agent) receipt(session, id string, after uint64) *Receipt {
	return &Receipt{func(ctx context.Context) (int, error) { return a.follow(ctx, session, id, after) }}
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
	return a.receipt(name, it.ID, s.Seq), nil
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
