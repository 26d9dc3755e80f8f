// Package schema turns Go types and JSON schemas into something that decides about a model's JSON fast and safely.
//
// A [Schema] comes from a Go type ([For], [Of]) or from a schema document ([Parse]). It is immutable and safe for
// concurrent use. [Schema.Prepare] brings a text into canonical form, [Schema.Validate] judges a text as it stands, and
// [Schema.Accept] does both in one scan where it can. What fails does so with an [*InvalidError] whose text is
// written for the model that has to correct it.
//
// Guarantees:
//
//   - What is validated is what a decoder sees: no key twice, no key that differs from a declared one only in case,
//     integers written as integers, one value, valid UTF-8.
//   - Nothing here panics or runs away on any input: nesting ends at 128 levels, numbers at 1,000 digits and at
//     exponents of ±400, before anything recursive or arbitrarily precise sees them.
//   - A schema never makes the process read a file or open a connection.
//   - The same type gives the same bytes on every run, properties in the order of the Go fields.
//   - Text that is canonical and plainly valid costs one scan and no allocation. The scan answers only "certainly" or
//     "don't know"; everything else is decided by a full validator.
//
// In ten lines:
//
//	type City struct {
//		Name string `json:"city" jsonschema:"city name, for example Oslo"`
//		Days int    `json:"days,omitempty"`
//	}
//	s, err := schema.For[City](json.RawMessage(`{"properties":{"days":{"default":1,"maximum":14}}}`))
//	if err != nil {
//		return err // a mistake in the type or the overlay
//	}
//	in, err := s.Accept(json.RawMessage(`{"city": "Oslo", "days": 2.0}`)) // {"city":"Oslo","days":2}
package schema
