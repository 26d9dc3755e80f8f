package session

import (
	"context"
	"strings"

	"github.com/pawlkit/pawl/agent/journal"
)

type addressKey struct{}

// WithAddress returns a context for runs whose leases say where the process is reached that drives
// them: see [AddressOf].
func WithAddress(ctx context.Context, address string) context.Context {
	if address == "" {
		return ctx
	}
	return context.WithValue(ctx, addressKey{}, address)
}

// Owner returns the owner of a lease with this name: with the address of ctx, if it has one.
func Owner(ctx context.Context, name string) string {
	if address, ok := ctx.Value(addressKey{}).(string); ok {
		return name + " " + address
	}
	return name
}

type claimKey struct{}

// WithClaim returns a context in which the lease of a session is taken by who has it already,
// because it was claimed from the queue: see [journal.Queue].
func WithClaim(ctx context.Context, l journal.Lease) context.Context {
	return context.WithValue(ctx, claimKey{}, l)
}

// ownerOf returns the owner of a session's lease: who has claimed it, or somebody new.
func (s *Sessions) ownerOf(ctx context.Context, session string) string {
	if l, ok := ctx.Value(claimKey{}).(journal.Lease); ok && l.Session == session {
		return l.Owner
	}
	return Owner(ctx, s.Owner+"/"+s.NewID(""))
}

// AddressOf returns the address in the owner of a lease; empty if there is none.
func AddressOf(owner string) string {
	space := strings.LastIndexByte(owner, ' ')
	if space < 0 {
		return ""
	}
	address := owner[space+1:]
	if strings.HasPrefix(address, "http://") || strings.HasPrefix(address, "https://") {
		return address
	}
	return ""
}
