package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// defaultEmbeddings is the model of an Embedder at OpenAI's own address if its configuration names
// none.
const defaultEmbeddings = "text-embedding-3-small"

// EmbedderConfig configures an [Embedder].
type EmbedderConfig struct {
	// Model is the model. Empty: text-embedding-3-small at OpenAI's own address; for others it is
	// required.
	Model string
	// Dimensions is the length of the vectors. 0: the model's own, which is known for OpenAI's
	// models and required for others. OpenAI's text-embedding-3 models are asked for shorter
	// vectors; any other model must send vectors of this length by itself, or be asked with
	// Options.
	Dimensions int
	// Batch is the most texts of a request; 0: 256. A request has at most 256 KiB of text, or one
	// text.
	Batch int
	// Options is a JSON object that is merged into the body of each request; null removes a field.
	Options json.RawMessage
	// Through, if it isn't nil, makes each request: Guard.Do of the package guard does so with its
	// gate, budget, breaker and retries. It calls do, perhaps later and more than once, and returns
	// the error of the last call or its own. req describes the request.
	Through func(ctx context.Context, req *provider.Request, do func(context.Context) (provider.Usage, error)) error
}

// An Embedder makes vectors of texts. It satisfies index.Embedder of the package memory/index.
// [Model.Embedder] makes it. It is safe for concurrent use.
//
// Model names the provider, the model and the dimensions, and Dimensions is the length of each
// vector. Embed returns one vector for each text, in order; errors are those of Model.Stream.
// EmbedUsage also returns the usage of all requests, those before an error included.
type Embedder struct {
	embedder
}

type embedder = adapter.Embedder

// embeddingsDate is the day of the reports of the prices.
const embeddingsDate = "2026-05-01"

// embeddings are OpenAI's models.
var embeddings = map[string]adapter.Embedding{
	"text-embedding-3-small": {Size: 1536, Window: 8192, Price: .02},
	"text-embedding-3-large": {Size: 3072, Window: 8192, Price: .13},
	"text-embedding-ada-002": {Size: 1536, Window: 8192, Price: .1},
}

// mostBatch is the most inputs that OpenAI accepts in a request.
const mostBatch = 2048

// Embedder returns an Embedder that sends its requests to the same address, with the same key and
// headers, as m does. It makes no call. InfoOf returns the prices of OpenAI's models.
func (m *Model) Embedder(cfg EmbedderConfig) (*Embedder, error) {
	if m == nil {
		return nil, provider.ErrNilProvider
	}
	if cfg.Model == "" && m.host.own {
		cfg.Model = defaultEmbeddings
	}
	known := embeddings[cfg.Model[strings.LastIndexByte(cfg.Model, '/')+1:]]
	if cfg.Model == "" {
		return nil, fault.NewFixable("openai: the model is missing", "set EmbedderConfig.Model", nil)
	}
	size, err := adapter.CheckEmbedder("openai", cfg.Model, known, cfg.Dimensions, cfg.Batch, mostBatch)
	if err != nil {
		return nil, err
	}
	var options map[string]json.RawMessage
	if len(cfg.Options) > 0 {
		if err := json.Unmarshal(cfg.Options, &options); err != nil {
			return nil, fault.Errorf(fault.Invalid, "openai: EmbedderConfig.Options isn't a JSON object: %w", err)
		}
	}
	fields := map[string]any{"model": cfg.Model, "encoding_format": "float"}
	if known.Size != 0 && size != known.Size && strings.Contains(cfg.Model, "text-embedding-3") {
		fields["dimensions"] = size
	}
	return &Embedder{adapter.NewEmbedder(adapter.EmbedderConfig{Provider: m.name, ID: cfg.Model, Size: size,
		Batch: cmp.Or(cfg.Batch, 256), Through: cfg.Through,
		Call: func(ctx context.Context, texts []string) ([][]float32, provider.Usage, error) {
			return m.embed(ctx, cfg.Model, fields, options, texts)
		}})}, nil
}

// embed makes a request.
func (m *Model) embed(ctx context.Context, model string, fields map[string]any, options map[string]json.RawMessage,
	texts []string) ([][]float32, provider.Usage, error) {
	var usage provider.Usage
	body := make(map[string]json.RawMessage, len(fields)+1)
	for name, value := range fields {
		body[name] = adapter.JSON(value)
	}
	body["input"] = adapter.JSON(texts)
	adapter.Merge(body, options)
	var answer struct {
		Data []struct {
			Index  *int      `json:"index"`
			Vector []float32 `json:"embedding"`
		} `json:"data"`
		Usage struct {
			Prompt int64 `json:"prompt_tokens"`
			Total  int64 `json:"total_tokens"`
		} `json:"usage"`
		Error json.RawMessage `json:"error"`
	}
	res, err := m.client.Ask(ctx, model, "embeddings", adapter.JSON(body), &answer)
	if err != nil {
		return nil, usage, err
	}
	if !adapter.IsNull(answer.Error) {
		return nil, usage, res.Clean(m.failed(adapter.ParseFailure(res.Redact(answer.Error)), http.StatusOK))
	}
	usage.Input = max(answer.Usage.Prompt, answer.Usage.Total, 0)
	vectors := make([][]float32, len(answer.Data))
	for i, d := range answer.Data {
		at := i
		if d.Index != nil {
			at = *d.Index
		}
		if at < 0 || at >= len(vectors) || vectors[at] != nil {
			return nil, usage, res.Clean(adapter.Garbled(m.name, "the index of a vector is wrong", nil))
		}
		vectors[at] = d.Vector
	}
	return vectors, usage, nil
}
