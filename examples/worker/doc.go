// Worker writes reports in the background: runs wait in a queue, worker processes drive them, and
// whatever is killed when, each step happens once. A page shows all of it.
//
//	go run ./examples/worker         # one process: the page and a worker
//	go run ./examples/worker -chaos  # three workers, of which one is killed every few seconds
//
// It needs no key: a small program stands in for the model.
package main
