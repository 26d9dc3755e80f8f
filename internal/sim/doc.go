// Package sim runs many processes in one test. It has only tests.
//
// A simulation is a random program over one store in memory, under the fake time of
// testing/synctest: three processes, each an agent in a live.Hub, start runs with calls of every
// kind of tool, decide, steer, cancel, stop, pause, resume, fork, undo, prune, delete and watch,
// and have plans carried out. In a third of the programs they also queue inputs, which workers of
// these processes start and drive, and whose ends a receiver is told of that fails now and then. At
// random moments processes die or are stopped politely, their store is slow, refuses, or answers
// with an error after it has kept what it got, they stall past the end of their leases, their
// clocks are off, and two of them want the same session. At the end, a healthy process drives
// everything that is left open to its end, and its worker what was queued. Then the facts, the
// effects of the tools, what readers were shown and the requests that the model got are compared
// with what the design promises, and the histories of leases, inboxes and allowances are checked
// for linearizability.
//
//	go test ./internal/sim -run Sim -seeds 2000
//
// A seed that fails is printed with the shortest program that still fails: operations, faults and
// tool calls are removed as long as it does. The program of a seed is repeated with
//
//	go test ./internal/sim -run Sim -seed 17 -v
//
// # What is repeatable
//
// The program depends on the seed alone. Each call of a store, a model or a tool takes a fake time
// that depends on the seed, the process, and how many of its kind came before, to the nanosecond.
// So nearly always one goroutine at a time can run, and there is one processor (GOMAXPROCS). These
// are left to chance: the order of goroutines that become runnable at the same instant, a select
// with several channels that are ready, the spread of a tool's retries, and the order of maps.
//
// # Where things are
//
// program_test.go and generate_test.go have the programs, shrink_test.go makes them shorter.
// world_test.go is what all processes share, port_test.go is the store as one process sees it, with
// its faults. process_test.go, tools_test.go, model_test.go and features_test.go are a process.
// work_test.go has the workers, what they may do, and the receiver. play_test.go, legs_test.go and
// plans_test.go perform the operations, drive_test.go ends what is left open, check_test.go and
// calls_test.go look at what came of it, and linear_test.go at the histories.
//
// trees_test.go is another simulation: random trees of one input under a limit of cost.
// account_test.go has what they have really spent, and when who could know it.
package sim
