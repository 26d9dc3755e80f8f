package adapter

import (
	"slices"

	"github.com/pawlkit/pawl/provider"
)

// Known returns what a host says of the model with this id, of the named provider where it names none.
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
