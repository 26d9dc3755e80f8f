package agent

import (
	"cmp"
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

// steer posts a message to the run of a session. The id of one with a key is made of the key and
// the run, so that the store accepts it once. If the run has dropped that one, it is posted again,
// under another id.
func (a *Agent) steer(ctx context.Context, name, key, text string) (*Receipt, error) {
	it := session.Item{ID: newID("m-"), Kind: session.ItemSteer, Text: text, Key: key, Outside: outsideOf(ctx)}
	for dropped, known := "", uint64(0); ; dropped = it.ID {
		if key != "" {
			m, err := a.sessions.Load(ctx, name)
			if err != nil {
				return nil, err
			}
			s := m.State()
			if err := duplicate(s, key); err != nil {
				return nil, err
			}
			if s.Run == nil {
				return nil, nothingOpen(name, nil)
			}
			it.ID, known = messageID(cmp.Or(dropped, s.Run.ID), key), s.Seq
		}
		err := a.sessions.Steer(ctx, name, &it, a.cfg.Limits.WithDefaults().PromptBytes)
		posted, again := errors.AsType[*journal.PostedError](err)
		if again = again && key != ""; err != nil && !again {
			return nil, err
		}
		if err == nil || !posted.Taken {
			after := it.After // in the log its delivery comes later
			if again {
				after = known
			}
			return &Receipt{func(ctx context.Context) (int, error) { return a.delivered(ctx, name, it.ID, after) }}, nil
		}
	}
}

// messageID returns the id of a message with a key, after the id of its run or of the message with
// that key before it.
func messageID(after, key string) string {
	sum := sha256.Sum256([]byte(after + "\x00" + key))
	return "m-" + hex.EncodeToString(sum[:16])
}

// Steer sends a message to the run in progress, in this or another process, and returns without
// waiting. The model reads the message before its next call; a run that was about to finish makes
// one more step. If no run is in progress, the error is [ErrNothingOpen].
//
// A sender that may send the message again, because it doesn't know whether the first one arrived,
// gives it a key, like [Input].Key; at most one, and an empty one is none. If the session had an
// input or a message with the same key, the error is [ErrDuplicate]. While the first one waits to
// be read, nothing is sent, and the Receipt is about the first one. A message that its run dropped
// because it ended or paused may be sent again with its key.
//
// The messages that wait to be read are at most 200, and together have as many bytes, as JSON, as
// one prompt may have ([Limits].PromptBytes of the Config, 4 MiB). A further one is refused with
// [ErrUnread], whose Problem has the figures. If several processes send at the same moment, each of
// them may exceed that by one message.
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
	receipt, err := s.agent.steer(ctx, s.id, once, text)
	return receipt, noRun(err, "nothing reads the message; start a run with it as its prompt")
}

// A Receipt reports whether a message to a run was delivered.
type Receipt struct {
	wait func(ctx context.Context) (int, error)
}

// Wait waits until the message is delivered and returns the step whose model call contains it. If
// the run ends or pauses first, it returns an error. It reads the session's log, at once for a run
// of this process and at intervals of up to 2 s for another. If the session is gone, what became of
// the message isn't known, and that is an error, too. Wait is safe for concurrent use.
func (r *Receipt) Wait(ctx context.Context) (step int, err error) {
	if r == nil || r.wait == nil {
		return 0, errNoReceipt
	}
	return r.wait(orBackground(ctx))
}

var errNoReceipt = errors.New("agent: this Receipt is nil or empty; Steer makes one")

var (
	errNotDelivered = errors.New("agent: the run ended or paused before the message could be delivered")
	errGone         = errors.New("agent: the session is gone; it isn't known whether the message was delivered")
)

// delivered reads a session's log after a fact until it says whether a message was delivered.
func (a *Agent) delivered(ctx context.Context, session, id string, after uint64) (step int, err error) {
	w := a.follow(session, after)
	defer w.leave()
	for read := false; ; {
		over := a.isOver(ctx, session)
		facts, err := w.read(ctx)
		switch {
		case errors.Is(err, ErrNothingOpen):
			return 0, errGone
		case err != nil:
			return 0, err
		case len(facts) == 0 && over:
			return 0, errNotDelivered
		}
		for _, f := range facts {
			switch f := f.(type) {
			case *machine.Steered:
				read = read || f.ID == id
			case *StepStarted:
				if read {
					return f.Step, nil
				}
			case *RunEnded:
				if f.Code != machine.CodeContextReset && !machine.GoesOn(f.Code) { // then the run that goes on reads it
					return 0, errNotDelivered
				}
			}
		}
		if err := w.await(ctx); err != nil {
			return 0, err
		}
	}
}

// isOver reports whether the run of a session has ended, or waits for a decision.
func (a *Agent) isOver(ctx context.Context, session string) bool {
	e, ok := errors.AsType[*SessionError](a.sessions.InProgress(ctx, session))
	return ok && e.Code == ErrNothingOpen && e.Status != Running && e.Status != Queued
}
