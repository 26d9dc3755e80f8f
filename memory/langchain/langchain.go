package langchain

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tmc/langchaingo/embeddings"
	"github.com/tmc/langchaingo/schema"
	"github.com/tmc/langchaingo/vectorstores"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/httpguard"
	"github.com/pawlkit/pawl/memory/index"
	"github.com/pawlkit/pawl/stream"
)

// Config says how to read a store.
type Config struct {
	// Item returns the item that a document is about, and false for a document that is no item. Its
	// id may be that of several documents; the nearest counts. It must not be nil.
	Item func(schema.Document) (index.Item, bool)
	// Filter returns the store's own filter for vectorstores.WithFilters, so that the store looks
	// among fewer documents; nil: none. What is found is compared with the filter in any case.
	// Leave out values that the store would paste into a query unescaped.
	Filter func(index.Filter) any
	// Options are passed to each search, for example vectorstores.WithScoreThreshold.
	Options []vectorstores.Option
	// Similarity converts a score of the store to the cosine; nil: it is the cosine. For a store
	// whose score is a distance it is 1 - score.
	Similarity func(score float32) float64
	// Low, High and Threshold are those of [index.Config]. 0: .2 and .7, which suit the models of
	// OpenAI, and .5.
	Low, High, Threshold float64
}

// New returns a searcher over a store, which embeds the words of a query with its own embedder. It
// is safe for concurrent use if the store is. It asks for at least 128 documents, whose items it
// compares with the words, as [index.Finder] does. A failure of the store is an [*Error] or, if it
// panics, a [*stream.PanicError].
func New(store vectorstores.VectorStore, cfg Config) (index.Searcher, error) {
	switch {
	case isNil(store):
		return nil, fault.New(fault.Invalid, "langchain: the store is nil")
	case cfg.Item == nil:
		return nil, fault.New(fault.Invalid,
			"langchain: Config.Item is nil; it should return the index.Item of a document")
	}
	low, high := cfg.Low, cfg.High
	if low == 0 && high == 0 {
		low, high = .2, .7
	}
	s := &searched{store: store, cfg: cfg}
	return index.New(index.Config{Index: s, Embedder: s, Low: low, High: high, Threshold: cfg.Threshold})
}

// A searched is a store as the index of a Finder that is only searched, and as its embedder: the
// store embeds by itself.
type searched struct {
	index.Index // nil: New hides what changes an index
	store       vectorstores.VectorStore
	cfg         Config
}

func (*searched) Model() string   { return "the store's own" }
func (*searched) Dimensions() int { return 1 }

func (*searched) Embed(_ context.Context, texts []string) ([][]float32, error) {
	return slices.Repeat([][]float32{{0}}, len(texts)), nil
}

func (s *searched) Search(ctx context.Context, q index.Query) (found []index.Match, err error) {
	err = foreign(ctx, "search", func(ctx context.Context) error {
		options := slices.Clone(s.cfg.Options)
		if s.cfg.Filter != nil {
			if f := s.cfg.Filter(q.Filter); f != nil {
				options = append(options, vectorstores.WithFilters(f))
			}
		}
		docs, err := s.store.SimilaritySearch(ctx, q.Text, q.K, options...)
		if err != nil {
			return err
		}
		for _, d := range docs {
			item, ok := s.cfg.Item(d)
			if !ok || item.ID == "" || !q.Filter.Match(&item) {
				continue
			}
			similarity := float64(d.Score)
			if s.cfg.Similarity != nil {
				similarity = s.cfg.Similarity(d.Score)
			}
			if math.IsNaN(similarity) { // of a vector of zeros
				similarity = 0
			}
			found = append(found, index.Match{Item: item, Similarity: similarity})
		}
		slices.SortStableFunc(found, func(a, b index.Match) int {
			return cmp.Or(cmp.Compare(b.Similarity, a.Similarity), cmp.Compare(a.Item.ID, b.Item.ID))
		})
		return nil
	})
	return found, err
}

// EmbedderConfig has the properties that [Embedder] can't get from a langchaingo embedder.
type EmbedderConfig struct {
	// Model names the model and its version. It must not be empty: vectors of different models are
	// never compared.
	Model string
	// Dimensions is the length of the vectors; 0: determined by embedding one word.
	Dimensions int
}

