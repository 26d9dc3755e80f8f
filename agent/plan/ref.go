package plan

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
)

// refKey is the only key of an object that is a reference.
const refKey = "$from"

// From returns a value for an input that stands for an output of another node: the node's id, or
// that and the way to a part of it, with keys and indexes: "create", "create.id",
// "find.results.0.id". The node is done before the one whose input refers to it. In JSON it is
// {"$from": "create.id"}.
func From(path string) any { return map[string]any{refKey: path} }

// A reference is a place in an input that stands for an output.
type reference struct {
	at   []string // where it is in the input
	node string   // the node that it refers to
	path []string // the part of its output
}

func (r *reference) String() string { return strings.Join(append([]string{r.node}, r.path...), ".") }

// referenceOf returns the reference that v is, if it is one.
func referenceOf(v any) (r reference, ok bool, err error) {
	m, _ := v.(map[string]any)
	from, has := m[refKey]
	if !has {
		return r, false, nil
	}
	path, isText := from.(string)
	if !isText || len(m) != 1 {
		return r, false,
			fmt.Errorf(`a reference has only the key %q, and its value is a text such as "create.id"`, refKey)
	}
	node, rest, deeper := strings.Cut(path, ".")
	if node == "" {
		return r, false, fmt.Errorf("the reference %q names no node", path)
	}
	r.node = node
	if deeper {
		r.path = strings.Split(rest, ".")
		if slices.Contains(r.path, "") {
			return r, false, fmt.Errorf("the reference %q has an empty key", path)
		}
	}
	return r, true, nil
}

// references returns the references in an input, in the order of its keys, and what is wrong with
// those that are none.
func references(input map[string]any) (refs []reference, wrong []error) {
	_, wrong = replace(input, func(r *reference) (any, error) {
		refs = append(refs, *r)
		return nil, nil
	})
	return refs, wrong
}

// replace returns input with each reference replaced by what with returns for it, and what is wrong
// with those that are none, or for which with returns an error. It changes nothing of input.
func replace(input map[string]any, with func(*reference) (any, error)) (_ map[string]any, wrong []error) {
	var walk func(v any, at []string) any
	walk = func(v any, at []string) any {
		r, ok, err := referenceOf(v)
		switch {
		case err != nil:
			wrong = append(wrong, fmt.Errorf("input %s: %w", strings.Join(at, "."), err))
			return nil
		case ok:
			r.at = slices.Clone(at)
			if v, err = with(&r); err != nil {
				wrong = append(wrong, err)
			}
			return v
		}
		switch v := v.(type) {
		case map[string]any:
			out := make(map[string]any, len(v))
			for _, key := range slices.Sorted(maps.Keys(v)) {
				out[key] = walk(v[key], append(at, key))
			}
			return out
		case []any:
			out := make([]any, len(v))
			for i := range v {
				out[i] = walk(v[i], append(at, strconv.Itoa(i)))
			}
			return out
		}
		return v
	}
	out := make(map[string]any, len(input))
	for _, key := range slices.Sorted(maps.Keys(input)) {
		out[key] = walk(input[key], []string{key})
	}
	return out, wrong
}

// resolve returns the input of a node with its references replaced by parts of outputs, which are
// JSON texts by the ids of nodes. The error is of class invalid: it says which part an output
// doesn't have.
func resolve(n *Node, outputs map[string]json.RawMessage) (json.RawMessage, error) {
	input, wrong := replace(n.Input, func(r *reference) (any, error) {
		output, ok := outputs[r.node]
		if !ok {
			return nil, fmt.Errorf("node %q has no output", r.node)
		}
		v, err := decode(output)
		if err != nil {
			return nil, fmt.Errorf("the output of node %q isn't JSON: %w", r.node, err)
		}
		for i, key := range r.path {
			var found bool
			switch in := v.(type) {
			case map[string]any:
				v, found = in[key]
			case []any:
				if at, err := strconv.Atoi(key); err == nil && at >= 0 && at < len(in) {
					v, found = in[at], true
				}
			}
			if !found {
				return nil, fmt.Errorf("the output of node %q has no %s", r.node, strings.Join(r.path[:i+1], "."))
			}
		}
		return v, nil
	})
	text, err := json.Marshal(input)
	if err = cmp.Or(errors.Join(wrong...), err); err != nil {
		return nil, fault.Wrap(fault.Invalid, fmt.Errorf("plan: the input of node %q: %w", n.ID, err))
	}
	return text, nil
}

// decode returns a JSON text as values whose numbers keep all their digits.
func decode(text json.RawMessage) (v any, err error) {
	dec := json.NewDecoder(strings.NewReader(string(text)))
	dec.UseNumber()
	err = dec.Decode(&v)
	return v, err
}
