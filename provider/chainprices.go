package provider

import (
	"regexp"
	"strings"
)

// InfosOf returns the descriptions of all models that may answer a request for the model with that
// name; an empty name means p's default. It is one, as of [InfoOf], unless p is or wraps a chain,
// that is a Provider with an `Unwrap() []Provider` that describes no model itself: then it is one
// for each member, in order. That of a model that isn't known, or with a price below 0, has no
// Prices.
func InfosOf(p Provider, model string) []ModelInfo {
	budget := maxWrap
	infos := infosOf(p, model, &budget)
	for i := range infos {
		infos[i].Prices = credible(infos[i].Prices)
	}
	return infos
}

// infosOf is InfosOf; each visited Provider costs one of the budget.
func infosOf(p Provider, model string, budget *int) []ModelInfo {
	if *budget--; *budget < 0 || isNil(p) {
		return []ModelInfo{{}}
	}
	switch p := p.(type) {
	case *Router:
		if route, err := p.find(model); err == nil {
			return infosOf(route.Provider, route.Model, budget)
		}
		return []ModelInfo{{}}
	case *priced:
		return p.infosOf(model, budget)
	case ModelInformer:
		info, ok := p.InfoOf(model)
		if i, is := p.(Informer); is && !ok && model == "" {
			info = i.Info()
		}
		return []ModelInfo{info}
	case Informer:
		if info := p.Info(); model == "" || model == info.ID || model == info.Name {
			return []ModelInfo{info}
		}
	}
	var infos []ModelInfo
	switch p := p.(type) {
	case interface{ Unwrap() Provider }:
		return infosOf(p.Unwrap(), model, budget)
	case interface{ Unwrap() []Provider }:
		for _, inner := range p.Unwrap() {
			infos = append(infos, infosOf(inner, model, budget)...)
		}
	}
	if len(infos) == 0 {
		infos = []ModelInfo{{}}
	}
	return infos
}

// CostOf returns what u costs with one of these models (see [InfosOf]): with the one that answered,
// by the name of the model in its reply, which may have a date or version after that of the
// description. If none of several has that name, it is the cost with the dearest. The second result
// is false if a price isn't known; the cost is then that with the dearest of the others, or 0.
func CostOf(models []ModelInfo, answered string, u Usage) (cost Money, known bool) {
	if len(models) > 1 {
		models = whoAnswered(models, answered)
	}
	known = len(models) > 0
	for i := range models {
		if p := models[i].Prices; p != nil {
			cost = max(cost, p.Cost(u))
		} else {
			known = false
		}
	}
	return cost, known
}

// version matches what the names of replies have after the name of a model, such as "-2025-08-07".
var version = regexp.MustCompile(`^([-@:](\d{3}|latest$).*)?$`)

// whoAnswered returns the models with the longest name that the reply's has or begins with; all if
// there is none.
func whoAnswered(models []ModelInfo, answered string) []ModelInfo {
	most := 0
	var found []ModelInfo
	for _, m := range models {
		rest, ok := strings.CutPrefix(answered, m.ID)
		if n := len(m.ID); n == 0 || n < most || !ok || !version.MatchString(rest) {
			continue
		} else if n > most {
			most, found = n, nil
		}
		found = append(found, m)
	}
	if found == nil {
		return models
	}
	return found
}
