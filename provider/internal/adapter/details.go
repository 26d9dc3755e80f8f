package adapter

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/pawlkit/pawl/provider"
)

// MostDetails is how many bytes of details an answer keeps.
const MostDetails = 1 << 20

// Details are what a server says of an answer beside it: see [provider.Response].Details. The
// decoders set what their API has, from fixed lists of members, and [Answer.Put] adds them to End.
type Details struct {
	list []detail // in the order in which they came
	size int      // of all their bytes
}

type detail struct {
	name   string
	raw    []byte // a value; of pieces, the pieces with commas between them
	pieces int
	over   bool // it was too large
}

// Set keeps a value instead of an earlier one. What says nothing is ignored: null, {}, [] and "".
func (d *Details) Set(name string, value json.RawMessage) {
	if one := d.room(name, value, false); one != nil {
		one.raw = append(one.raw[:0], value...)
	}
}

// Add keeps a piece of a value that comes in pieces, such as the log probabilities of the tokens:
// lists are joined, and so are lists in objects.
func (d *Details) Add(name string, piece json.RawMessage) {
	one := d.room(name, piece, true)
	if one == nil {
		return
	}
	if one.pieces++; one.pieces > 1 {
		one.raw = append(one.raw, ',')
		d.size++
	}
	one.raw = append(one.raw, piece...)
}

// room returns the detail with that name if it has to be written and there is room for the value.
func (d *Details) room(name string, value json.RawMessage, piece bool) *detail {
	switch string(value) {
	case "", "null", "{}", "[]", `""`:
		return nil
	}
	i := slices.IndexFunc(d.list, func(one detail) bool { return one.name == name })
	if i < 0 {
		i = len(d.list)
		d.list = append(d.list, detail{name: name})
	}
	one := &d.list[i]
	if one.over || !piece && bytes.Equal(one.raw, value) {
		return nil
	}
	if !piece {
		d.size -= len(one.raw)
	}
	if d.size+len(value)+1 > MostDetails {
		if piece {
			d.size -= len(one.raw)
		}
		one.over, one.raw = true, nil
		return nil
	}
	d.size += len(value)
	return one
}

// values returns the details, nil if there are none. One that was too large is null.
func (d *Details) values() map[string]json.RawMessage {
	if len(d.list) == 0 {
		return nil
	}
	out := make(map[string]json.RawMessage, len(d.list))
	for i := range d.list {
		one := &d.list[i]
		raw := json.RawMessage(one.raw)
		if one.pieces > 1 {
			raw = joinedPieces(raw)
		}
		if text := Compact(raw); text != "" && !one.over {
			out[one.name] = provider.EscapeSeparators(json.RawMessage(text))
		} else {
			out[one.name] = json.RawMessage("null")
		}
	}
	return out
}

// joinedPieces returns one value of pieces with commas between them. What is neither a list nor an
// object with lists is that of the last piece.
func joinedPieces(pieces json.RawMessage) json.RawMessage {
	all := slices.Concat([]byte("["), pieces, []byte("]"))
	var lists [][]json.RawMessage
	if json.Unmarshal(all, &lists) == nil {
		return JSON(slices.Concat(lists...))
	}
	var objects []map[string]json.RawMessage
	if json.Unmarshal(all, &objects) != nil {
		var values []json.RawMessage
		if json.Unmarshal(all, &values) != nil {
			return nil
		}
		return values[len(values)-1]
	}
	joined := map[string]json.RawMessage{}
	more := map[string][]json.RawMessage{}
	for _, o := range objects {
		for name, value := range o {
			var list []json.RawMessage
			switch {
			case IsNull(value):
			case json.Unmarshal(value, &list) == nil:
				more[name] = append(more[name], list...)
			default:
				joined[name] = value
			}
		}
	}
	for name, list := range more {
		joined[name] = JSON(append([]json.RawMessage{}, list...)) // [] and not null
	}
	return JSON(joined)
}

// A Detail is a member of an answer for [Details]. It has no memory of its own for null.
type Detail json.RawMessage

// UnmarshalJSON keeps the value.
func (v *Detail) UnmarshalJSON(b []byte) error {
	*v = (*v)[:0]
	if !IsNull(b) {
		*v = append(*v, b...)
	}
	return nil
}
