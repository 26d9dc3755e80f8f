package tools

import (
	"context"

	"github.com/pawlkit/pawl/provider"
)

// A Source is a set of tools that may change during an agent's lifetime: those of a server, or
// skills that are loaded on demand. Its methods may be called from several goroutines at a time.
type Source interface {
	// Name names the source. It must be unique in an agent and never change: the tools of sources
	// are offered in the order of their names.
	Name() string
	// List returns the tools that there are now, in any order. It is called when a run starts or is
	// resumed, so a source with a connection should keep its list. Tools that are of type
	// *[Definition] aren't compiled again for each run. ctx says for whom the tools are listed
	// ([ListingOf]), so lists may differ per credential. A tool with the same name in two lists is
	// the same tool, perhaps changed.
	List(ctx context.Context) ([]Tool, error)
	// Changed returns a channel that is closed when the list may differ from what List returned
	// last; from then on Changed returns another channel. A source that can't tell, or never
	// changes, returns nil.
	Changed() <-chan struct{}
}

// A Listing says for whom a [Source] lists its tools.
type Listing struct {
	Session string // for a subagent, that of the outermost run
	User    string
	Labels  provider.LabelSet
}

type listingKey struct{}

// WithListing returns a context for [Source.List] that carries l. Agents call it.
func WithListing(ctx context.Context, l Listing) context.Context {
	return context.WithValue(ctx, listingKey{}, l)
}

// ListingOf returns for whom tools are listed. Outside of a call of [Source.List] that an agent
// makes, it returns false.
func ListingOf(ctx context.Context) (Listing, bool) {
	if ctx == nil {
		return Listing{}, false
	}
	l, ok := ctx.Value(listingKey{}).(Listing)
	return l, ok
}
