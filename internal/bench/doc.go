// Package bench measures Pawl's loop against that of a peer, in the same process and run, with the same fake model: S steps
// of C typed tool calls ({"a":1,"b":2} in 4 deltas each), then N chunks of text of 20 bytes. A module of its own keeps the
// peer out of Pawl's dependencies.
//
// Run it with
//
//	go test -bench . -benchtime 300x -count 5
//
// and read ratios rather than times: TestShares prints them.
package bench
