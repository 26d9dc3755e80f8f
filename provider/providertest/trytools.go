package providertest

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/schema"
	"github.com/pawlkit/pawl/provider"
)

// TryTools returns a model that calls each tool that it is offered once, all in one reply, with an
// input made from the tool's schema, and says then what it called: a test that every tool can be
// called and its result be sent. Tools that are offered later are called later. With the next
// message of the user it begins again.
//
// The inputs are the same for the same seed, names and schemas, and other ones for another seed.
// They fit the schemas: types, enumerations, bounds, patterns, formats, required and nested
// members, lists, references, anyOf, oneOf and allOf. If no input is found for a schema in 200
// tries, which "not" or "if" may cause, the call of the model fails and says so. It is safe for
// concurrent use.
func TryTools(seed uint64) provider.Provider {
	return Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
		var tried []string
		for i := range req.Messages {
			if req.Messages[i].Role == provider.RoleUser {
				tried = nil
			}
			for _, c := range req.Messages[i].Calls() {
				tried = append(tried, c.Name)
			}
		}
		var calls []CallSpec
		for _, t := range req.Tools {
			if slices.Contains(tried, t.Name) {
				continue
			}
			input, err := makeInput(seed, &t)
			if err != nil {
				return nil, &provider.Error{Class: fault.Permanent, Provider: name,
					Message: fmt.Sprintf("TryTools can't make an input of the tool %q: %v", t.Name, err)}
			}
			calls = append(calls, CallSpec{t.Name, input})
		}
		if len(calls) == 0 {
			return Say("I called " + list(tried) + ".").Response(), nil
		}
		return Calls(calls...).Response(), nil
	})
}

// makeInput returns an input that fits the schema of a tool.
func makeInput(seed uint64, t *provider.Tool) (json.RawMessage, error) {
	if len(t.Schema) == 0 {
		return nil, nil
	}
	check, err := schema.Parse(t.Schema)
	if err != nil {
		return nil, err
	}
	var doc any
	dec := json.NewDecoder(strings.NewReader(string(t.Schema)))
	dec.UseNumber()
	if err := dec.Decode(&doc); err != nil {
		return nil, err
	}
	of := fnv.New64a()
	_, _ = of.Write([]byte(t.Name + "\x00" + string(t.Schema)))
	m := &maker{root: doc, rand: rand.New(rand.NewPCG(seed, of.Sum64()))}
	for range 200 {
		var value any
		if value, err = m.make(doc, 0); err != nil {
			continue
		}
		text, failed := marshal(value)
		if failed != nil {
			return nil, failed
		}
		if err = check.Validate(json.RawMessage(text)); err == nil {
			return json.RawMessage(text), nil
		}
	}
	return nil, err
}
