package openai

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// A chatCall is a call that is being received.
type chatCall struct {
	index   int // the server's; -1: none
	id      string
	name    string
	started bool
	custom  bool
	held    bool   // it has the id of a call before it: it is the same one if its arguments are the same
	args    string // arguments that came before the name, or while it was held
	all     []byte // all arguments so far
	extra   []byte // JSON that goes back with it
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
		held := !whole && name != "" && d.twin(i, t.ID, name) >= 0
		d.calls = append(d.calls, &chatCall{index: t.Index.or(-1), held: held})
	}
	c := d.calls[i]
	keep(&c.extra, t.Extra)
	c.id = cmp.Or(c.id, t.ID)
	if c.name == "" {
		c.name, c.custom = name, c.custom || custom
	}
	c.input.add(args)
	c.all = append(c.all, args...)
	if !c.started {
		c.args += args
		if c.name == "" || c.held {
			return
		}
		args, c.args = c.args, ""
		d.startCall(i)
	}
	if args == "" {
		return
	}
	if c.custom {
		args = quoted(args)
	}
	d.Put(provider.ToolDelta(i, args))
}

func (d *chatDecoder) startCall(i int) {
	c := d.calls[i]
	c.started = true
	d.Put(provider.ToolStart(i, c.id, d.Names.Decode(c.name)))
	if c.custom {
		d.Put(provider.AttachTo(i, d.opaque(kindCustomCall, "{}")))
		d.Put(provider.ToolDelta(i, `"`))
	}
}

func (d *chatDecoder) endCall(i int) {
	c := d.calls[i]
	if c.custom {
		d.Put(provider.ToolDelta(i, `"`))
	} else if len(c.extra) > 0 {
		d.Put(provider.AttachTo(i, d.opaque(kindExtra, string(c.extra))))
	}
	d.Put(provider.ToolEnd(i))
}

// twin returns the index of a call before call i with the same id and name, or -1.
func (d *chatDecoder) twin(i int, id, name string) int {
	return slices.IndexFunc(d.calls[:i], func(c *chatCall) bool { return id != "" && c.id == id && c.name == name })
}

// release yields a call that was held, unless it repeats the one whose id it has.
func (d *chatDecoder) release(i int) {
	c := d.calls[i]
	if t := d.twin(i, c.id, c.name); t >= 0 && bytes.Equal(d.calls[t].all, c.all) {
		return
	}
	d.startCall(i)
	args := adapter.Join(c.args)
	if c.custom {
		args = quoted(args)
	}
	d.Put(provider.ToolDelta(i, args))
	d.endCall(i)
}

// find returns the index of the call that a piece belongs to, or len(d.calls) for a new call.
// Another tool's name means another call. Otherwise pieces are matched by id and index; if a server
// sends no index, or the same for all, by id; without either, a name starts a call. An id that is
// known under another index means that call, if its arguments aren't complete. A piece under a new
// index with neither id nor name belongs to the newest call whose arguments aren't complete.
func (d *chatDecoder) find(t *chatCallDelta, name, args string) int {
	index := t.Index.or(-1)
	for i := len(d.calls) - 1; i >= 0 && t.ID != ""; i-- {
		c := d.calls[i]
		goesOn := !c.input.complete() && (name == "" || args != "" || c.input.begun)
		if c.id == t.ID && (index == -1 || c.index == index || goesOn) && !c.differs(name) {
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
	for i := len(d.calls) - 1; i >= 0 && t.ID == "" && name == ""; i-- {
		if !d.calls[i].input.complete() {
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
