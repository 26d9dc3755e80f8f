package openai

import (
	"cmp"
	"encoding/json"
	"maps"
)

// at returns the item that a piece belongs to.
func (d *responsesDecoder) at(ev *responsesEvent) *outputItem {
	return d.item(&responsesItem{ID: ev.ItemID}, ev.OutputIndex.or(0), false)
}

// of returns the item of an event about its beginning or end.
func (d *responsesDecoder) of(raw json.RawMessage) *outputItem {
	return d.item(identity(raw), d.ev.OutputIndex.or(0), false)
}

// inOutput returns the item at a place of the whole response.
func (d *responsesDecoder) inOutput(place int, raw json.RawMessage) *outputItem {
	return d.item(identity(raw), place, true)
}

// identity returns the fields that identify an item.
func identity(raw json.RawMessage) *responsesItem {
	var id struct {
		Type   string `json:"type"`
		ID     string `json:"id"`
		CallID string `json:"call_id"`
		Name   string `json:"name"`
	}
	if decode(raw, &id) != nil {
		return &responsesItem{}
	}
	return &responsesItem{Type: id.Type, ID: id.ID, CallID: id.CallID, Name: id.Name}
}

// item returns the item of an event or of the response: by the id of the call or of the item; by
// the index only if neither is known, because some servers change ids, some number the items again
// at the end, and some send the same index for all. In the whole response, a finished item may have
// another id.
func (d *responsesDecoder) item(v *responsesItem, place int, whole bool) *outputItem {
	var found *outputItem
	for _, matches := range []func(it *outputItem) bool{
		func(it *outputItem) bool { return it.callID != "" && it.callID == v.CallID },
		func(it *outputItem) bool { return it.id != "" && it.id == v.ID },
		func(it *outputItem) bool {
			another := !whole && it.done && it.id != "" && v.ID != "" && it.id != v.ID
			return it.place == place && !another
		}} {
		for i := len(d.items) - 1; i >= 0 && found == nil; i-- {
			if it := d.items[i]; it.agrees(v) && matches(it) {
				found = it
			}
		}
	}
	if found == nil {
		found = &outputItem{index: len(d.items), place: place}
		d.items = append(d.items, found)
	}
	found.id, found.callID = cmp.Or(v.ID, found.id), cmp.Or(v.CallID, found.callID)
	found.name = cmp.Or(v.Name, found.name)
	return found
}

// agrees reports whether no known field shows that the two items differ.
func (it *outputItem) agrees(v *responsesItem) bool {
	same := func(a, b string) bool { return a == "" || b == "" || a == b }
	return same(it.kind, v.Type) && same(it.callID, v.CallID) && same(it.name, v.Name)
}

// otherFields returns the fields of a call that a request has besides those of each call, such as
// its id, its caller and its namespace.
func otherFields(raw json.RawMessage) map[string]json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return map[string]json.RawMessage{}
	}
	maps.DeleteFunc(fields, func(name string, value json.RawMessage) bool {
		switch name {
		case "type", "call_id", "name", "arguments", "input", "status":
			return true
		}
		return !isSet(value)
	})
	return fields
}
