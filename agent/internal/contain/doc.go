// Package contain keeps what goes wrong in functions of the host from doing more harm than an
// error: panics, and errors whose methods panic.
//
//	defer contain.Panic(&err) // err is the result of the function that defers it
package contain
