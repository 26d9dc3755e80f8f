package adapter

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

// A Through runs a call, perhaps later and more than once, and returns its error; see guard.Do.
type Through = func(ctx context.Context, req *provider.Request, do func(context.Context) (provider.Usage, error)) error

// An Embedder has what the embedders of the adapters do alike. It is safe for concurrent use.
type Embedder struct {
	Name, Model string // of the provider and the model
	Size        int    // of each vector
	Batch       int    // the most texts of a request
	Through     Through
	// Call makes one request.
	Call func(ctx context.Context, texts []string) ([][]float32, provider.Usage, error)
}

// mostText is the most text of a request with several texts, in bytes. A provider's limit on the
// tokens of a request is above it.
const mostText = 256 << 10

// Vectors returns one vector for each text, in order, and the usage of all requests, also with an
// error. It makes the requests one after another.
func (e *Embedder) Vectors(ctx context.Context, texts []string) (vectors [][]float32, usage provider.Usage, err error) {
	if ctx == nil {
		ctx = context.Background()
	}
	for len(texts) > 0 {
		n, size := 0, 0
		for n < len(texts) && n < e.Batch && (n == 0 || size+len(texts[n]) <= mostText) {
			size += len(texts[n])
			n++
		}
		more, used, err := e.request(ctx, texts[:n])
		usage = usage.Add(used)
		if err != nil {
			return nil, usage, err
		}
		vectors = append(vectors, more...)
		texts = texts[n:]
	}
	return vectors, usage, nil
}

// request makes a request.
func (e *Embedder) request(ctx context.Context, texts []string) (vectors [][]float32, usage provider.Usage, err error) {
	if ctx.Err() != nil {
		return nil, usage, Over(ctx)
	}
	texts, bytes := slices.Clone(texts), 0
	req := &provider.Request{Model: e.Model, MaxOutput: 1, Labels: provider.Labels{Kind: "embed"}}
	parts := make([]provider.Part, len(texts))
	for i, text := range texts {
		texts[i] = cmp.Or(text, " ") // the APIs reject an empty text
		parts[i] = provider.TextPart(text)
		bytes += len(text)
	}
	req.Messages = []provider.Message{{Role: provider.RoleUser, Parts: parts}}
	do := func(ctx context.Context) (provider.Usage, error) {
		var used provider.Usage
		vectors = nil
		made, used, err := e.Call(ctx, texts)
		if err != nil {
			return used, err
		}
		if used.Total() == 0 {
			used = provider.Usage{Input: int64(bytes+2) / 3, Estimated: true}
		}
		usage = usage.Add(used)
		if err := e.check(made, len(texts)); err != nil {
			return used, err
		}
		vectors = made
		return used, nil
	}
	if e.Through == nil {
		_, err = do(ctx)
	} else {
		err = e.Through(ctx, req, do)
	}
	if err == nil && len(vectors) == 0 {
		err = fault.Errorf(fault.Invalid,
			"%s: EmbedderConfig.Through returned without an error, but didn't make the call", e.Name)
	}
	return vectors, usage, err
}

// check returns an error if these aren't n vectors of the right length.
func (e *Embedder) check(vectors [][]float32, n int) error {
	if len(vectors) != n {
		return Garbled(e.Name, fmt.Sprintf("%d vectors for %d texts", len(vectors), n), nil)
	}
	for _, v := range vectors {
		if len(v) != e.Size {
			return &provider.Error{Class: fault.UserFixable, Provider: e.Name, Model: e.Model, Status: 200,
				Message: fmt.Sprintf("the vectors have %d dimensions, not %d", len(v), e.Size),
				Remedy:  fmt.Sprintf("set EmbedderConfig.Dimensions to %d", len(v))}
		}
	}
	return nil
}
