package gemini

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// A partialArg is a piece of the arguments of a call: a value, or a piece of a text, at a path.
type partialArg struct {
	Path   string          `json:"jsonPath"`
	String *string         `json:"stringValue"`
	Number json.RawMessage `json:"numberValue"`
	Bool   *bool           `json:"boolValue"`
	Null   json.RawMessage `json:"nullValue"`
}

// deepest is the deepest nesting of arguments.
const deepest = 128

// A node is a value in arguments that are being assembled. Its zero value is an unknown value.
type node struct {
	fields map[string]*node
	items  []*node
	text   *strings.Builder
	raw    json.RawMessage // a number, true, false or null
}

// add adds a piece. It returns false if the piece contradicts earlier ones.
func (n *node) add(p *partialArg) bool {
	path, ok := strings.CutPrefix(p.Path, "$")
	for depth := 0; ok && path != ""; depth++ {
		if depth == deepest || n.text != nil || n.raw != nil {
			return false
		}
		var step string
		var index int
		step, index, path, ok = nextStep(path)
		switch {
		case !ok:
		case index >= 0:
			n, ok = n.item(index)
		default:
			n, ok = n.field(step)
		}
	}
	return ok && n.set(p)
}

// nextStep splits the first step from a path: .name, ['name'] or [0]. The index is -1 for a name.
func nextStep(path string) (name string, index int, rest string, ok bool) {
	if after, dotted := strings.CutPrefix(path, "."); dotted {
		end := strings.IndexAny(after, ".[")
		if end < 0 {
			end = len(after)
		}
		return after[:end], -1, after[end:], end > 0
	}
	if len(path) > 3 && path[0] == '[' && (path[1] == '\'' || path[1] == '"') {
		quote := path[1]
		var b strings.Builder
		for i := 2; i < len(path); i++ {
			switch c := path[i]; {
			case c == '\\' && i+1 < len(path):
				i++
				b.WriteByte(path[i])
			case c == quote:
				rest, ok = strings.CutPrefix(path[i+1:], "]")
				return b.String(), -1, rest, ok
			default:
				b.WriteByte(c)
			}
		}
		return "", 0, "", false
	}
	number, rest, ok := strings.Cut(strings.TrimPrefix(path, "["), "]")
	index, err := strconv.Atoi(number)
	return "", index, rest, ok && path[0] == '[' && err == nil && index >= 0
}

func (n *node) field(name string) (*node, bool) {
	if n.items != nil {
		return nil, false
	}
	if n.fields == nil {
		n.fields = map[string]*node{}
	}
	child := n.fields[name]
	if child == nil {
		child = &node{}
		n.fields[name] = child
	}
	return child, true
}

// item returns an item of a list, and adds it if it is the next one; lists come in order.
func (n *node) item(index int) (*node, bool) {
	if n.fields != nil || index > len(n.items) {
		return nil, false
	}
	if index == len(n.items) {
		n.items = append(n.items, &node{})
	}
	return n.items[index], true
}

func (n *node) set(p *partialArg) bool {
	if n.fields != nil || n.items != nil {
		return false
	}
	switch {
	case p.String != nil:
		if n.raw != nil {
			return false
		}
		if n.text == nil {
			n.text = new(strings.Builder)
		}
		n.text.WriteString(*p.String)
		return true
	case n.text != nil:
		return false
	case !adapter.IsNull(p.Number):
		n.raw = append(json.RawMessage(nil), p.Number...)
	case p.Bool != nil:
		n.raw = json.RawMessage(strconv.FormatBool(*p.Bool))
	case p.Null != nil:
		n.raw = json.RawMessage("null")
	}
	return true // a piece without a value only announces one
}

// value returns the value for [adapter.Encode].
func (n *node) value() any {
	switch {
	case n.text != nil:
		return n.text.String()
	case n.raw != nil:
		return n.raw
	case n.items != nil:
		items := make([]any, len(n.items))
		for i, item := range n.items {
			items[i] = item.value()
		}
		return items
	case n.fields != nil:
		fields := map[string]any{}
		for name, field := range n.fields {
			fields[name] = field.value()
		}
		return fields
	}
	return nil
}

// joined returns the fields of n and of args, which came whole, as JSON. It returns false if they
// contradict each other: args isn't an object, or has another value for a field of n.
func (n *node) joined(args string) (string, bool) {
	all := map[string]json.RawMessage{}
	if args != "" && json.Unmarshal([]byte(args), &all) != nil || all == nil {
		return "", false
	}
	for key, child := range n.fields {
		value := adapter.JSON(child.value())
		if there, ok := all[key]; ok && string(there) != string(value) {
			return "", false
		}
		all[key] = value
	}
	return string(adapter.JSON(all)), true
}
