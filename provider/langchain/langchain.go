package langchain

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"reflect"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/stream"
)

// name is the name of this package in errors and in the options of a request.
const name = "langchain"

// Config has the properties that [New] can't get from a langchaingo model. Its zero value is valid.
type Config struct {
	// Model is the model's name: in answers, and for requests that name none. Empty: the
	// langchaingo model uses its own.
	Model string
	// Info has the properties of the model.
	Info provider.ModelInfo
}

// A Provider makes calls with a langchaingo model. It is safe for concurrent use if the model is.
//
// Each call runs the model in its own goroutine, which has ended when the call is over. If the
// model doesn't respect its context, a consumer that stops has to wait for it: it isn't known how a
// model sends its requests, so a Provider isn't a [provider.Cancelable].
type Provider struct {
	llm     llms.Model
	cfg     Config
	profile profile
}

var (
	_ provider.Provider = (*Provider)(nil)
	_ provider.Informer = (*Provider)(nil)
)

// New returns a Provider that makes its calls with the langchaingo model. It fails for a nil model.
func New(model llms.Model, cfg Config) (*Provider, error) {
	if isNil(model) {
		return nil, fault.New(fault.Permanent, "langchain: the model is nil")
	}
	return &Provider{llm: model, cfg: cfg, profile: profileOf(model)}, nil
}

// Info returns Config.Info, completed by the defaults.
func (p *Provider) Info() provider.ModelInfo {
	info := p.cfg.Info
	info.Provider, info.ID = cmp.Or(info.Provider, name), cmp.Or(info.ID, p.cfg.Model)
	return info
}

// Stream makes the call; see [provider.Provider].
func (p *Provider) Stream(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
	if ctx == nil {
		ctx = context.Background()
	}
	return stream.Once(func(yield func(provider.Chunk, error) bool) {
		if err := p.stream(ctx, req, yield); err != nil && !errors.Is(err, errLeft) {
			yield(provider.Chunk{}, err)
		}
	})
}

// A profile has the properties of a family of langchaingo models.
type profile struct {
	stated  bool // they state why an answer ended
	onePart bool // they read only the first part of a message of the model
}

// profiles are those of langchaingo's own models, by the last element of their package path.
var profiles = map[string]profile{
	"anthropic": {stated: true, onePart: true},
	"bedrock":   {stated: true},
	"googleai":  {stated: true},
	"mistral":   {stated: true},
	"openai":    {stated: true},
	"vertex":    {stated: true},
}

func profileOf(model llms.Model) profile {
	t := reflect.TypeOf(model)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return profileOfPackage(t.PkgPath())
}

func profileOfPackage(path string) profile {
	if !strings.HasPrefix(path, "github.com/tmc/langchaingo/llms/") {
		return profile{}
	}
	return profiles[path[strings.LastIndexByte(path, '/')+1:]]
}

func isNil(v any) bool {
	if v == nil {
		return true
	}
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.Pointer, reflect.Func, reflect.Map:
		return r.IsNil()
	}
	return false
}
