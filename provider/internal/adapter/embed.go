package adapter

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

// A Through runs a call, perhaps later and more than once, and returns its error; see guard.Do.
type Through = func(ctx context.Context, req *provider.Request, do func(context.Context) (provider.Usage, error)) error

// An Embedding is a model that makes vectors.
type Embedding struct {
	Size, Window int
	Price        float64 // in dollars per million tokens
}

// Info returns the properties of the model.
func (e Embedding) Info(name, model, date, source string) provider.ModelInfo {
	return provider.ModelInfo{Provider: name, ID: model, Window: e.Window, Inputs: []string{"text"},
		Prices: Prices{e.Price, 0, e.Price}.Info(date, source)}
}

// An EmbedderConfig configures an [Embedder].
type EmbedderConfig struct {
	Provider, ID string // of the provider and the model
	Size         int    // of each vector
	Batch        int    // the most texts of a request
	Through      Through
	// Call makes one request.
	Call func(ctx context.Context, texts []string) ([][]float32, provider.Usage, error)
}

// An Embedder is the embedder of an adapter. It is safe for concurrent use.
type Embedder struct{ cfg EmbedderConfig }

// NewEmbedder returns an Embedder.
func NewEmbedder(cfg EmbedderConfig) Embedder { return Embedder{cfg} }

// CheckEmbedder returns the size of the vectors that an EmbedderConfig asks for, or what is wrong
// with it. known is what is known of the model, and mostBatch the most texts of a request.
func CheckEmbedder(adapter, model string, known Embedding, dimensions, batch, mostBatch int) (size int, err error) {
	size = cmp.Or(dimensions, known.Size)
	switch {
	case size == 0:
		return 0, fault.NewFixable(adapter+": the dimensions of "+model+" aren't known",
			"set EmbedderConfig.Dimensions to the length of its vectors", nil)
	case size < 0 || known.Size > 0 && size > known.Size:
		return 0, fault.Errorf(fault.Invalid, "%s: EmbedderConfig.Dimensions is %d; it can be 1 to %d, or 0", adapter,
			size, cmp.Or(known.Size, 1<<16))
	case batch < 0 || batch > mostBatch:
		return 0, fault.Errorf(fault.Invalid, "%s: EmbedderConfig.Batch is %d; it can be 1 to %d, or 0", adapter, batch,
			mostBatch)
	}
	return size, nil
}

// Model names the provider, the model and the dimensions.
func (e *Embedder) Model() string {
	return e.cfg.Provider + "/" + e.cfg.ID + "/" + strconv.Itoa(e.cfg.Size)
}

// Dimensions is the length of each vector.
func (e *Embedder) Dimensions() int { return e.cfg.Size }

// Embed returns one vector for each text, in order.
func (e *Embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors, _, err := e.EmbedUsage(ctx, texts)
	return vectors, err
}

// mostText is the most text of a request with several texts, in bytes. A provider's limit on the
// tokens of a request is above it.
const mostText = 256 << 10

// EmbedUsage returns one vector for each text, in order, and the usage of all requests, also with
// an error. It makes the requests one after another.
func (e *Embedder) EmbedUsage(ctx context.Context, texts []string) (vectors [][]float32, usage provider.Usage,
	err error) {
	if ctx == nil {
		ctx = context.Background()
	}
	for len(texts) > 0 {
		n, size := 0, 0
		for n < len(texts) && n < e.cfg.Batch && (n == 0 || size+len(texts[n]) <= mostText) {
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
	req := &provider.Request{Model: e.cfg.ID, MaxOutput: 1, Labels: provider.Labels{Kind: "embed"}}
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
		made, used, err := e.cfg.Call(ctx, texts)
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
	if e.cfg.Through == nil {
		_, err = do(ctx)
	} else {
		err = e.cfg.Through(ctx, req, do)
	}
	if err == nil && len(vectors) == 0 {
		err = fault.Errorf(fault.Invalid,
			"%s: EmbedderConfig.Through returned without an error, but didn't make the call", e.cfg.Provider)
	}
	return vectors, usage, err
}

// check returns an error if these aren't n vectors of the right length.
func (e *Embedder) check(vectors [][]float32, n int) error {
	if len(vectors) != n {
		return Garbled(e.cfg.Provider, fmt.Sprintf("%d vectors for %d texts", len(vectors), n), nil)
	}
	for _, v := range vectors {
		if len(v) != e.cfg.Size {
			return &provider.Error{Class: fault.UserFixable, Provider: e.cfg.Provider, Model: e.cfg.ID, Status: 200,
				Message: fmt.Sprintf("the vectors have %d dimensions, not %d", len(v), e.cfg.Size),
				Remedy:  fmt.Sprintf("set EmbedderConfig.Dimensions to %d", len(v))}
		}
	}
	return nil
}
