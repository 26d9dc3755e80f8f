package assistant

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/pawlkit/pawl/examples/content/internal/contenttools"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
)

// Idle is how long "this" means the artifact that a conversation was about, and how long a
// conversation is the user's current one.
const idle = 30 * time.Minute

// chatPrefix begins the names of conversations in the journal: chat/<hash of the user>/<name>/<n>.
const chatPrefix = "chat/"

// Main is the name of the conversation of the pages.
const Main = "main"

// Conversation returns the session in the journal of a conversation of a user. One that was idle
// for 30 minutes is followed by a new one, and so is any if fresh is set.
func (s *Services) Conversation(ctx context.Context, user, name string, fresh bool) (session string, err error) {
	if name = strings.TrimPrefix(name, user+"/"); name == "" {
		name = Main
	}
	if len(name) > 64 || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' || r == '/' }) {
		return "", portfolio.Errorf(portfolio.InvalidInput,
			"A sessionId has at most 64 letters, digits and signs, but no /.")
	}
	v, err := s.Store.ChangeSession(ctx, user, name, func(v *portfolio.Session) {
		if fresh || !v.Used.IsZero() && time.Since(v.Used) > idle {
			*v = portfolio.Session{Thread: v.Thread + 1}
		}
	})
	return fmt.Sprintf("%s%s/%s/%d", chatPrefix, portfolio.Hash(user, s.cfg.Salt), name, v.Thread+1), err
}

// Reserved reports whether a session has the name of a conversation of another user, or of a
// pipeline: this user can't begin it.
func (s *Services) Reserved(user, session string) bool {
	return strings.HasPrefix(session, contenttools.PipelinePrefix) || strings.HasPrefix(session, chatPrefix) &&
		!strings.HasPrefix(session, chatPrefix+portfolio.Hash(user, s.cfg.Salt)+"/")
}

// nameOf returns the name under which a session's state is kept.
func nameOf(session string) string {
	if parts := strings.Split(session, "/"); len(parts) == 4 && parts[0]+"/" == chatPrefix {
		return parts[2]
	}
	return session
}

// about returns the artifact that a conversation is about while this one is open, and says which
// one it is about from now on: the first of ids that isn't empty. It is about none if another one
// was open when it was named.
func (s *Services) about(ctx context.Context, user, session, open string, ids ...string) (before string, err error) {
	_, err = s.Store.ChangeSession(ctx, user, nameOf(session), func(v *portfolio.Session) {
		named, at, _ := strings.Cut(v.Artifact, " ")
		if at == open || open == "" {
			before = named
		}
		if !v.Used.IsZero() && time.Since(v.Used) > idle {
			before = ""
		}
		v.Used = time.Now()
		for _, id := range ids {
			if id != "" {
				v.Artifact = id + " " + open
				break
			}
		}
	})
	return before, err
}
