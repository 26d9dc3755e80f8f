// Package schema makes JSON schemas of Go types, and checks and normalizes the JSON that a model writes against them.
//
// A [Schema] comes from a Go type ([For], [Of]) or from a schema document ([Parse]). It is immutable and safe for
// concurrent use. [Schema.Prepare] brings a text into canonical form, [Schema.Validate] judges a text as it stands, and
// [Schema.Accept] does both. What fails does so with an [*InvalidError] whose text is written for the model that has to
// correct it.
//
// A text is read by a reader (read.go), which knows of the schema what a node says (node.go). What the reader isn't
// certain of goes to jsonschema/v5 (full.go), whose errors are worded anew (explain.go).
//
// Guarantees:
//
//   - What is validated is what a decoder sees: no key twice, no key that differs from a declared one only in case,
//     integers written as integers, one value, valid UTF-8.
//   - Nothing here panics or runs away on any input: nesting ends at 128 levels, numbers at 1,000 digits and at
//     exponents of ±400, before anything recursive or arbitrarily precise sees them.
//   - A schema never makes the process read a file or open a connection.
//   - The same type gives the same bytes on every run, properties in the order of the Go fields.
//   - Text that is canonical and plainly valid is read once, without allocation unless objects have undeclared keys. That
//     reading says only "certainly valid" or "don't know"; everything else is decided by jsonschema/v5, which takes more
//     than ten times as long (go test -run '^$' -bench . ./internal/schema).
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
