package agent

import (
	"fmt"

	"github.com/pawlkit/pawl/agent/internal/contain"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
)

// cost returns the price of a model call, and false if it isn't known.
func (a *Agent) cost(model string, u provider.Usage) (provider.Money, bool) {
	prices := pricesOf(a.provider, model)
	if prices == nil {
		return 0, false
	}
	return prices.Cost(u), true
}

// unknownPrice returns the error for a model that Limits.RequirePrices refuses.
func unknownPrice(model string) error {
	const remedy = "; call a model whose price the provider knows (provider.Info), set the price in the provider's " +
		"configuration, or set Limits.Cost to -1"
	return &LimitError{Limit: machine.LimitRequirePrices,
		Note: fmt.Sprintf("the price of the model %q isn't known", model) + remedy}
}

// pricesOf returns the prices of a model of p, or nil if they aren't known.
func pricesOf(p provider.Provider, model string) (prices *provider.Prices) {
	defer contain.Panic(new(error))
	info, _ := provider.InfoOf(p, model)
	return info.Prices
}
