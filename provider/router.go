package provider

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
)

// The usual aliases. A [Router] accepts any others, too; [AliasDefault] is used for requests that
// name no model.
const (
	AliasDefault = "default"
	AliasFast    = "fast"
	AliasStrong  = "strong"
)

// A Route is the provider and the model that a [Router] uses for an alias.
type Route struct {
	Provider Provider
	Model    string // the provider's name for the model; empty: the Provider's default
}

// A Router is a Provider that chooses another one by the request's Model, which is an alias such as
// "strong". The configuration says which model an alias means.
//
// The Router changes only the Model of a request. A request with an unknown alias fails with an
// *[UnknownModelError]. A Router is safe for concurrent use.
type Router struct {
	routes map[string]Route
	known  []string // the aliases, sorted
}

// NewRouter returns a Router of these routes by alias. The error joins all mistakes in them: there
// must be a route, no alias may be empty, and no Provider nil. Without a route for [AliasDefault],
// requests that name no model fail.
func NewRouter(routes map[string]Route) (*Router, error) {
	if len(routes) == 0 {
		return nil,
			fault.New(fault.Invalid, "provider: a Router needs a route; use at least one for the alias \"default\"")
	}
	r := &Router{routes: maps.Clone(routes), known: slices.Sorted(maps.Keys(routes))}
	var errs []error
	for _, alias := range r.known {
		switch {
		case alias == "":
			errs = append(errs, fault.New(fault.Invalid,
				"provider: an alias of a Router is empty; requests without a model use \"default\""))
		case isNil(routes[alias].Provider):
			errs = append(errs, fmt.Errorf("provider: the route of the alias %q: %w", alias, ErrNilProvider))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return r, nil
}

// Stream makes the call with the provider and the model that req.Model names.
func (r *Router) Stream(ctx context.Context, req *Request) iter.Seq2[Chunk, error] {
	if req == nil {
		return failing(ErrNilRequest)
	}
	route, err := r.find(req.Model)
	if err != nil {
		return failing(err)
	}
	if req.Model != route.Model {
		c := *req // a shallow copy is enough, since receivers don't change it
		c.Model = route.Model
		req = &c
	}
	return route.Provider.Stream(ctx, req)
}

func failing(err error) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) { yield(Chunk{}, err) }
}

func (r *Router) find(model string) (Route, error) {
	if r == nil {
		return Route{}, ErrNilProvider
	}
	alias := cmp.Or(model, AliasDefault)
	route, ok := r.routes[alias]
	if !ok {
		return Route{}, &UnknownModelError{Model: alias, Known: r.Aliases()}
	}
	return route, nil
}

// Aliases returns the aliases of r, sorted.
func (r *Router) Aliases() []string {
	if r == nil {
		return nil
	}
	return slices.Clone(r.known)
}

// Unwrap returns the providers of r: that of [AliasDefault] first, then the others in the order of
// their aliases.
func (r *Router) Unwrap() []Provider {
	if r == nil {
		return nil
	}
	ps := make([]Provider, 0, len(r.known)+1)
	if d, ok := r.routes[AliasDefault]; ok {
		ps = append(ps, d.Provider)
	}
	for _, alias := range r.known {
		if alias != AliasDefault {
			ps = append(ps, r.routes[alias].Provider)
		}
	}
	return ps
}

// EndsWithContext reports whether all providers of r declare that they end with their context.
func (r *Router) EndsWithContext() bool {
	if r == nil {
		return false
	}
	for _, route := range r.routes {
		if !EndsWithContext(route.Provider) {
			return false
		}
	}
	return true
}

// Info returns the description of the model for requests that name none, or the zero ModelInfo if
// it isn't known.
func (r *Router) Info() ModelInfo {
	info, _ := r.InfoOf("")
	return info
}

// InfoOf returns the description of the model behind an alias; an empty alias means [AliasDefault].
func (r *Router) InfoOf(alias string) (ModelInfo, bool) {
	route, err := r.find(alias)
	if err != nil {
		return ModelInfo{}, false
	}
	return InfoOf(route.Provider, route.Model)
}

// CountTokens counts with the provider that req.Model names.
func (r *Router) CountTokens(ctx context.Context, req *Request) (int, error) {
	if req == nil {
		return 0, ErrNilRequest
	}
	route, err := r.find(req.Model)
	if err != nil {
		return 0, err
	}
	c := *req
	c.Model = route.Model
	budget := maxWrap
	counter, ok := find(route.Provider, &budget, is[TokenCounter])
	if !ok {
		return 0, ErrNoCount
	}
	return counter.CountTokens(ctx, &c)
}

// A ModelInformer is a Provider that knows several models, by the names that requests use for them.
type ModelInformer interface {
	InfoOf(model string) (ModelInfo, bool)
}

// InfoOf returns the description of the model with that name in p; an empty name means p's default.
// It asks p and what p wraps, in the order of [Info]: the first [ModelInformer], or the [Informer]
// before it whose ID or Name matches. The second result is false if none of them knows it.
func InfoOf(p Provider, model string) (ModelInfo, bool) {
	budget := maxWrap
	i, ok := find(p, &budget, func(p Provider) (infoOf, bool) {
		switch i := p.(type) {
		case ModelInformer:
			return i.InfoOf, true
		case Informer:
			info := i.Info()
			return func(string) (ModelInfo, bool) { return info, true },
				model == "" || model == info.ID || model == info.Name
		}
		return nil, false
	})
	if !ok {
		return ModelInfo{}, false
	}
	return i(model)
}

type infoOf = func(model string) (ModelInfo, bool)

// An UnknownModelError reports a request for an alias that a [Router] has no route for.
type UnknownModelError struct {
	Model string   // as requested
	Known []string // the aliases that would have done, sorted
}

// Error names the alias, and the valid ones.
func (e *UnknownModelError) Error() string {
	return fmt.Sprintf("provider: there is no route for the model %.64q; use one of: %s", e.Model,
		strings.Join(e.Known, ", "))
}

// Fault returns NotFound.
func (e *UnknownModelError) Fault() fault.Class { return fault.NotFound }
