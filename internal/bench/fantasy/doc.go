// Package fantasy measures Pawl's loop against that of charm.land/fantasy, as package bench does
// against another peer: the same runs, the same fake model, in one process. It is a module of its
// own because that peer needs a newer Go than Pawl, so .ci/full runs it and .ci/run doesn't.
//
//	GOTOOLCHAIN=auto go test -run TestTimes -v -shares 5
//
// Its test asserts that both sides make as many model calls and tool calls, and logs what Pawl
// takes of the peer's time and allocations. The benchmark is for profiles:
//
//	GOTOOLCHAIN=auto go test -bench Loop/5·2·100/pawl -benchtime 3000x -cpuprofile cpu.out
package fantasy
