package openai

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/openai/openai-go/v3/option"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

// post sends a request and returns its response once the headers have arrived. If the server rejects the key, Config.Key is called once
// more.
func (a *answer) post(path string, body []byte) (*http.Response, error) {
	res, err := a.try(path, body)
	var e *provider.Error
	if a.m.keys.fixed == nil && a.m.keys.ask != nil && errors.As(err, &e) && e.Status == http.StatusUnauthorized {
		return a.try(path, body)
	}
	return res, err
}

func (a *answer) try(path string, body []byte) (*http.Response, error) {
	m := a.m
	key, err := m.key(a.ctx)
	if err != nil {
		return nil, err
	}
	a.key = newSecret(key)
	var opts []option.RequestOption
	if key != "" {
		opts = append(opts, option.WithAPIKey(key))
		if m.host.keyAlso != "" {
			opts = append(opts, option.WithHeader(m.host.keyAlso, key))
		}
	}
	var res *http.Response
	if err := m.client.Post(a.ctx, path, body, &res, opts...); err != nil {
		return nil, unanswered(err)
	}
	return res, nil
}

// key returns the key of a call; "" if none is needed.
func (m *Model) key(ctx context.Context) (string, error) {
	if m.keys.fixed != nil || m.keys.ask == nil {
		return m.keys.fixed.reveal(), nil
	}
	key, err := m.keys.ask(ctx)
	switch {
	case err != nil:
		class := fault.Of(err)
		if class == fault.Permanent {
			return "", fixable(&provider.Error{Message: "Config.Key returned no key: " + err.Error(), Remedy: m.keyRemedy()}, err)
		}
		return "", &provider.Error{Class: class, Message: "Config.Key returned no key: " + err.Error(), Err: err}
	case key == "" && m.host.needsKey:
		return "", fixable(&provider.Error{Message: "Config.Key returned an empty key", Remedy: m.keyRemedy()}, nil)
	}
	return key, nil
}

// unanswered returns the error of a request without its address, whose query may contain secrets.
func unanswered(err error) error {
	var e *provider.Error
	if errors.As(err, &e) {
		return e
	}
	err = withoutAddress(err)
	return &provider.Error{Class: fault.Of(err), Message: "no answer: " + err.Error(), Err: err}
}

// withoutAddress removes net/http's description of the request from an error.
func withoutAddress(err error) error {
	var transport *url.Error
	for errors.As(err, &transport) && transport.Err != nil {
		err = transport.Err
	}
	return err
}
