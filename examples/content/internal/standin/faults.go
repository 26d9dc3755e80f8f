package standin

import (
	"context"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

// Faults returns models for trying out what happens when something fails:
//
//   - "" is the stand-in model alone.
//   - "provider" is a model that always fails, and then the stand-in model.
//   - "KIND:N" is the stand-in model, whose Nth call of a kind (insights, skeleton, writer,
//     humanizer, topics) fails once.
func Faults(spec string) ([]provider.Provider, error) {
	kind, text, counted := strings.Cut(spec, ":")
	n, err := strconv.Atoi(text)
	switch {
	case spec == "":
		return []provider.Provider{Model()}, nil
	case spec == "provider":
		return []provider.Provider{&failing{Provider: Model(), fails: func(string) error {
			return fault.New(fault.UserFixable, "the provider has no valid key")
		}}, Model()}, nil
	case !counted || err != nil || n < 1 || kind == "":
		return nil, fmt.Errorf("%q isn't a fault; use provider, or a kind of call and a number, such as writer:3", spec)
	}
	var calls atomic.Int64
	return []provider.Provider{&failing{Provider: Model(), fails: func(of string) error {
		if of == kind && calls.Add(1) == int64(n) {
			return fault.New(fault.Permanent, "the model refuses")
		}
		return nil
	}}}, nil
}

// failing is a provider, some of whose calls fail.
type failing struct {
	provider.Provider
	fails func(kind string) error
}

// Stream fails, or calls the provider.
func (f *failing) Stream(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
	if err := f.fails(req.Labels.Kind); err != nil {
		return func(yield func(provider.Chunk, error) bool) { yield(provider.Chunk{}, err) }
	}
	return f.Provider.Stream(ctx, req)
}
