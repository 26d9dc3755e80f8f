package serve

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/circuit/fault"
)

// An Action is what a request wants to do: ActionList, ActionRead, ActionSend, ActionDecide,
// ActionControl, ActionEdit or ActionDelete.
type Action string

// The actions that an authorizer is asked about.
const (
	ActionList Action = "list" // list one's own sessions; the session is empty
	ActionRead Action = "read" // read a session: its messages, pauses and events
	// start a run, in a new session or in an existing one, or steer the one in progress
	ActionSend   Action = "send"
	ActionDecide Action = "decide" // decide on pauses, or return results of the front end's tools
	// stop, cancel, pause or continue a run, undo what it did, switch its mode, revoke a standing
	// approval
	ActionControl Action = "control"
	ActionEdit    Action = "edit" // set the title, or make a copy
	ActionDelete  Action = "delete"
)

// ErrSignIn is the error with which Config.Authorize says that it doesn't know who is asking. The
// answer has status 401.
var ErrSignIn = fault.New(fault.UserFixable, "serve: sign in first")

// ErrTryAgain is the error with which a function of the host that decides who may do what says that
// it can't tell now, because its database doesn't answer, for example. Nothing is permitted, and
// the answer has status 503 with Retry-After. So it is for any error whose class says that it may
// go away (fault.Retryable of fault.Of), such as a refused connection or the end of a time limit.
var ErrTryAgain = fault.New(fault.Transient, "serve: it can't be told now; try again")

// notNow returns the answer to an error that says that something can't be told now, and nil for any
// other.
func notNow(err error) *problem {
	if err == nil || errors.Is(err, errPanic) || errors.Is(err, ErrSignIn) ||
		!errors.Is(err, context.Canceled) && !fault.Retryable(fault.Of(err)) {
		return nil
	}
	return unavailable(err)
}

// An Access is a request for a session that belongs to somebody else.
type Access struct {
	Session string
	Owner   string // empty: the host started the session, for nobody
	User    string // from Config.Authorize
	Action  Action
}

// A grant is the permission to do something.
type grant struct {
	session *agent.Session
	user    string
	owner   string // of a session that exists
	exists  bool
	facts   uint64 // the number of its newest fact
	running bool   // a run was in progress
	// the server that drives the run can't be reached
	unreachable bool
}

// allow asks whether a request may do something with a session. Sessions that don't exist may only
// be sent to.
func (s *server) allow(r *http.Request, session string, action Action) (*grant, *problem) {
	user, p := s.identify(r, session, action)
	if p != nil {
		return nil, p
	}
	g := &grant{session: s.agent.Session(session), user: user}
	info, err := s.hub.Owned(r.Context(), session, user)
	switch {
	case err == nil:
	case errors.Is(err, agent.ErrNothingOpen) && action == ActionSend:
		return g, nil
	case errors.Is(err, agent.ErrNotOwner) && info.Session != "":
		refused := s.admits(r, Access{Session: session, Owner: info.Owner, User: user, Action: action})
		if p := notNow(refused); p != nil {
			return nil, p
		}
		if refused != nil {
			return nil, failed(err)
		}
	default:
		return nil, failed(err)
	}
	g.exists, g.owner, g.facts, g.running = true, info.Owner, info.Facts, info.Status == agent.Running
	return g, nil
}

// identify returns who makes a request, if it may do that. A panic denies.
func (s *server) identify(r *http.Request, session string, action Action) (user string, p *problem) {
	err := host("Config.Authorize", func() (err error) {
		user, err = s.cfg.Authorize(r, session, action)
		return err
	})
	switch {
	case err != nil:
		return "", s.denied(r, err, session, action)
	case user == "":
		return "", internal(errors.New("serve: Config.Authorize permits it but doesn't say to whom"))
	}
	return user, nil
}

// denied returns the answer to an error of Config.Authorize or of Config.AuthorizeItem.
func (s *server) denied(r *http.Request, err error, session string, action Action) *problem {
	if errors.Is(err, ErrSignIn) {
		return signIn()
	}
	if p := notNow(err); p != nil {
		return p
	}
	s.log.InfoContext(r.Context(), "serve: not authorized", "session", session, "action", string(action),
		"error", err)
	return fail(http.StatusForbidden, codeForbidden, fault.Denied, "you may not do this")
}

var errPanic = fault.New(fault.Permanent, "serve: a function of the host panicked")

// host calls the function of the host that a field of a configuration has. A panic of it, or of a
// method of its error, is an errPanic.
func host(field string, f func() error) (err error) {
	defer func() {
		v := recover()
		if v == nil {
			v = fault.Panics(err)
		}
		if v != nil {
			err = fmt.Errorf("%w: %s: %v", errPanic, field, v)
		}
	}()
	return f()
}

// logPanic logs the error of host if it is a panic.
func (s *server) logPanic(err error) {
	if errors.Is(err, errPanic) {
		s.log.Error("serve: it counts as a refusal, or as nothing", "error", err)
	}
}

var errNotWidened = fault.New(fault.Denied, "serve: Config.Widen is nil")

// admits returns nil if somebody who doesn't own a session may use it. A panic denies.
func (s *server) admits(r *http.Request, a Access) error {
	if s.cfg.Widen == nil {
		return errNotWidened
	}
	err := host("Config.Widen", func() error { return s.cfg.Widen(r, a) })
	s.logPanic(err)
	return err
}

type traceKey struct{}

// withTrace gives a request an id for errors: that of its traceparent, or a new one.
func withTrace(r *http.Request) *http.Request {
	var id string
	if f := strings.Split(r.Header.Get("Traceparent"), "-"); len(f) >= 4 && len(f[1]) == 32 &&
		strings.Trim(f[1], "0123456789abcdef") == "" {
		id = f[1]
	} else {
		var b [16]byte
		_, _ = rand.Read(b[:]) // never fails
		id = hex.EncodeToString(b[:])
	}
	return r.WithContext(context.WithValue(r.Context(), traceKey{}, id))
}

func traceOf(r *http.Request) string {
	id, _ := r.Context().Value(traceKey{}).(string)
	return id
}
