package openai

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// A Model is a [provider.Provider] that calls OpenAI or a compatible server. It is safe for
// concurrent use. Between calls it holds only the connections that its HTTP client keeps, and it
// needn't be closed.
type Model struct {
	// fixed at creation
	model  string
	name   string
	api    API
	host   host
	client *adapter.Client
	models []provider.ModelInfo

	pending Pending
	waiting *waitingKeys
}

var (
	_ provider.Provider = (*Model)(nil)
	_ provider.Informer = (*Model)(nil)

	_ provider.ModelInformer = (*Model)(nil)
)

// Info returns the properties of Config.Model: the entry of Config.Models with its ID, else that of
// the built-in table, else only its name.
func (m *Model) Info() provider.ModelInfo {
	return m.lookup(m.model)
}

// InfoOf returns the properties of another model that requests may name, found like those of Info;
// an empty name means Config.Model. It reports false if only the name is known.
func (m *Model) InfoOf(model string) (provider.ModelInfo, bool) {
	info := m.lookup(cmp.Or(model, m.model))
	return info, adapter.Informed(info)
}

// Format writes the names of the provider and the model.
func (m *Model) Format(s fmt.State, _ rune) {
	if m == nil {
		fmt.Fprint(s, "openai.Model(nil)")
		return
	}
	fmt.Fprintf(s, "openai.Model(%s %s)", m.name, m.model)
}

// EndsWithContext reports whether calls are sure to end with their context ([provider.Cancelable]).
// They are unless Config.HTTPClient has a Transport that isn't net/http's own, Config.Key is
// called, or there is a Config.Pending, because such functions of the host may ignore the context.
func (m *Model) EndsWithContext() bool { return m != nil && m.client.EndsWithContext() }

// Near reports whether the server is in the host's own network ([provider.Nearby]).
func (m *Model) Near() bool { return m != nil && m.client.Near() }

// Stream makes a call. It reads the body of the answer in the goroutine that ranges, one event at a
// time, and closes it when the range ends. Errors of the server are a *[provider.Error]; once ctx
// is done, the error is its cause.
func (m *Model) Stream(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
	return adapter.Stream(ctx, func(ctx context.Context, put func(provider.Chunk) bool) error {
		switch {
		case m == nil:
			return provider.ErrNilProvider
		case req == nil:
			return provider.ErrNilRequest
		}
		a := &answer{m: m, Answer: adapter.Answer{Yield: put}}
		m.run(ctx, a, req)
		return a.err
	})
}

// run makes the call and reads its answer.
func (m *Model) run(ctx context.Context, a *answer, req *provider.Request) {
	a.Model = req.Model
	switch {
	case a.Model != "":
	case req.Images != nil && m.host.own:
		a.Model = defaultImages
	default:
		a.Model = m.model
	}
	if a.Model == "" {
		a.fail(&provider.Error{Class: fault.UserFixable, Message: "the model is missing",
			Remedy: "set Config.Model, or the request's Model"})
		return
	}
	c := newConversation(m, a.Model, req)
	a.Names = c.names
	a.hasTools = len(req.Tools) > 0 || len(req.Options) > 0
	path, build, d := "responses", c.responses, a.decoder()
	switch {
	case req.Images != nil:
		path, build, d = "images/generations", c.images, imageDecoder{a}
	case m.api == Chat:
		path, build = "chat/completions", c.chat
	}
	body, err := build()
	a.makerTools = c.makerTools
	if err != nil {
		var known *provider.Error
		if !errors.As(err, &known) {
			err = &provider.Error{Class: fault.Permanent, Message: strings.TrimPrefix(err.Error(), "openai: "),
				Err: err}
		}
		a.fail(err)
		return
	}
	if path == "responses" && len(req.Options) > 0 {
		if body, ok := inBackground(body); ok {
			m.background(ctx, a, d, body, req.Labels.Session)
			return
		}
	}
	res, err := m.client.Post(ctx, a.Model, path, nil, body)
	if err != nil {
		a.fail(err)
		return
	}
	defer res.Body.Close()
	a.Res = res
	read(a, d, res.Body)
}

// decoder returns the decoder of the model's protocol.
func (a *answer) decoder() decoder {
	if a.m.api == Chat {
		return &chatDecoder{answer: a}
	}
	return &responsesDecoder{answer: a}
}

// A decoder decodes the answer of one protocol. It passes chunks to its answer, which knows whether
// the call is over.
type decoder interface {
	event(data []byte, isErr bool) // one event of a stream: JSON; isErr: it is named "error"
	whole(data []byte)             // an answer that came in one piece: JSON
	marker()                       // the [DONE] of a stream
	eof()                          // the stream has ended
}
