package agent

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/pawlkit/pawl/agent/internal/contain"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
)

// cost returns the price of a call of this model that another name may have answered, and false if
// it isn't known.
func (a *Agent) cost(model, answered string, u provider.Usage) (provider.Money, bool) {
	return provider.CostOf(infosOf(a.provider, model), answered, u)
}

// isPriced reports whether the prices of all models are known that may answer for this one.
func (a *Agent) isPriced(model string) bool {
	return !slices.ContainsFunc(infosOf(a.provider, model), isUnpriced)
}

func isUnpriced(info provider.ModelInfo) bool { return info.Prices == nil }

// unpriced returns why the run of a session can't call a model, whose price isn't known while money
// is limited; nil if it can.
func (a *Agent) unpriced(s *machine.State, model string) error {
	if !s.RequiresPrices() {
		return nil
	}
	infos := infosOf(a.provider, model)
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
	defer contain.Panic(new(error))
	infos = []provider.ModelInfo{{}}
	return provider.InfosOf(p, model)
}

// infoOf returns what p says of a model; nothing if it doesn't know it, or panics.
func infoOf(p provider.Provider, model string) (info provider.ModelInfo) {
	defer contain.Panic(new(error))
	info, _ = provider.InfoOf(p, model)
	return info
}