// Embedder returns an [index.Embedder] that calls a langchaingo embedder. It also embeds queries
// with EmbedDocuments, because an index.Embedder doesn't distinguish them. It is safe for
// concurrent use if e is. ctx is used to determine the dimensions.
//
// A panic of e is a [*stream.PanicError], and any other error an [*Error], or the context's. An
// [index.Finder] checks the vectors. Results of e are copied, and e gets copies of the texts.
// Errors of Embedder itself: class fault.Invalid for a nil e and for an invalid field, class
// fault.Permanent for dimensions that can't be determined, and those of e.
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
	}
	out := &embedder{from: e, cfg: cfg}
	if cfg.Dimensions == 0 {
		v, err := out.Embed(ctx, []string{"dimensions"})
		if err != nil {
			return nil, err
		}
		if len(v) != 1 || len(v[0]) == 0 {
			return nil, fault.New(fault.Permanent, "langchain: the embedder returned no vector for a text")
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

func (e *embedder) Embed(ctx context.Context, texts []string) (vectors [][]float32, err error) {
	err = foreign(ctx, "embed", func(ctx context.Context) error {
		// langchaingo's own embedder changes its argument
		from, err := e.from.EmbedDocuments(ctx, slices.Clone(texts))
		for _, v := range from {
			vectors = append(vectors, slices.Clone(v))
		}
		return err
	})
	return vectors, err
}

func isNil(v any) bool {
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.Pointer, reflect.Func, reflect.Map:
		return r.IsNil()
	}
	return v == nil
}

// HTTPClient returns a copy of c, or of http.DefaultClient if c is nil, for the option
// WithHTTPClient of a langchaingo model that embeds, or of a store. It follows redirects only
// within the scheme and the host of a request, and only if c.CheckRedirect permits them. The
// default client of langchaingo would send the texts to any host that a server redirects to with
// status 307 or 308.
func HTTPClient(c *http.Client) *http.Client { return httpguard.SameHost(c) }

// An Error is a failure of an embedder or a store, or of a function of the host.
type Error struct {
	Op      string      // "embed" or "search"
	Class   fault.Class // never NotFound or None: a missing table doesn't mean that there is no item
	Status  int         // HTTP status in the text of the error; else 0
	Message string      // the text of Err with redacted secrets, at most 500 bytes
	Err     error       // the original error, or one without secrets in its place that matches it by errors.Is
}

// Error returns the operation and the message.
func (e *Error) Error() string { return "langchain: " + e.Op + ": " + e.Message }

// Unwrap returns the original error.
func (e *Error) Unwrap() error { return e.Err }

// Fault returns Class.
func (e *Error) Fault() fault.Class { return e.Class }

// Remediation returns what a person can do about an error of class fault.UserFixable.
func (e *Error) Remediation() string {
	if said, ok := fault.Remedy(e.Err); ok {
		return said
	}
	switch {
	case e.redirects():
		return "give the langchaingo embedder or store the address of the API itself: it redirects"
	case e.Class == fault.UserFixable:
		return "give the langchaingo embedder or store a valid key and the necessary permissions"
	}
	return ""
}

func (e *Error) redirects() bool { return e.Status >= 300 && e.Status < 400 }

// foreign calls foreign code, with a context that tells the secrets of its HTTP requests. It
// converts a panic to an error, and an error to an *Error, or the context's if that has ended.
func foreign(ctx context.Context, op string, call func(context.Context) error) (err error) {
	if ctx.Err() != nil {
		return fmt.Errorf("langchain: %s: %w", op, context.Cause(ctx))
	}
	watched, secrets := httpguard.Watch(ctx)
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("langchain: %s: %w", op, secrets.Error(stream.NewPanicError("the langchaingo side", v)))
		}
	}()
	err = call(watched)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("langchain: %s: %w", op, context.Cause(ctx))
	}
	return failure(op, err, secrets)
}

// statusText matches a status in a message of langchaingo's clients.
var statusText = regexp.MustCompile(
	`(?i)\bstatus(?:[ _]code)?:?\s*\(?([1-5]\d\d)\b|\bError ([1-5]\d\d)\b|\bHTTP ([1-5]\d\d)\b`)

// codeText matches the beginning of langchaingo's own error type: a provider, and one of its codes.
var codeText = regexp.MustCompile(`(?:^|: )(authentication|quota_exceeded|rate_limit|timeout|provider_unavailable): `)

var codes = map[string]fault.Class{
	"authentication": fault.UserFixable, "quota_exceeded": fault.UserFixable, "rate_limit": fault.RateLimited,
	"timeout": fault.Transient, "provider_unavailable": fault.Degraded,
}

// failure converts an error of foreign code. The result contains no secret of its requests.
func failure(op string, err error, secrets *httpguard.Secrets) *Error {
	text := err.Error()
	e := &Error{Op: op, Class: fault.Of(err), Err: secrets.Error(err)}
	if m := statusText.FindStringSubmatch(text); m != nil {
		e.Status, _ = strconv.Atoi(m[1] + m[2] + m[3])
	}
	if e.Class == fault.Permanent {
		if m := codeText.FindStringSubmatch(text); m != nil {
			e.Class = codes[m[1]]
		} else if class := fault.FromStatus(e.Status); e.Status != 0 && class != fault.None {
			e.Class = class
		}
	}
	switch {
	case e.redirects():
		e.Class = fault.UserFixable
	case e.Class == fault.None: // canceled, but not by the call's own context
		e.Class = fault.Transient
	case e.Class == fault.NotFound: // a missing table or file doesn't mean that an item doesn't exist
		e.Class = fault.Permanent
	}
	e.Message = secrets.Text(strings.ToValidUTF8(text, "\uFFFD"))
	if len(e.Message) > 500 {
		e.Message = strings.ToValidUTF8(e.Message[:500], "") + "…"
	}
	return e
}
