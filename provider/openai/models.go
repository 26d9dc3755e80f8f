package openai

import (
	"regexp"

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

// The properties that not all models have.
const (
	reasons adapter.Trait = 1 << iota
	reads                 // takes images and documents
	draws                 // makes images, and nothing else
)

// table has the models of OpenAI. Prices are those of the standard tier; from GPT-5.4 on, a model
// with a window of 1,050,000 costs twice as much for input and one and a half times as much for
// output in a call of more than 272,000 input tokens, which isn't shown.
var table = []adapter.Family{
	{"gpt-6.2-astra", "GPT-6.2 Astra", 1_050_000, 128_000, reasons | reads, adapter.Prices{}},
	{"gpt-6.2-sol", "GPT-6.2 Sol", 1_050_000, 128_000, reasons | reads, adapter.Prices{}},
	{"gpt-6.1-sol", "GPT-6.1 Sol", 1_050_000, 128_000, reasons | reads, adapter.Prices{2, 10, .1, 2.5}},
	{"gpt-6-astra", "GPT-6 Astra", 1_050_000, 128_000, reasons | reads, adapter.Prices{10, 50, 1, 12.5}},
	{"gpt-6-sol", "GPT-6 Sol", 1_050_000, 128_000, reasons | reads, adapter.Prices{2, 10, .2, 2.5}},
	{"gpt-6-luna", "GPT-6 Luna", 1_050_000, 128_000, reasons | reads, adapter.Prices{.1, .5, .01, .125}},
	{"gpt-5.6-sol", "GPT-5.6 Sol", 1_050_000, 128_000, reasons | reads, adapter.Prices{4, 20, .4, 5}},
	{"gpt-5.6-terra", "GPT-5.6 Terra", 1_050_000, 128_000, reasons | reads, adapter.Prices{2, 12, .2, 2.5}},
	{"gpt-5.6-luna", "GPT-5.6 Luna", 1_050_000, 128_000, reasons | reads, adapter.Prices{.2, 1.2, .02, .25}},
	{"gpt-5.5", "GPT-5.5", 1_050_000, 128_000, reasons | reads, adapter.Prices{5, 30, .5}},
	{"gpt-5.4", "GPT-5.4", 1_050_000, 128_000, reasons | reads, adapter.Prices{2.5, 15, .25}},
	{"gpt-5.4-mini", "GPT-5.4 mini", 400_000, 128_000, reasons | reads, adapter.Prices{.75, 4.5, .075}},
	{"gpt-5.4-nano", "GPT-5.4 nano", 400_000, 128_000, reasons | reads, adapter.Prices{.2, 1.25, .02}},
	{"gpt-5.2", "GPT-5.2", 400_000, 128_000, reasons | reads, adapter.Prices{1.75, 14, .175}},
	{"gpt-5.1", "GPT-5.1", 400_000, 128_000, reasons | reads, adapter.Prices{1.25, 10, .125}},
	{"gpt-5", "GPT-5", 400_000, 128_000, reasons | reads, adapter.Prices{1.25, 10, .125}},
	{"gpt-5-mini", "GPT-5 mini", 400_000, 128_000, reasons | reads, adapter.Prices{.25, 2, .025}},
	{"gpt-5-nano", "GPT-5 nano", 400_000, 128_000, reasons | reads, adapter.Prices{.05, .4, .005}},
	{"gpt-4.1", "GPT-4.1", 1_047_576, 32_768, reads, adapter.Prices{2, 8, .5}},
	{"gpt-4.1-mini", "GPT-4.1 mini", 1_047_576, 32_768, reads, adapter.Prices{.4, 1.6, .1}},
	{"gpt-4.1-nano", "GPT-4.1 nano", 1_047_576, 32_768, reads, adapter.Prices{.1, .4, .025}},
	{"gpt-4o", "GPT-4o", 128_000, 16_384, reads, adapter.Prices{2.5, 10, 1.25}},
	{"gpt-4o-mini", "GPT-4o mini", 128_000, 16_384, reads, adapter.Prices{.15, .6, .075}},
	{"o3", "o3", 200_000, 100_000, reasons | reads, adapter.Prices{2, 8, .5}},
	{"o4-mini", "o4-mini", 200_000, 100_000, reasons | reads, adapter.Prices{1.1, 4.4, .275}},
	{"o3-mini", "o3-mini", 200_000, 100_000, reasons, adapter.Prices{1.1, 4.4, .55}},
}

// dated matches what may follow a model's ID: a date, as in gpt-5-2025-08-07.
var dated = regexp.MustCompile(`^(-\d{4}-\d{2}-\d{2})?$`)

var (
	models = adapter.Models{Provider: "openai", Families: table, Version: dated, Date: priceDate, Source: priceSource,
		Complete: complete}
	imageModels = adapter.Models{Provider: "openai", Families: imageTable, Version: dated, Date: imagesDate,
		Source: priceSource, Complete: complete}
)

func complete(info *provider.ModelInfo, t adapter.Trait) {
	info.Reasoning = t.Has(reasons)
	if t.Has(reads) {
		info.Inputs = []string{"text", "image", "document"}
	}
	if t.Has(draws) {
		info.Outputs = []string{"image"}
	}
}

// Models returns the built-in table: the common models of OpenAI with their prices. Add models of
// other servers, and later changes, in Config.Models.
func Models() []provider.ModelInfo { return models.All() }

// lookup returns the properties of a model: from the host, else, at OpenAI's own address, from the
// tables. A server that its user runs, such as Ollama, is free of charge in the user's own network.
func (m *Model) lookup(model string) provider.ModelInfo {
	if info, ok := adapter.Known(m.models, m.name, model); ok && model != "" {
		return info
	}
	info := provider.ModelInfo{ID: model}
	if m.host.own {
		if e, ok := embeddings[model]; ok {
			return e.Info(m.name, model, embeddingsDate, priceSource)
		}
		info.Reasoning = isReasoningModel(model)
		for _, known := range []*adapter.Models{&models, &imageModels} {
			if f := known.Find(model); f != nil {
				info = known.Info(f, model)
			}
		}
	}
	if m.host.Name != "" && m.host.Keyless && m.client.Near() {
		info.Prices = &provider.Prices{Source: m.host.Title + " in one's own network"}
	}
	info.Provider = m.name
	return info
}
