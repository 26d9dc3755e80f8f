package site

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
)

// doneCalls is the table with the results of requests that have a key.
const doneCalls = `CREATE TABLE done_calls (
  key    TEXT PRIMARY KEY,
  doing  TEXT NOT NULL,
  result TEXT NOT NULL CHECK (json_valid(result)),
  at     TEXT NOT NULL
) STRICT`

// once is commit for a request that may be repeated because its caller doesn't know whether it was carried out. The first successful
// request with a key takes effect; later ones return its result. A request without a key is always carried out.
func once[T any](ctx context.Context, s *Site, key, doing string, fn func(*sql.Tx) (*T, error)) (*T, error) {
	return commit(ctx, s, doing, func(tx *sql.Tx) (*T, error) {
		if key == "" {
			return fn(tx)
		}
		if err := checkText("the key", key, 0, maxLabel); err != nil {
			return nil, err
		}
		var did, text string
		err := tx.QueryRowContext(ctx, "SELECT doing, result FROM done_calls WHERE key = ?", key).Scan(&did, &text)
		switch {
		case err == nil && did != doing:
			return nil, invalid("give each request a key of its own", "the key was used for %s", did)
		case err == nil:
			result := new(T)
			return result, json.Unmarshal([]byte(text), result)
		case !errors.Is(err, sql.ErrNoRows):
			return nil, err
		}
		result, err := fn(tx)
		if err != nil {
			return nil, err
		}
		kept, err := json.Marshal(result)
		if err != nil {
			return nil, fmt.Errorf("storing the result: %w", err)
		}
		_, err = tx.ExecContext(ctx, "INSERT INTO done_calls (key, doing, result, at) VALUES (?, ?, ?, ?)", key, doing, string(kept), s.stamp())
		return result, err
	})
}
