package output

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/schema"
	"github.com/pawlkit/pawl/provider"
)

// A Type is a Go type whose values a model writes as JSON. Make one with [Of].
type Type[T any] struct {
	// Schema is what a model is asked for. Providers require objects, so a T that isn't one is
	// wrapped in an object with the one field "value".
	Schema  *schema.Schema
	wrapped bool
}

// Of returns the Type of T, or an error if no schema can be made of it.
func Of[T any]() (t Type[T], err error) {
	t.Schema, err = schema.Of(reflect.TypeFor[T](), nil)
	if err == nil && !t.Schema.IsObject() {
		t.wrapped = true
		t.Schema, err = schema.For[struct {
			Value T `json:"value"`
		}](nil)
	}
	if err != nil {
		return t, fmt.Errorf("no schema can be made of %s: %w", reflect.TypeFor[T](), err)
	}
	return t, nil
}

// Read returns the T in an answer, or what is wrong with the answer: see [Accept].
func (t Type[T]) Read(text string) (v T, err error) {
	answer, err := Accept(t.Schema, text)
	if err != nil {
		return v, err
	}
	if !t.wrapped {
		return v, json.Unmarshal(answer, &v)
	}
	var w struct {
		Value T `json:"value"`
	}
	err = json.Unmarshal(answer, &w)
	return w.Value, err
}

// Ask asks a model for a T. generate makes the model call. An answer that doesn't fit the schema is
// sent back, at most so many times (below 0: without a limit); then misfit makes the error of its
// text and of what is wrong with it.
func (t Type[T]) Ask(req provider.Request, corrections int,
	generate func(*provider.Request) (*provider.Response, error), misfit func(string, error) error) (v T, err error) {
	req.Output = &provider.OutputFormat{Name: "answer", Schema: t.Schema.JSON()}
	req.Messages = req.Messages[:len(req.Messages):len(req.Messages)]
	for ; ; corrections-- {
		res, err := generate(&req)
		switch {
		case err != nil:
			return v, err
		case res.Stop != provider.StopDone && res.Stop != provider.StopUnknown:
			return v, fault.Errorf(fault.Permanent, "agent: asking for a structured answer: the model stopped (%s)",
				res.Stop)
		}
		text := res.Text()
		v, err := t.Read(text)
		switch {
		case err == nil:
			return v, nil
		case corrections == 0:
			return v, misfit(text, err)
		}
		req.Messages = append(req.Messages, provider.Assistant(cmp.Or(text, "(nothing)")),
			provider.User(Correction(err)))
	}
}

// Correction returns what the model reads about an answer that it should correct.
func Correction(problem error) string {
	return "Your answer doesn't fit the schema that was asked for: " + problem.Error() +
		"\nAnswer again, with nothing but JSON that fits."
}

// Accept returns the answer in a text as the schema has it, or what is wrong with it. The
// value of an object that has nothing but the field "value" may stand without the object, and the
// element of a list of one without the list.
func Accept(s *schema.Schema, text string) (json.RawMessage, error) {
	bare := unfence(text)
	answer, problem := s.Accept([]byte(bare))
	if problem == nil || !json.Valid([]byte(bare)) || !isWrapper(s.JSON()) {
		return answer, problem
	}
	for _, wrapped := range []string{`{"value":` + bare + `}`, `{"value":[` + bare + `]}`} {
		if answer, err := s.Accept([]byte(wrapped)); err == nil {
			return answer, nil
		}
	}
	return nil, problem
}

// isWrapper reports whether a schema is that of an object with the one field "value".
func isWrapper(schema json.RawMessage) bool {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	return json.Unmarshal(schema, &s) == nil && len(s.Properties) == 1 && s.Properties["value"] != nil
}

// unfence returns the JSON in an answer that has it in a code fence.
func unfence(text string) string {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "```") || !strings.HasSuffix(text, "```") || len(text) < 6 {
		return text
	}
	text = strings.TrimSuffix(text[3:], "```")
	if line, rest, ok := strings.Cut(text, "\n"); ok && !strings.ContainsAny(line, "{[\"") {
		text = rest
	}
	return strings.TrimSpace(text)
}
