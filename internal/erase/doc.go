// Package erase finds and replaces texts in what Pawl stores: facts, heads, inbox items, and the
// entries of memories. It knows the form of what is stored, but no kinds of facts, so that no kind
// can be missed: every string at any depth is a text, unless its member is one that holds names.
//
//	w := erase.Walk{Text: func(text string) string { return strings.ReplaceAll(text, "ann", "[erased]") }}
//	data = w.Record("replied", data)
package erase
