package langchain

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/tmc/langchaingo/embeddings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/memory/index"
)

// EmbedderConfig has the properties that [Embedder] can't get from a langchaingo embedder.
type EmbedderConfig struct {
	// Model names the model and its version. It must not be empty: vectors of different models are
	// never compared.
	Model string
	// Dimensions is the length of the vectors; 0: determined by embedding one word.
	Dimensions int
	// Batch is the number of texts per call; 0: 512, as in langchaingo.
	Batch int
	// Normalize scales each vector to length 1, for an index with dot products; [index.Memory] with
	// Cosine doesn't need it. A vector of zeros stays unchanged.
	Normalize bool
}

// Embedder returns an [index.Embedder] that calls a langchaingo embedder. It also embeds queries
// with EmbedDocuments, because an index.Embedder doesn't distinguish them. It is safe for
// concurrent use if e is. ctx is used to determine the dimensions.
//
// A vector that is missing, empty, of another length, or contains NaN or an infinite value is a
// [*VectorError]; a panic of e is a [*stream.PanicError], and any other error an [*Error], or the
// context's. Results of e are copied, and e gets copies of the texts. Errors of Embedder itself:
// class fault.Invalid for a nil e and for an invalid field, and those of e.
//
// Note that embeddings.NewEmbedder replaces line ends by blanks unless WithStripNewLines(false) is
// set.
func Embedder(ctx context.Context, e embeddings.Embedder, cfg EmbedderConfig) (index.Embedder, error) {
	switch {
	case isNil(e):
		return nil, fault.New(fault.Invalid, "langchain: the embedder is nil")
	case cfg.Model == "":
		return nil, fault.New(fault.Invalid,
			"langchain: EmbedderConfig.Model is empty; it should name the model that makes the vectors")
	case cfg.Dimensions < 0:
		return nil, fault.Errorf(fault.Invalid,
			"langchain: EmbedderConfig.Dimensions is %d; it should be 1 or more, or 0 to determine it", cfg.Dimensions)
	case cfg.Batch < 0:
		return nil, fault.Errorf(fault.Invalid,
			"langchain: EmbedderConfig.Batch is %d; it should be 1 or more, or 0 for 512", cfg.Batch)
	}
	if cfg.Batch == 0 {
		cfg.Batch = 512
	}
	out := &embedder{from: e, cfg: cfg}
	if cfg.Dimensions == 0 {
		v, err := out.embed(given(ctx), []string{"dimensions"}, 0)
		if err != nil {
			return nil, err
		}
		out.cfg.Dimensions = len(v[0])
	}
	return out, nil
}

type embedder struct { // fixed at creation
	from embeddings.Embedder
	cfg  EmbedderConfig
}

func (e *embedder) Model() string   { return e.cfg.Model }
func (e *embedder) Dimensions() int { return e.cfg.Dimensions }

func (e *embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	ctx = given(ctx)
	out := make([][]float32, 0, len(texts))
	for part := range slices.Chunk(texts, e.cfg.Batch) {
		vectors, err := e.embed(ctx, part, len(out))
		if err != nil {
			return nil, err
		}
		out = append(out, vectors...)
	}
	return out, nil
}

// embed returns checked copies of the vectors of a batch; first is the number of its first text.
func (e *embedder) embed(ctx context.Context, texts []string, first int) ([][]float32, error) {
	var vectors [][]float32
	err := foreign(ctx, "embed", func(ctx context.Context) (err error) {
		// langchaingo's own embedder changes its argument
		vectors, err = e.from.EmbedDocuments(ctx, slices.Clone(texts))
		return err
	})
	if err != nil {
		return nil, err
	}
	return checked(vectors, len(texts), e.cfg.Dimensions, first, e.cfg.Normalize)
}

// Embeddings returns a langchaingo embedder that calls e: with [index.Local], one without network
// and model. It is safe for concurrent use. If e is nil, every call fails. Vectors are checked as
// in [Embedder].
func Embeddings(e index.Embedder) embeddings.Embedder { return &asked{e} }

type asked struct{ from index.Embedder }

// EmbedDocuments returns a vector for each text.
func (a *asked) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	if isNil(a.from) {
		return nil, fault.New(fault.Invalid, "langchain: the embedder is nil")
	}
	ctx = given(ctx)
	var vectors [][]float32
	size := 0
	err := foreign(ctx, "embed", func(ctx context.Context) (err error) {
		size = a.from.Dimensions()
		vectors, err = a.from.Embed(ctx, slices.Clone(texts))
		return err
	})
	if err != nil {
		return nil, err
	}
	return checked(vectors, len(texts), size, 0, false)
}

// EmbedQuery returns the vector of a text.
func (a *asked) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	vectors, err := a.EmbedDocuments(ctx, []string{text})
	if err != nil {
		return nil, err
	}
	return vectors[0], nil
}

// A VectorError describes invalid vectors of an embedder.
type VectorError struct {
	Text       int // the number of the text, from 0; -1: the answer as a whole
	Have, Want int // numbers of vectors, or of dimensions; both 0 if they are right
}

// Error says what is wrong.
func (e *VectorError) Error() string {
	switch {
	case e.Text < 0:
		return fmt.Sprintf("langchain: the embedder returned %d vectors for %d texts", e.Have, e.Want)
	case e.Have == 0 && e.Want == 0:
		return fmt.Sprintf("langchain: the embedder's vector of text %d holds figures that are none (NaN or infinite)",
			e.Text)
	case e.Have == 0:
		return fmt.Sprintf("langchain: the embedder's vector of text %d is empty", e.Text)
	}
	return fmt.Sprintf("langchain: the embedder's vector of text %d has %d dimensions; it should have %d", e.Text,
		e.Have, e.Want)
}

// Fault is always fault.Permanent.
func (e *VectorError) Fault() fault.Class { return fault.Permanent }

// checked returns copies of the vectors of count texts. A size of 0 is that of the first.
func checked(vectors [][]float32, count, size, first int, normalize bool) ([][]float32, error) {
	if len(vectors) != count {
		return nil, &VectorError{Text: -1, Have: len(vectors), Want: count}
	}
	out := make([][]float32, count)
	for i, v := range vectors {
		if size == 0 {
			size = max(len(v), 1)
		}
		if len(v) != size {
			return nil, &VectorError{Text: first + i, Have: len(v), Want: size}
		}
		square, ok := squared(v)
		if !ok {
			return nil, &VectorError{Text: first + i}
		}
		out[i] = slices.Clone(v)
		if normalize && square > 0 {
			norm := math.Sqrt(square)
			for d, x := range v {
				out[i][d] = float32(float64(x) / norm)
			}
		}
	}
	return out, nil
}

// squared is the square of a vector's length, and whether all its figures are some.
func squared(v []float32) (square float64, ok bool) {
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	return square, !math.IsNaN(square) && !math.IsInf(square, 0)
}

func isNil(v any) bool {
	if v == nil {
		return true
	}
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Pointer, reflect.Func, reflect.Map:
		return r.IsNil()
	}
	return false
}
