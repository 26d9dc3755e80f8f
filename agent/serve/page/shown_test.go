package page_test

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/pawlkit/pawl/agent/serve/page"
)

// A screen does with patches what the page does.
type screen struct {
	items  map[string]map[string]any
	blocks map[string][]string
	state  map[string]any
}

func newScreen() *screen {
	return &screen{items: map[string]map[string]any{}, blocks: map[string][]string{}, state: map[string]any{}}
}

func (s *screen) apply(patches ...page.Patch) {
	for _, p := range patches {
		raw, err := json.Marshal(p)
		if err != nil {
			panic(err)
		}
		var m map[string]map[string]any
		_ = json.Unmarshal(raw, &m) // "drop" is a string
		switch {
		case p.Drop != "":
			for id, it := range s.items {
				text := it["kind"] == "text" || it["kind"] == "reasoning"
				if text && it["done"] != true || it["kind"] == "call" && it["status"] == "writing" {
					delete(s.items, id)
					delete(s.blocks, id)
				}
			}
		case p.Item != nil:
			it := s.items[p.Item.ID]
			if it == nil {
				it = map[string]any{}
				s.items[p.Item.ID] = it
			}
			if _, ended := m["item"]["status"]; ended {
				delete(it, "wait")
				delete(it, "progress")
			}
			maps.Copy(it, m["item"])
		case p.Blocks != nil:
			have := s.blocks[p.Blocks.ID]
			s.blocks[p.Blocks.ID] = append(slices.Clone(have[:min(p.Blocks.From, len(have))]), p.Blocks.HTML...)
		case p.State != nil:
			delete(s.state, "waiting")
			maps.Copy(s.state, m["state"])
			delete(s.state, "active")
		}
	}
}
