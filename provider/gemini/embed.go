package gemini

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"strconv"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// defaultEmbeddings is the model of an Embedder if its configuration names none.
const defaultEmbeddings = "gemini-embedding-001"

// EmbedderConfig configures an [Embedder].
type EmbedderConfig struct {
	Model string // empty: gemini-embedding-001
	// Dimensions is the length of the vectors that the API is asked for. 0: the model's own, 3,072
	// for that one; for other models it is required.
	Dimensions int
	// Batch is the most texts of a request, which may have 100; 0: 100. A request has at most 256
	// KiB of text, or one text.
	Batch int
	// Options is a JSON object that is merged into the request for each text, for example
	// {"taskType": "RETRIEVAL_DOCUMENT"}.
	Options json.RawMessage
	// Through, if it isn't nil, makes each request: Guard.Do of the package guard does so with its
	// gate, budget, breaker and retries. It calls do, perhaps later and more than once, and returns
	// the error of the last call or its own. req describes the request.
	Through func(ctx context.Context, req *provider.Request, do func(context.Context) (provider.Usage, error)) error
}

// An Embedder makes vectors of texts. It satisfies index.Embedder of the package memory/index. The
// API cuts a text that is longer than the model allows, 2,048 tokens for gemini-embedding-001.
// [Model.Embedder] makes it. It is safe for concurrent use.
//
// Model names the provider, the model and the dimensions, and Dimensions is the length of each
// vector. Embed returns one vector for each text, in order; errors are those of Model.Stream.
// EmbedUsage also returns the usage of all requests, those before an error included. It is an
// estimate where the API reports none.
type Embedder struct {
	embedder
}

type embedder = adapter.Embedder

// embeddingsDate is the day of the reports of the prices.
const embeddingsDate = "2026-04-25"

// embeddings are the models whose vectors and prices are known.
var embeddings = map[string]adapter.Embedding{"gemini-embedding-001": {Size: 3072, Window: 2048, Price: .15}}

// mostBatch is the most texts that the API accepts in a request.
const mostBatch = 100

// Embedder returns an Embedder that sends its requests to the same address, with the same key and
// headers, as m does. It makes no call. InfoOf returns the price of gemini-embedding-001.
func (m *Model) Embedder(cfg EmbedderConfig) (*Embedder, error) {
	if m == nil {
		return nil, provider.ErrNilProvider
	}
	cfg.Model = cmp.Or(cfg.Model, defaultEmbeddings)
	known := embeddings[strings.TrimPrefix(cfg.Model, "models/")]
	size, err := adapter.CheckEmbedder(Name, cfg.Model, known, cfg.Dimensions, cfg.Batch, mostBatch)
	if err != nil {
		return nil, err
	}
	fields := map[string]json.RawMessage{}
	fields["model"] = adapter.JSON(resource(cfg.Model))
	if cfg.Dimensions != 0 {
		fields["outputDimensionality"] = json.RawMessage(strconv.Itoa(size))
	}
	if len(cfg.Options) > 0 {
		var options map[string]json.RawMessage
		if err := json.Unmarshal(cfg.Options, &options); err != nil {
			return nil, fault.Errorf(fault.Invalid, "gemini: EmbedderConfig.Options isn't a JSON object: %w", err)
		}
		adapter.Merge(fields, options)
	}
	return &Embedder{adapter.NewEmbedder(adapter.EmbedderConfig{Provider: Name, ID: cfg.Model, Size: size,
		Batch: cmp.Or(cfg.Batch, mostBatch), Through: cfg.Through,
		Call: func(ctx context.Context, texts []string) ([][]float32, provider.Usage, error) {
			return m.embed(ctx, cfg.Model, fields, texts)
		}})}, nil
}

// embed makes a request. fields are those of the request for each text, besides the text.
func (m *Model) embed(ctx context.Context, model string, fields map[string]json.RawMessage,
	texts []string) ([][]float32, provider.Usage, error) {
	var usage provider.Usage
	requests := make([]map[string]json.RawMessage, len(texts))
	for i := range texts {
		r := maps.Clone(fields)
		r["content"] = adapter.JSON(content{Parts: []any{outPart{Text: &texts[i]}}})
		requests[i] = r
	}
	body := adapter.JSON(map[string]any{"requests": requests})
	var answer struct {
		Embeddings []struct {
			Values []float32 `json:"values"`
		} `json:"embeddings"`
		Usage struct {
			Prompt int64 `json:"promptTokenCount"`
		} `json:"usageMetadata"`
	}
	if _, err := m.client.Ask(ctx, model, resource(model)+":batchEmbedContents", body, &answer); err != nil {
		return nil, usage, err
	}
	usage.Input = max(answer.Usage.Prompt, 0)
	vectors := make([][]float32, len(answer.Embeddings))
	for i := range answer.Embeddings {
		vectors[i] = answer.Embeddings[i].Values
	}
	return vectors, usage, nil
}
