package openai

import (
	"slices"
	"strings"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// DefaultModel is OpenAI's model if neither Config nor the request names one.
const DefaultModel = "gpt-6.1-sol"

// The prices were collected on this day from publications about OpenAI's pricing page.
const (
	priceDate   = "2026-11-21"
	priceSource = "reports of https://developers.openai.com/api/docs/pricing"
)

// A row has the properties of a model: sizes in tokens, prices in thousandths of a dollar per
// million tokens.
type row struct {
	id, name          string
	window, maxOutput int
	reasoning         bool
	inputs            string // i: images, d: documents; all take text
	in, out           int64  // 0: the prices aren't known
	cached, written   int64  // written 0: writing to the cache costs the same as input
}

// table has the models of OpenAI. Prices are those of the standard tier; from GPT-5.4 on, a model
// with a window of 1,050,000 costs twice as much for input and one and a half times as much for
// output in a call of more than 272,000 input tokens, which isn't shown.
var table = []row{
	{"gpt-6.2-astra", "GPT-6.2 Astra", 1_050_000, 128_000, true, "id", 0, 0, 0, 0},
	{"gpt-6.2-sol", "GPT-6.2 Sol", 1_050_000, 128_000, true, "id", 0, 0, 0, 0},
	{"gpt-6.1-sol", "GPT-6.1 Sol", 1_050_000, 128_000, true, "id", 2_000, 10_000, 100, 2_500},
	{"gpt-6-astra", "GPT-6 Astra", 1_050_000, 128_000, true, "id", 10_000, 50_000, 1_000, 12_500},
	{"gpt-6-sol", "GPT-6 Sol", 1_050_000, 128_000, true, "id", 2_000, 10_000, 200, 2_500},
	{"gpt-6-luna", "GPT-6 Luna", 1_050_000, 128_000, true, "id", 100, 500, 10, 125},
	{"gpt-5.6-sol", "GPT-5.6 Sol", 1_050_000, 128_000, true, "id", 4_000, 20_000, 400, 5_000},
	{"gpt-5.6-terra", "GPT-5.6 Terra", 1_050_000, 128_000, true, "id", 2_000, 12_000, 200, 2_500},
	{"gpt-5.6-luna", "GPT-5.6 Luna", 1_050_000, 128_000, true, "id", 200, 1_200, 20, 250},
	{"gpt-5.5", "GPT-5.5", 1_050_000, 128_000, true, "id", 5_000, 30_000, 500, 0},
	{"gpt-5.4", "GPT-5.4", 1_050_000, 128_000, true, "id", 2_500, 15_000, 250, 0},
	{"gpt-5.4-mini", "GPT-5.4 mini", 400_000, 128_000, true, "id", 750, 4_500, 75, 0},
	{"gpt-5.4-nano", "GPT-5.4 nano", 400_000, 128_000, true, "id", 200, 1_250, 20, 0},
	{"gpt-5.2", "GPT-5.2", 400_000, 128_000, true, "id", 1_750, 14_000, 175, 0},
	{"gpt-5.1", "GPT-5.1", 400_000, 128_000, true, "id", 1_250, 10_000, 125, 0},
	{"gpt-5", "GPT-5", 400_000, 128_000, true, "id", 1_250, 10_000, 125, 0},
	{"gpt-5-mini", "GPT-5 mini", 400_000, 128_000, true, "id", 250, 2_000, 25, 0},
	{"gpt-5-nano", "GPT-5 nano", 400_000, 128_000, true, "id", 50, 400, 5, 0},
	{"gpt-4.1", "GPT-4.1", 1_047_576, 32_768, false, "id", 2_000, 8_000, 500, 0},
	{"gpt-4.1-mini", "GPT-4.1 mini", 1_047_576, 32_768, false, "id", 400, 1_600, 100, 0},
	{"gpt-4.1-nano", "GPT-4.1 nano", 1_047_576, 32_768, false, "id", 100, 400, 25, 0},
	{"gpt-4o", "GPT-4o", 128_000, 16_384, false, "id", 2_500, 10_000, 1_250, 0},
	{"gpt-4o-mini", "GPT-4o mini", 128_000, 16_384, false, "id", 150, 600, 75, 0},
	{"o3", "o3", 200_000, 100_000, true, "id", 2_000, 8_000, 500, 0},
	{"o4-mini", "o4-mini", 200_000, 100_000, true, "id", 1_100, 4_400, 275, 0},
	{"o3-mini", "o3-mini", 200_000, 100_000, true, "", 1_100, 4_400, 550, 0},
}

// Models returns the built-in table: the common models of OpenAI with their prices. Add models of
// other servers, and later changes, in Config.Models.
func Models() []provider.ModelInfo {
	infos := make([]provider.ModelInfo, len(table))
	for i := range table {
		infos[i] = table[i].info()
	}
	return infos
}

func (r *row) info() provider.ModelInfo {
	inputs := []string{"text"}
	for _, kind := range []struct{ letter, name string }{{"i", "image"}, {"d", "document"}} {
		if strings.Contains(r.inputs, kind.letter) {
			inputs = append(inputs, kind.name)
		}
	}
	info := provider.ModelInfo{Provider: "openai", ID: r.id, Name: r.name, Window: r.window, MaxOutput: r.maxOutput,
		Inputs: inputs, Outputs: []string{"text"}, Reasoning: r.reasoning}
	if r.in == 0 {
		return info
	}
	written := r.written
	if written == 0 {
		written = r.in
	}
	const thousandth = provider.USD / 1000
	info.Prices = &provider.Prices{Input: provider.Money(r.in) * thousandth, Output: provider.Money(r.out) * thousandth,
		CacheRead: provider.Money(r.cached) * thousandth, CacheWrite: provider.Money(written) * thousandth,
		Date: priceDate, Source: priceSource}
	return info
}

// lookup returns the properties of a model: from the host, else, at OpenAI's own address, from the
// table. A name with a date (gpt-5-2025-08-07) is the model without it.
func (m *Model) lookup(model string) provider.ModelInfo {
	if info, ok := adapter.Known(m.models, m.name, model); ok && model != "" {
		return info
	}
	if m.host.own {
		if e, ok := embeddings[model]; ok {
			price := provider.Money(e.price) * provider.USD / 1000
			return provider.ModelInfo{Provider: m.name, ID: model, Window: 8192, Inputs: []string{"text"},
				Prices: &provider.Prices{Input: price, CacheRead: price, CacheWrite: price, Date: embeddingsDate,
					Source: priceSource}}
		}
		if info, ok := m.imageInfo(model); ok {
			return info
		}
		for _, id := range []string{model, undated(model)} {
			if i := slices.IndexFunc(table, func(r row) bool { return r.id == id }); i >= 0 {
				info := table[i].info()
				info.ID, info.Provider = model, m.name
				return info
			}
		}
	}
	return provider.ModelInfo{Provider: m.name, ID: model, Reasoning: m.host.own && isReasoningModel(model)}
}

// undated removes the date at the end of a model's name.
func undated(model string) string {
	const form = "-2006-01-02"
	if len(model) <= len(form) {
		return model
	}
	date := model[len(model)-len(form):]
	for i := range len(form) {
		if isDigit := date[i] >= '0' && date[i] <= '9'; isDigit != (form[i] != '-') {
			return model
		}
	}
	return model[:len(model)-len(form)]
}
