package providertest_test

import (
	"context"
	"iter"
	"strings"
	"testing"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

// Echo is a provider as a user writes it: the simplest that there can be.
type Echo struct{}

func (Echo) Stream(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		if !yield(provider.Start("echo-1"), nil) {
			return
		}
		for word := range strings.FieldsSeq(req.LastUserText()) {
			if !yield(provider.Text(word+" "), nil) {
				return
			}
		}
		yield(provider.End(provider.StopDone, provider.Usage{Input: 3, Output: 3}), nil)
	}
}

func TestASimpleProviderConforms(t *testing.T) {
	providertest.Conformance(t, func() provider.Provider { return Echo{} })
}
