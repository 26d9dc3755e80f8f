package agent

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/pawlkit/pawl/agent/internal/contain"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
)

// A described remembers what a provider has said of the models that may answer for one. A run asks
// once for each model that it uses.
type described struct {
	model string
	infos []provider.ModelInfo // nil: it hasn't asked
}

// by returns what p says of the models that may answer for this one.
func (d *described) by(p provider.Provider, model string) []provider.ModelInfo {
	if d.infos == nil || d.model != model {
		d.model, d.infos = model, infosOf(p, model)
	}
	return d.infos
}

// arePriced reports whether the prices of all these models are known.
func arePriced(infos []provider.ModelInfo) bool { return !slices.ContainsFunc(infos, isUnpriced) }

func isUnpriced(info provider.ModelInfo) bool { return info.Prices == nil }

// unpriced returns why the run of a session can't call a model, whose price isn't known while money
// is limited; nil if it can. infos describe the models that may answer.
func unpriced(s *machine.State, model string, infos []provider.ModelInfo) error {
	if !s.RequiresPrices() {
		return nil
	}
	i := slices.IndexFunc(infos, isUnpriced)
	if i < 0 {
		return nil
	}
	name := "the provider's default model"
	if model = cmp.Or(model, infos[i].ID); model != "" {
		name = fmt.Sprintf("the model %q", model)
	} else if len(infos) > 1 {
		name = "the default model"
	}
	if len(infos) > 1 { // a member of a chain, which may have to answer
		name += fmt.Sprintf(" of provider %d of %d", i+1, len(infos))
	}
	return &LimitError{Limit: machine.LimitRequirePrices, Note: "the price of " + name + " isn't known, so what it " +
		"costs can't be counted; name its price in the file of PAWL_PRICES or with provider.WithPrices, or set " +
		"Limits.AllowUnknownPrices"}
}

// limits returns the limits of a run: the input's over the mode's over the Config's over the
// defaults. Without any of the input's they are the mode's own, which mustn't be changed. Those of
// a subagent's input are what the caller has left, and don't say that its host limits money.
func (a *Agent) limits(own *Limits, mode *mode, subagent bool) *Limits {
	if own == nil {
		return &mode.limits
	}
	l := own.Or(mode.limits)
	if !subagent {
		requirePrices(&l, own.Cost)
	}
	return &l
}

// requirePrices sets RequirePrices of limits in which the host has set this Cost; 0: it hasn't.
func requirePrices(l *Limits, cost provider.Money) {
	l.RequirePrices = (l.RequirePrices || cost > 0) && !l.AllowUnknownPrices
}

// infosOf returns what p says of the models that may answer for this one; nothing of one if it
// panics.
func infosOf(p provider.Provider, model string) (infos []provider.ModelInfo) {
	defer func() {
		if infos == nil {
			infos = []provider.ModelInfo{{}}
		}
	}()
	defer contain.Panic(new(error))
	return provider.InfosOf(p, model)
}

// infoOf returns what p says of a model; nothing if it doesn't know it, or panics.
func infoOf(p provider.Provider, model string) (info provider.ModelInfo) {
	defer contain.Panic(new(error))
	info, _ = provider.InfoOf(p, model)
	return info
}
