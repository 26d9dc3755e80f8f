package fault_test

import (
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
)

// deep wraps err five times.
func deep(err error) error {
	for range 5 {
		err = fmt.Errorf("call: %w", err)
	}
	return err
}

var costs = []struct {
	name string
	err  error
}{
	{"explicit", fault.New(fault.Transient, "busy")},
	{"explicit, 5 deep", deep(fault.New(fault.Transient, "busy"))},
	{"inferred, 5 deep", deep(io.ErrUnexpectedEOF)},
	{"unknown, 5 deep", deep(errors.New("unknown"))},
	{"joined", errors.Join(errors.New("unknown"), fault.New(fault.Transient, "busy"))},
	{"HTTP", fault.WithRetryAfter(&fault.HTTPError{Status: 503}, time.Second)},
}

func BenchmarkOf(b *testing.B) {
	for _, c := range costs {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				fault.Of(c.err)
			}
		})
	}
}

func BenchmarkRetryAfter(b *testing.B) {
	err := deep(fault.WithRetryAfter(io.EOF, time.Second))
	b.ReportAllocs()
	for b.Loop() {
		fault.RetryAfter(err)
	}
}
