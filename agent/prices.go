package agent

import "github.com/pawlkit/pawl/provider"

// addPrices looks up what the models cost that the agent and its modes ask for.
func (a *Agent) addPrices() {
	a.prices = map[string]*provider.Prices{a.cfg.Model: pricesOf(a.provider, a.cfg.Model)}
	for _, m := range a.cfg.Modes {
		a.prices[m.Model] = pricesOf(a.provider, m.Model)
	}
}

// cost returns what a call cost that asked for a model, and false if nobody knows.
func (a *Agent) cost(model string, u provider.Usage) (provider.Money, bool) {
	prices, known := a.prices[model]
	if !known { // a hook has asked for it
		prices = pricesOf(a.provider, model)
	}
	if prices == nil {
		return 0, false
	}
	return prices.Cost(u), true
}

// pricesOf returns the prices of the model that p calls by that name; nil if they aren't known.
func pricesOf(p provider.Provider, model string) (prices *provider.Prices) {
	defer func() {
		if recover() != nil { // it is the host's
			prices = nil
		}
	}()
	info, _ := provider.InfoOf(p, model)
	return info.Prices
}
