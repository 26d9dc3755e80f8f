package secret

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// A Set removes secrets that come and go from texts and errors: the credential of a user, for
// example, that one call of a tool needs. Its Text is a function for agent.Config.Redact. As with
// [Values], a secret is also removed in encoded forms, and short ones are ignored.
//
// A secret that is taken out of the set is removed from texts for as long as Keep says: the result
// of a call is stored after the call has ended, and a function that has ignored the end of its
// context may still write to a log.
//
// The zero value is an empty set. A Set is safe for concurrent use, and prints no secret.
type Set struct {
	// Keep is how long a secret is still removed after it was taken out; 0: 10 minutes. It must
	// not be changed once the set is in use.
	Keep time.Duration

	mu     sync.Mutex
	held   []*holding
	values *Values // of what is held; nil without secrets
	stale  bool    // values is older than held
}

// A holding is a secret of a set.
type holding struct {
	secret func() string // a function, because fmt prints only its address
	uses   int           // how often it was added and not taken out
	until  time.Time     // when it is forgotten, without uses
}

// Add puts a secret into the set, until the function that it returns is called. A secret that was
// added several times stays until it was taken out as often. Calling the function again has no
// effect.
func (s *Set) Add(secret string) (remove func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var h *holding
	if i := slices.IndexFunc(s.held, func(h *holding) bool { return h.secret() == secret }); i >= 0 {
		h = s.held[i]
	} else {
		h = &holding{secret: func() string { return secret }}
		s.held, s.stale = append(s.held, h), true
	}
	h.uses++
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		h.uses--
		h.until = time.Now().Add(cmp.Or(s.Keep, 10*time.Minute))
	})
}

// Text returns text with [Redacted] in place of the secrets.
func (s *Set) Text(text string) string { return s.current().Text(text) }

// Error returns err without the secrets: see [Values.Error].
func (s *Set) Error(err error) error { return s.current().Error(err) }

// current returns the secrets that are held now.
func (s *Set) current() *Values {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.held = slices.DeleteFunc(s.held, func(h *holding) bool {
		over := h.uses == 0 && !now.Before(h.until)
		s.stale = s.stale || over
		return over
	})
	if s.stale {
		var secrets []string
		for _, h := range s.held {
			secrets = append(secrets, h.secret())
		}
		s.values, s.stale = NewValues(secrets...), false
	}
	return s.values
}
