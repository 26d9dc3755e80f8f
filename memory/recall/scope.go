package recall

import (
	"context"
	"errors"
	"fmt"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider/secret"
	"github.com/pawlkit/pawl/tools"
)

// A Scope selects the memory of a call. The host sets it; no tool takes any part of it from a
// model.
type Scope struct {
	// Tenant is whose facts, mistakes and preferences these are: the user of the call
	// ([tools.Call].User), or a team or project whose users share a memory. No tenant reads or
	// counts what belongs to another. 1 to 256 bytes.
	Tenant string
	// Session is whose notes and todo list these are. 1 to 256 bytes.
	Session string
}

func (s Scope) check() error {
	if err := checkName("tenant", s.Tenant, 256); err != nil {
		return fmt.Errorf("recall: Scope: %w", err)
	}
	if err := checkName("session", s.Session, 256); err != nil {
		return fmt.Errorf("recall: Scope: %w", err)
	}
	return nil
}

// scopeOf returns the scope of a call. An incomplete scope is a mistake of the host, which no model
// can correct.
func scopeOf(ctx context.Context, of func(context.Context) (Scope, error)) (Scope, error) {
	s, err := of(ctx)
	if err != nil {
		return Scope{}, fmt.Errorf("recall: the scope of the call: %w", err)
	}
	return s, fault.Wrap(fault.Permanent, s.check())
}

// Fixed returns a Config.Scope that is the same for every call: for an agent that is made for one
// session.
func Fixed(s Scope) func(context.Context) (Scope, error) {
	return func(context.Context) (Scope, error) { return s, nil }
}

// OfCall returns a Config.Scope for an agent that many sessions of one tenant share: the session is
// that of the call ([tools.CallOf]).
func OfCall(tenant string) func(context.Context) (Scope, error) {
	return func(ctx context.Context) (Scope, error) {
		call, ok := tools.CallOf(ctx)
		if !ok {
			return Scope{}, errors.New("recall: the context isn't that of a tool call")
		}
		return Scope{Tenant: tenant, Session: call.Session}, nil
	}
}

// Config configures a [Toolset].
type Config struct {
	// Store stores the memory. Required: a &MapStore{}, or package sqlmemory or pgmemory.
	Store Store
	// Scope returns the scope of a call. Required: [Fixed], [OfCall], or a function that uses the
	// host's own context. If it returns an error or an incomplete scope, the call fails and changes
	// nothing.
	Scope func(ctx context.Context) (Scope, error)
	// Redact removes secrets from a text before it is stored. nil: [secret.Redact]. It must not
	// change its own output, because texts are read and stored again. A key that it would change is
	// rejected.
	Redact func(text string) string
}

// A Toolset makes the tools. It is safe for concurrent use.
type Toolset struct {
	store  Store
	scope  func(context.Context) (Scope, error)
	redact func(string) string
}

// New returns a Toolset, or an error that names the missing field.
func New(cfg Config) (*Toolset, error) {
	if cfg.Store == nil {
		return nil, errors.New("recall: Config.Store is nil; set it to a store, such as &recall.MapStore{}")
	}
	if cfg.Scope == nil {
		return nil, errors.New("recall: Config.Scope is nil; set it to recall.Fixed or recall.OfCall")
	}
	if cfg.Redact == nil {
		cfg.Redact = secret.Redact
	}
	return &Toolset{store: cfg.Store, scope: cfg.Scope, redact: cfg.Redact}, nil
}

// Tools returns all tools of the memory: those of [Toolset.Notes], [Toolset.Todo], [Toolset.Facts],
// [Toolset.Mistakes] and [Toolset.Preferences].
func (m *Toolset) Tools() []tools.Tool {
	var all []tools.Tool
	for _, group := range [][]tools.Tool{m.Notes(), m.Todo(), m.Facts(), m.Mistakes(), m.Preferences()} {
		all = append(all, group...)
	}
	return all
}

// The kinds of entries. Those of a session end in its name.
const (
	kindNote       = "note:"
	kindTodo       = "todo:"
	kindFact       = "fact"
	kindMistake    = "mistake"
	kindPreference = "preference"
)

// where returns the id of an entry in the scope of ctx.
func (m *Toolset) where(ctx context.Context, kind, key string) (ID, error) {
	s, err := scopeOf(ctx, m.scope)
	if err != nil {
		return ID{}, err
	}
	if kind == kindNote || kind == kindTodo {
		kind += s.Session
	}
	return ID{Tenant: s.Tenant, Kind: kind, Key: key}, nil
}

// ForgetSession deletes the notes and the todo list of a session. The host must call it when a
// session is deleted, because they count towards the limits of the tenant.
func ForgetSession(ctx context.Context, store Store, s Scope) error {
	if err := s.check(); err != nil {
		return err
	}
	for _, kind := range []string{kindNote, kindTodo} {
		if err := forget(ctx, store, s.Tenant, kind+s.Session); err != nil {
			return err
		}
	}
	return nil
}

// ForgetTenant deletes all entries of a tenant.
func ForgetTenant(ctx context.Context, store Store, tenant string) error {
	return forget(ctx, store, tenant, "")
}

func forget(ctx context.Context, store Store, tenant, kind string) error {
	list, err := store.List(ctx, tenant, kind)
	if err != nil {
		return err
	}
	for i := range list {
		if err := store.Delete(ctx, list[i].ID, 0); err != nil && fault.Of(err) != fault.NotFound {
			return err
		}
	}
	return nil
}
