package journal

import "context"

// A Transactor is a [Store] that can make several changes at once. It is optional.
type Transactor interface {
	Store
	// Transact calls fn with a store for this one transaction: when fn returns nil, its changes are
	// made together, and otherwise none is. After an error of a change, fn should return it. fn may
	// be called again if the transaction could not be committed because of another one; its store
	// is used by one goroutine at a time, and not after fn has returned. fn must not use the
	// Transactor itself, which may wait for the transaction.
	Transact(ctx context.Context, fn func(context.Context, Store) error) error
}
