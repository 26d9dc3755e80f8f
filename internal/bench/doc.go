// Package bench measures Pawl's loop against that of a peer, in the same process and run, with the
// same fake model: S steps of C typed tool calls ({"a":1,"b":2} in 4 deltas each), then N chunks of
// text of 20 bytes. A module of its own keeps the peer out of Pawl's dependencies. Package loop has
// what other comparisons share with it, and the module in the folder fantasy is one. Pawl's breaker
// is measured against another peer's, call by call.
//
// Its tests assert counts: allocations, as a share of the peer's and as they grow with the steps,
// and the memory of a run that is held open. Times are printed as shares of the peer's, since they
// mean little by themselves:
//
//	go test -run TestTimes -shares 5
//	go test -run TestBreakerTimes -shares 5
//
// The benchmarks are for profiles:
//
//	go test -bench . -benchtime 300x -cpuprofile cpu.out
package bench
