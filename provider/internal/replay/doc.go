// Package replay shows, by tests alone, that what providers answer survives a run: whole
// conversations with the adapters of this module, of hand-written and of recorded exchanges, are
// run by an agent with a journal that fails at some append, and finished by another agent. The
// messages must be those of a run that nothing interrupted.
//
// Each conversation fails at two of its appends, chosen at random, before or after the append is
// stored; with more -stops at more of them, up to all. The recorded ones need PAWL_WIRE:
//
//	PAWL_WIRE=… go test ./provider/internal/replay -stops 20
package replay
