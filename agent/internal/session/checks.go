package session

import "github.com/pawlkit/pawl/agent/journal"

// Checks has, by the kinds of heads of other packages, the functions that say whether the records
// are the valid log of that name, all of them from the first one. Packages set theirs when they are
// initialised; nobody changes it later.
var Checks = make(map[string]func(name string, recs []journal.Record) error)
