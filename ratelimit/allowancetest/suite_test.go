package allowancetest_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/pawlkit/pawl/ratelimit"
	"github.com/pawlkit/pawl/ratelimit/allowancetest"
)

// rows is a store as one over SQL is: a row has JSON and a version, and a write succeeds only if
// the version is the one that was read.
type rows struct {
	mu  sync.Mutex // guards row
	row map[string]row
}

type row struct {
	version int
	state   []byte
}

func (r *rows) Update(ctx context.Context, key string, change ratelimit.AllowanceChange) error {
	for ctx.Err() == nil {
		r.mu.Lock()
		old := r.row[key]
		r.mu.Unlock()
		var state ratelimit.AllowanceState
		if old.version > 0 {
			if err := json.Unmarshal(old.state, &state); err != nil {
				return err
			}
		}
		state, err := change(state, time.Now())
		if err != nil {
			return err
		}
		text, err := json.Marshal(state)
		if err != nil {
			return err
		}
		if r.swap(key, old.version, text) {
			return nil
		}
	}
	return context.Cause(ctx)
}

func (r *rows) swap(key string, version int, state []byte) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.row[key].version != version {
		return false
	}
	r.row[key] = row{version + 1, state}
	return true
}

func TestAStoreThatComparesVersionsPasses(t *testing.T) {
	allowancetest.Run(t, func(*testing.T) ratelimit.AllowanceStore { return &rows{row: make(map[string]row)} })
}
