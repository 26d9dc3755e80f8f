package site

import (
	"context"
	"encoding/json"
)

// once is commit for a request that may be repeated because its caller doesn't know whether it was carried out. The first successful
// request with a key takes effect; later ones return its result. A request without a key is always carried out.
func once[T any](ctx context.Context, s *Site, key, doing string, fn func(*txn) (*T, error)) (*T, error) {
	return commit(ctx, s, doing, func(tx *txn) (*T, error) { return repeatable(tx, key, doing, fn) })
}

// repeatable is once in a transaction.
func repeatable[T any](tx *txn, key, doing string, fn func(*txn) (*T, error)) (*T, error) {
	if key == "" {
		return fn(tx)
	}
	if err := checkText("the key", key, 0, maxLabel); err != nil {
		return nil, err
	}
	var did, kept string
	if tx.first([]any{&did, &kept}, "SELECT doing, result FROM done_calls WHERE key = ?", key) {
		if did != doing {
			return nil, invalid("give each request a key of its own", "the key was used for %s", did)
		}
		result := new(T)
		return result, json.Unmarshal([]byte(kept), result)
	}
	result, err := fn(tx)
	if err != nil {
		return nil, err
	}
	tx.insert("done_calls", record{"key": key, "doing": doing, "result": object{result}, "at": tx.now})
	return result, nil
}
