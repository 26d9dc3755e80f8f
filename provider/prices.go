package provider

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
)

// WithPrices returns p with these prices, by the names of models that requests ask for. They
// replace what p says of a model's prices; of all else, and of models that aren't in the map, p
// says what it said before. So a gateway whose prices no table has can be limited in money. Put it
// right around an adapter: what is inside of p, such as a guard with a budget, doesn't see the
// prices. The map is copied. An entry with a price below 0 is as if nobody knew the price of its
// model, whatever p says: where money is limited, the model isn't called.
func WithPrices(p Provider, prices map[string]Prices) Provider {
	if isNil(p) || len(prices) == 0 {
		return p
	}
	own := make(map[string]*Prices, len(prices))
	for model, price := range prices {
		own[model] = credible(&price)
	}
	return &priced{p, own}
}

// credible returns p, or nil if a price is below 0.
func credible(p *Prices) *Prices {
	if p == nil || min(p.Input, p.Output, p.CacheRead, p.CacheWrite) < 0 {
		return nil
	}
	return p
}

// A priced is a provider with prices of the host.
type priced struct {
	inner  Provider
	prices map[string]*Prices // nil: not a price
}

func (p *priced) Stream(ctx context.Context, req *Request) iter.Seq2[Chunk, error] {
	return p.inner.Stream(ctx, req)
}

func (p *priced) Unwrap() Provider      { return p.inner }
func (p *priced) EndsWithContext() bool { return EndsWithContext(p.inner) }

func (p *priced) Info() ModelInfo {
	info, _ := p.InfoOf("")
	return info
}

func (p *priced) InfoOf(model string) (ModelInfo, bool) {
	info, known := InfoOf(p.inner, model)
	if !known && model == "" { // what doesn't know its model may still have a name for it
		info, _ = Info(p.inner)
	}
	name := model
	if name == "" {
		name = info.ID
	}
	price, ok := p.prices[name]
	if !ok {
		return info, known
	}
	if info.ID == "" {
		info.ID = name
	}
	if !known {
		if i, ok := Info(p.inner); ok && info.Provider == "" {
			info.Provider = i.Provider
		}
	}
	info.Prices = price
	return info, true
}

// infosOf returns the descriptions of what may answer, with the prices of the host.
func (p *priced) infosOf(model string, budget *int) []ModelInfo {
	infos := infosOf(p.inner, model, budget)
	if len(infos) == 1 {
		info, _ := p.InfoOf(model)
		return []ModelInfo{info}
	}
	for i := range infos {
		if price, ok := p.prices[cmp.Or(model, infos[i].ID)]; ok {
			infos[i].Prices = price
		}
	}
	return infos
}

// mostPrice is the highest price that [ParsePrices] takes, in dollars for a million tokens.
const mostPrice = 1_000_000

// ParsePrices reads prices in JSON, for [WithPrices]: an object with a member for each model, by
// the name that requests ask for. Each has its prices in US dollars for a million tokens:
//
//	{
//	  "gpt-5-mini": {"input": 0.25, "output": 2, "cache_read": 0.025},
//	  "qwen3":      {"input": 0, "output": 0}
//	}
//
// The members input and output have to be there; 0 is free of charge. cache_read and cache_write
// are those of input unless they are given. date and source are texts for people: when and where
// the prices were looked up. Anything else, such as an unknown member or a negative price, is an
// error that names the model.
func ParsePrices(text []byte) (map[string]Prices, error) {
	var models map[string]json.RawMessage
	if err := strictly(text, &models); err != nil {
		return nil, fmt.Errorf("provider: prices: %w", err)
	}
	if models == nil {
		return nil, errors.New("provider: prices: it is null; give an object with a member for each model")
	}
	prices := make(map[string]Prices, len(models))
	for model, raw := range models {
		p, err := parsePrice(raw)
		if err != nil {
			return nil, fmt.Errorf("provider: prices of %.256q: %w", model, err)
		}
		prices[model] = p
	}
	return prices, nil
}

func parsePrice(raw json.RawMessage) (p Prices, err error) {
	var in struct {
		Input      *float64 `json:"input"`
		Output     *float64 `json:"output"`
		CacheRead  *float64 `json:"cache_read"`
		CacheWrite *float64 `json:"cache_write"`
		Date       string   `json:"date"`
		Source     string   `json:"source"`
	}
	if err := strictly(raw, &in); err != nil {
		return p, err
	}
	if in.CacheRead == nil {
		in.CacheRead = in.Input
	}
	if in.CacheWrite == nil {
		in.CacheWrite = in.Input
	}
	p.Date, p.Source = in.Date, in.Source
	for _, f := range []struct {
		name  string
		value *float64
		to    *Money
	}{{"input", in.Input, &p.Input}, {"output", in.Output, &p.Output}, {"cache_read", in.CacheRead, &p.CacheRead},
		{"cache_write", in.CacheWrite, &p.CacheWrite}} {
		switch {
		case f.value == nil:
			return p, fmt.Errorf("%s is missing; give dollars for a million tokens, 0 for free", f.name)
		case *f.value < 0 || *f.value > mostPrice:
			return p, fmt.Errorf("%s is %v; give 0 to %d dollars for a million tokens", f.name, *f.value, mostPrice)
		}
		*f.to = Money(math.Round(*f.value * float64(USD)))
	}
	return p, nil
}

// strictly decodes one JSON value that has no unknown members, and nothing after it.
func strictly(text []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is more after the first JSON value")
	}
	return nil
}
