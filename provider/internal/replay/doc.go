// Package replay shows, by tests alone, that what providers answer survives a run: whole conversations with the adapters of this module, of
// hand-written and of recorded exchanges, are run by an agent with a journal that fails at some append, and finished by another agent. The
// messages must be those of a run that nothing interrupted.
//
// The hand-written conversations fail at each of their appends, before or after it is stored. The recorded ones need PAWL_WIRE, and fail at as many random
// appends as the flag -stops says:
//
//	PAWL_WIRE=… go test ./provider/internal/replay -stops 20
package replay
