// Package crew is a team of agents that builds Go programs: a guide who talks and plans, a
// librarian who looks things up, a tester who writes tests, engineers who write programs, and an
// inspector, which is no model but go vet and go test.
//
// [New] makes them all over one [Place], a directory. The guide's conversations are in a hub, plans
// are run by a plan.Runner, and each step of a plan works in a staging copy of the directory, which
// is merged when its checks pass.
//
// place.go has the directory, golang.go the go command, copies.go and merge.go the staging copies,
// inspect.go the checks, filetools.go the tools of workers, agents.go who is in the team, crew.go
// how they work together, beside.go conversations beside a plan, and view.go what pages show.
package crew
