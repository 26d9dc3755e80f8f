package agent

import (
	"github.com/pawlkit/pawl/agent/internal/contain"
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

// infoOf returns what p says of a model; nothing if it doesn't know it, or panics.
func infoOf(p provider.Provider, model string) (info provider.ModelInfo) {
	defer contain.Panic(new(error))
	info, _ = provider.InfoOf(p, model)
	return info
}
