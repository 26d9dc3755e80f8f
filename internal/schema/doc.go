// Package schema makes JSON schemas of Go types, and checks and normalizes the JSON that a model
// writes against them.
//
// A [Schema] comes from a Go type ([For], [Of]) or from a schema document ([Parse]). It is
// immutable and safe for concurrent use. [Schema.Prepare] brings a text into canonical form,
// [Schema.Validate] validates a text, and [Schema.Accept] does both. Errors are [*InvalidError],
// whose text is written for the model that has to correct the input.
//
// A reader (read.go) reads a text against a tree of nodes made from the schema (node.go). If the
// reader isn't certain, jsonschema/v5 decides (full.go), and its errors are reworded (explain.go).
//
// Guarantees:
//
//   - What is validated is what a decoder sees: no duplicate keys, no key that differs from a
//     declared one only in case, integers written as integers, one value, valid UTF-8.
//   - No input causes a panic or excessive work: a text to accept is limited to 10,000 keys and
//     100,000 values before it is decoded, nesting to 128 levels, numbers to 1,000 digits and
//     exponents of ±400, before any recursive or arbitrary-precision code gets them.
//   - A schema never makes the process read a file or open a connection.
//   - The same type gives the same bytes on every run, properties in the order of the Go fields.
//   - Text that is canonical and plainly valid is read once, without allocation unless objects have
//     undeclared keys. The reader's only answers are "certainly valid" and "don't know"; in the
//     latter case jsonschema/v5 decides, which takes more than ten times as long (go test -run '^$'
//     -bench . ./internal/schema).
//
// The reader is needed whoever decides: canonical form, defaults, duplicate keys, limits and the
// places of problems are its work. Its verdict is about 150 lines of it (the keywords in node.go,
// and reader.valid). With jsonschema/v5 asked on every call instead, a run without a journal takes
// up to 1.5 times as long and allocates up to 2.3 times as much, so the verdict stays.
//
// In ten lines:
//
//	type City struct {
//		Name string `json:"city" jsonschema:"city name, for example Oslo"`
//		Days int    `json:"days" maximum:"14" default:"1"`
//	}
//	s, err := schema.For[City](nil)
//	if err != nil {
//		return err // a mistake in the type or its tags
//	}
//	in, err := s.Accept(json.RawMessage(`{"city": "Oslo", "days": 2.0}`)) // {"city":"Oslo","days":2}
package schema
