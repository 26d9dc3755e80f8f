package main

import (
	"context"
	"iter"
	"slices"

	"github.com/pawlkit/pawl/provider"
)

// quick are the kinds of calls that a small model makes well. Outlines, revisions and the chat need
// a strong one.
var quick = []string{"writer", "insights", "topics"}

// roles is a provider whose quick calls are made by another of its models.
type roles struct {
	provider.Provider
	quick string // the model's name
}

// Stream makes the call.
func (r roles) Stream(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
	if slices.Contains(quick, req.Labels.Kind) {
		own := *req
		own.Model = r.quick
		req = &own
	}
	return r.Provider.Stream(ctx, req)
}

// EndsWithContext reports whether the provider declares that it ends with its context.
func (r roles) EndsWithContext() bool { return provider.EndsWithContext(r.Provider) }

// Info describes the strong model.
func (r roles) Info() provider.ModelInfo {
	info, _ := provider.Info(r.Provider)
	return info
}
