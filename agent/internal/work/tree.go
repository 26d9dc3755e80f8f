package work

import (
	"context"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
)

// A Run is what a context belongs to: a run that is driven, or the [Ancestors] of those that begin
// with the context.
type Run interface {
	// Ancestors returns the ancestors of what the run starts.
	Ancestors() []machine.Ancestor
	// CallLabels returns the labels of a model call of that kind that a package of the agent makes
	// for the run.
	CallLabels(kind string) provider.Labels
}

// Ancestors are those of the runs that begin with a context.
type Ancestors []machine.Ancestor

// Ancestors returns a.
func (a Ancestors) Ancestors() []machine.Ancestor { return a }

// CallLabels returns labels with the kind alone.
func (Ancestors) CallLabels(kind string) provider.Labels { return provider.Labels{Kind: kind} }

type runKey struct{}

// WithRun returns a context that belongs to a run; with nil, to none.
func WithRun(ctx context.Context, r Run) context.Context { return context.WithValue(ctx, runKey{}, r) }

// RunOf returns the run that ctx belongs to, or nil.
func RunOf(ctx context.Context) Run {
	r, _ := ctx.Value(runKey{}).(Run)
	return r
}

type outermostKey struct{}

// WithOutermost returns a context for policies and hooks of a session whose work is done for that
// one: see machine.State.Outermost.
func WithOutermost(ctx context.Context, session string) context.Context {
	return context.WithValue(ctx, outermostKey{}, session)
}

// Outermost returns what [WithOutermost] was told, or "".
func Outermost(ctx context.Context) string {
	session, _ := ctx.Value(outermostKey{}).(string)
	return session
}

// Tree returns the ancestors of a run that begins with ctx: those of what the run starts that ctx
// belongs to, or none.
func Tree(ctx context.Context) []machine.Ancestor {
	if r := RunOf(ctx); r != nil {
		return r.Ancestors()
	}
	return nil
}
