// Package desk has what the programs of the tutorial (docs/tutorial.md) need around them: a model
// for computers without a key. It answers like one that looks after meeting rooms, and calls the
// tools free and book if it is offered them.
package desk
