package openai

import (
	"cmp"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/provider"
)

// A chatCall is a call that is being received.
type chatCall struct {
	index   int // the server's; -1: none
	id      string
	name    string
	started bool
	custom  bool
	args    string // arguments that came before the name
	input   nesting
}

// call decodes a piece of a call, or a whole one.
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
	c.id = cmp.Or(c.id, t.ID)
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
		d.Put(provider.ToolStart(i, c.id, d.Names.Decode(c.name)))
		if c.custom {
			d.Put(provider.AttachTo(i, d.opaque(kindCustomCall, "{}")))
			d.Put(provider.ToolDelta(i, `"`))
		}
	}
	if args == "" {
		return
	}
	if c.custom {
		args = quoted(args)
	}
	d.Put(provider.ToolDelta(i, args))
}

// find returns the index of the call that a piece belongs to, or len(d.calls) for a new call.
// Another tool's name means another call. Otherwise pieces are matched by id and index; if a server
// sends no index, or the same for all, by id; without either, a name starts a call.
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
		case (t.ID == "" || c.id == "") && name != "" && c.input.complete() && opens(args): // one value after another
		default:
			return i
		}
	}
	return len(d.calls)
}

// differs reports whether name is that of another tool.
func (c *chatCall) differs(name string) bool { return name != "" && c.name != "" && c.name != name }

// opens reports whether text starts with a JSON object.
func opens(text string) bool { return strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "{") }

func (d *chatDecoder) called() bool {
	return slices.ContainsFunc(d.calls, func(c *chatCall) bool { return c.started })
}

// broken reports whether there is a call whose arguments may be incomplete.
func (d *chatDecoder) broken() bool {
	return slices.ContainsFunc(d.calls, func(c *chatCall) bool { return !c.started || c.custom || !c.input.complete() })
}

// A nesting parses JSON that comes in pieces, to determine when its object or list is closed.
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
