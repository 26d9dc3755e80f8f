package providertest

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

// A recorder is a testing.TB that notes failures and doesn't fail.
type recorder struct {
	testing.TB

	mu       sync.Mutex // guards failures
	failures []string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func (r *recorder) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.failures, "\n")
}
