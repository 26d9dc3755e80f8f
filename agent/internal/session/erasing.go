package session

import "github.com/pawlkit/pawl/agent/journal"

// Erasing has, by the kinds of heads of other packages, the functions that complete the log of a
// name in which words were replaced: they get all of its records as they were and as they are now,
// may change the data of the latter, and return why those aren't a valid log. Packages set theirs
// when they are initialised; nobody changes it later.
var Erasing = make(map[string]func(name string, was, now []journal.Record) error)
