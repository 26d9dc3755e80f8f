package openai

import (
	"strings"

	"github.com/pawlkit/pawl/provider"
)

// A chatCall is a call that is being written.
type chatCall struct {
	index   int // the server's; -1: none
	id      string
	name    string
	started bool
	custom  bool
	args    string // that came before the name
	input   nesting
}

// call takes a piece of a call, or a whole one.
func (d *chatDecoder) call(t *chatCallDelta, whole bool) {
	name, args, custom := t.Function.Name, string(t.Function.Arguments), false
	if t.Type == "custom" || t.Custom.Name != "" {
		name, args, custom = t.Custom.Name, t.Custom.Input, true
	}
	d.spoke = true
	i := len(d.calls)
	if !whole {
		i = d.find(t, name, args)
	}
	if i == len(d.calls) {
		d.calls = append(d.calls, &chatCall{index: t.Index.or(-1)})
	}
	c := d.calls[i]
	if c.id == "" {
		c.id = t.ID
	}
	if c.name == "" {
		c.name, c.custom = name, c.custom || custom
	}
	c.input.add(args)
	if !c.started {
		c.args += args
		if c.name == "" {
			return
		}
		args, c.args, c.started = c.args, "", true
		d.put(provider.ToolStart(i, c.id, d.names.decode(c.name)))
		if c.custom {
			d.put(provider.AttachTo(i, d.opaque(kindCustomCall, "{}")))
			d.put(provider.ToolDelta(i, `"`))
		}
	}
	if args == "" {
		return
	}
	if c.custom {
		args = quoted(args)
	}
	d.put(provider.ToolDelta(i, args))
}

// find returns which call a piece belongs to; len(d.calls): to none so far. Another tool's name is another call. Else pieces are
// told apart by id and index; where a server gives no index, or the same to all, by id; without either, a name begins a call.
func (d *chatDecoder) find(t *chatCallDelta, name, args string) int {
	index := t.Index.or(-1)
	for i := len(d.calls) - 1; i >= 0 && t.ID != ""; i-- {
		if c := d.calls[i]; c.id == t.ID && (index == -1 || c.index == index) && !c.differs(name) {
			return i
		}
	}
	for i := len(d.calls) - 1; i >= 0; i-- {
		c := d.calls[i]
		switch {
		case index != -1 && c.index != index:
		case c.differs(name):
		case t.ID != "" && c.id != "" && (name != "" || index == -1):
		case t.ID == "" && index == -1 && name != "" && c.name != "":
		case (t.ID == "" || c.id == "") && name != "" && c.input.complete() && opens(args): // one value follows another
		default:
			return i
		}
	}
	return len(d.calls)
}

// differs reports that name is that of another tool.
func (c *chatCall) differs(name string) bool { return name != "" && c.name != "" && c.name != name }

// opens reports that text begins a JSON object.
func opens(text string) bool { return strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "{") }

func (d *chatDecoder) called() bool {
	for _, c := range d.calls {
		if c.started {
			return true
		}
	}
	return false
}

// broken reports a call whose arguments can't be known to be all there.
func (d *chatDecoder) broken() bool {
	for _, c := range d.calls {
		if !c.started || c.custom || !c.input.complete() {
			return true
		}
	}
	return false
}

// A nesting follows JSON that comes in pieces, as far as it takes to know whether an object or a list has been closed.
type nesting struct {
	depth   int
	begun   bool
	quoted  bool // inside a string
	escaped bool // after a backslash in it
}

func (n *nesting) add(text string) {
	for i := range len(text) {
		switch b := text[i]; {
		case n.escaped:
			n.escaped = false
		case n.quoted:
			n.escaped, n.quoted = b == '\\', b != '"'
		case b == '"':
			n.quoted = true
		case b == '{' || b == '[':
			n.depth, n.begun = n.depth+1, true
		case b == '}' || b == ']':
			n.depth--
		}
	}
}

func (n *nesting) complete() bool { return n.begun && n.depth <= 0 && !n.quoted }
