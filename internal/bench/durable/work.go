package durable

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
)

const (
	steps    = 10          // of a run, each with one tool call
	calls    = 2*steps + 1 // of model or tool in a run
	parallel = 8           // runs at a time
	prompt   = "Add the numbers of each row, one row after the other."
)

// A side does the work in one way.
type side struct {
	name     string
	database string // on the server; empty if it has none there
	// open connects and makes tables, and returns what does the work.
	open func(ctx context.Context) (doer, error)
}

// A doer does runs with these names, parallel of them at a time, and has kept all results when do
// returns.
type doer struct {
	do    func(ctx context.Context, names []string) error
	close func() error
}

// made counts the calls that were made, to show that all sides do the same.
type made struct{ models, tools atomic.Int64 }

// A reply is what the model answers.
type reply struct {
	Text  string `json:"text,omitempty"`
	Tool  string `json:"tool,omitempty"`
	Input input  `json:"input,omitzero"`
}

type input struct {
	A int `json:"a"`
	B int `json:"b"`
}

type sum struct {
	Sum int `json:"sum"`
}

// model answers the call of a step, from 0.
func (m *made) model(step int) reply {
	m.models.Add(1)
	if step == steps {
		return reply{Text: "All rows are added."}
	}
	return reply{Tool: "add", Input: input{A: step, B: 2}}
}

func (m *made) tool(in input) sum {
	m.tools.Add(1)
	return sum{in.A + in.B}
}

// call makes the call with a number from 0 to calls-1 and returns its result as JSON. Even ones are
// the model's.
func (m *made) call(n int) []byte {
	var result any
	if n%2 == 0 {
		result = m.model(n / 2)
	} else {
		result = m.tool(input{A: n / 2, B: 2})
	}
	text, err := json.Marshal(result)
	if err != nil {
		panic(err) // it can be encoded
	}
	return text
}

// each calls run for all names, parallel of them at a time.
func each(names []string, run func(name string) error) error {
	var (
		wg   sync.WaitGroup
		next atomic.Int64
		errs = make([]error, parallel)
	)
	for i := range errs {
		wg.Go(func() {
			for errs[i] == nil {
				n := int(next.Add(1)) - 1
				if n >= len(names) {
					return
				}
				if err := run(names[n]); err != nil {
					errs[i] = fmt.Errorf("run %s: %w", names[n], err)
				}
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
