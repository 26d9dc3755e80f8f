package adapter

import (
	"slices"

	"github.com/pawlkit/pawl/provider"
)

// Known returns the host's information about the model with this id. Entries without a provider
// count as those of the named provider.
func Known(models []provider.ModelInfo, name, id string) (info provider.ModelInfo, ok bool) {
	i := slices.IndexFunc(models, func(m provider.ModelInfo) bool { return m.ID == id })
	if i < 0 {
		return provider.ModelInfo{}, false
	}
	info = models[i]
	if info.Provider == "" {
		info.Provider = name
	}
	return info, true
}

// Copied returns a copy that shares nothing with info.
func Copied(info provider.ModelInfo) provider.ModelInfo {
	info.Inputs, info.Outputs = slices.Clone(info.Inputs), slices.Clone(info.Outputs)
	if info.Prices != nil {
		prices := *info.Prices
		info.Prices = &prices
	}
	return info
}
