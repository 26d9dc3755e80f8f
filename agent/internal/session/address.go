package session

import (
	"context"
	"strings"
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

// owner returns the owner of a lease with this name: with the address of ctx, if it has one.
func owner(ctx context.Context, name string) string {
	if address, ok := ctx.Value(addressKey{}).(string); ok {
		return name + " " + address
	}
	return name
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
