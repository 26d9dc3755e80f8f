package agent

import (
	"cmp"
	"fmt"

	"github.com/pawlkit/pawl/agent/internal/contain"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
)

// cost returns the price of a model call, and false if it isn't known.
func (a *Agent) cost(model string, u provider.Usage) (provider.Money, bool) {
	prices := infoOf(a.provider, model).Prices
	if prices == nil {
		return 0, false
	}
	return prices.Cost(u), true
}

// unpriced returns why the run of a session can't call a model, whose price isn't known while money
// is limited; nil if it can.
func (a *Agent) unpriced(s *machine.State, model string) error {
	if !s.RequiresPrices() {
		return nil
	}
	info := infoOf(a.provider, model)
	if info.Prices != nil {
		return nil
	}
	name := "the provider's default model"
	if model = cmp.Or(model, info.ID); model != "" {
		name = fmt.Sprintf("the model %q", model)
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

// infoOf returns what p says of a model; nothing if it doesn't know it, or panics.
func infoOf(p provider.Provider, model string) (info provider.ModelInfo) {
	defer contain.Panic(new(error))
	info, _ = provider.InfoOf(p, model)
	return info
}
