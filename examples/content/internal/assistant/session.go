package assistant

import (
	"context"
	"regexp"
	"time"

	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
)

// A Session is what is remembered of a conversation: the artifact that "this" means, and what was
// last asked. It survives the process.
type Session = portfolio.Session

// idle is how long a session lasts without a message.
const idle = 30 * time.Minute

// History is how many turns of a session the model sees.
const History = 10

var startOver = regexp.MustCompile(`(?i)\b(?:start over|new conversation|new topic|reset)\b`)

// The reasons for a new conversation.
const (
	becauseSaid     = "the user starts over"
	becauseIdle     = "30 minutes without a message"
	becauseArtifact = "another artifact"
)

// resets reports why a message begins a new conversation; empty if it doesn't.
func resets(v *Session, message, artifact string, now time.Time) string {
	switch {
	case startOver.MatchString(message):
		return becauseSaid
	case !v.Used.IsZero() && now.Sub(v.Used) > idle:
		return becauseIdle
	case v.Artifact != "" && artifact != "" && v.Artifact != artifact:
		return becauseArtifact
	}
	return ""
}

// session returns the session of a request, reset if need be, and why. artifact is what the message
// or the screen names.
func (s *Services) session(ctx context.Context, id, user, message, artifact string, now time.Time) (v Session,
	why string, err error) {
	v, err = s.Store.ChangeSession(ctx, user, id, func(v *Session) {
		if why = resets(v, message, artifact, now); why != "" {
			*v = Session{Thread: v.Thread + 1}
		}
		v.Used, v.Artifact = now, orElse(artifact, v.Artifact)
	})
	return v, why, err
}

// Session returns what is remembered of a conversation of a user; nothing if there was none.
func (s *Services) Session(ctx context.Context, id, user string) (Session, error) {
	return s.Store.Session(ctx, user, id)
}

// ResetSession makes the next message of a user begin a new conversation.
func (s *Services) ResetSession(ctx context.Context, id, user string) (Session, error) {
	v, _, err := s.session(ctx, id, user, "start over", "", time.Now())
	return v, err
}
