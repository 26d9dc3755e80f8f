package adapter

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/provider"
)

// A Trait is a set of properties that not all models of a provider have, with meanings of its
// adapter's.
type Trait uint16

// Has reports whether t has any of other.
func (t Trait) Has(other Trait) bool { return t&other != 0 }

// A Family is a model with all its names. It is an alias, so that tables needn't name its fields.
type Family = struct {
	ID                string // without a version
	Name              string
	Window, MaxOutput int
	Traits            Trait
	Prices            Prices
}

// Prices are dollars per million tokens: input, output, read from the cache, and written to it,
// where 0 is the price of input. All 0: they aren't known.
type Prices [4]float64

// Info returns the prices with their day and source; nil if they aren't known.
func (p Prices) Info(date, source string) *provider.Prices {
	if p == (Prices{}) {
		return nil
	}
	usd := func(dollars float64) provider.Money { return provider.Money(dollars*float64(provider.USD) + .5) }
	return &provider.Prices{Input: usd(p[0]), Output: usd(p[1]), CacheRead: usd(p[2]),
		CacheWrite: usd(cmp.Or(p[3], p[0])), Date: date, Source: source}
}

// Models are the models that an adapter knows.
type Models struct {
	Provider     string
	Families     []Family
	Version      *regexp.Regexp // what may follow the ID of a family
	Date, Source string         // of the prices
	// Complete sets what a model takes and makes, besides texts, and whether it reasons.
	Complete func(info *provider.ModelInfo, t Trait)
}

// Find returns the family of a model, or nil.
func (m *Models) Find(id string) *Family {
	for i := range m.Families {
		if rest, ok := strings.CutPrefix(id, m.Families[i].ID); ok && m.Version.MatchString(rest) {
			return &m.Families[i]
		}
	}
	return nil
}

// All returns the properties of all models.
func (m *Models) All() []provider.ModelInfo {
	infos := make([]provider.ModelInfo, len(m.Families))
	for i := range infos {
		infos[i] = m.Info(&m.Families[i], m.Families[i].ID)
	}
	return infos
}

// Info returns the properties of the model with this id, of a family that may be nil.
func (m *Models) Info(f *Family, id string) provider.ModelInfo {
	info := provider.ModelInfo{Provider: m.Provider, ID: id}
	if f != nil {
		info.Name, info.Window, info.MaxOutput = f.Name, f.Window, f.MaxOutput
		info.Prices = f.Prices.Info(m.Date, m.Source)
		info.Inputs, info.Outputs = []string{"text"}, []string{"text"}
		m.Complete(&info, f.Traits)
	}
	return info
}

// Known returns a copy of the host's information about the model with this id. Entries without a
// provider count as those of the named provider.
func Known(models []provider.ModelInfo, name, id string) (info provider.ModelInfo, ok bool) {
	i := slices.IndexFunc(models, func(m provider.ModelInfo) bool { return m.ID == id })
	if i < 0 {
		return provider.ModelInfo{}, false
	}
	info = models[i]
	info.Provider = cmp.Or(info.Provider, name)
	info.Inputs, info.Outputs = slices.Clone(info.Inputs), slices.Clone(info.Outputs)
	if info.Prices != nil {
		prices := *info.Prices
		info.Prices = &prices
	}
	return info, true
}

// Informed reports whether more than the name of a model is known.
func Informed(info provider.ModelInfo) bool {
	return info.Window > 0 || info.MaxOutput > 0 || info.Prices != nil
}
