package loop

import (
	"context"
	"fmt"
	"sync/atomic"
)

// A Shape is the run that is measured: Steps replies of Calls tool calls each, then Text chunks of
// text.
type Shape struct{ Steps, Calls, Text int }

// String returns, for example, 5·2·100.
func (s Shape) String() string { return fmt.Sprintf("%d·%d·%d", s.Steps, s.Calls, s.Text) }

// Shapes are those that are measured.
var Shapes = []Shape{{1, 1, 1}, {5, 2, 100}, {0, 0, 2000}, {50, 1, 100}, {200, 1, 100}}

// The parts of the fake model's replies.
const (
	Prompt    = "Add numbers until you are done."
	System    = "You add numbers."
	Chunk     = "twenty bytes of text"
	Arguments = `{"a":1,"b":2}` // of every call
)

// Deltas are the arguments of every call, in four pieces.
var Deltas = [4]string{`{"a"`, `:1,`, `"b":`, `2}`}

// Numbers is the input of the tool.
type Numbers struct {
	A int `json:"a"`
	B int `json:"b"`
}

// Sum is its output.
type Sum struct {
	Sum int `json:"sum"`
}

// A Run runs a shape once and returns how many bytes of text were streamed.
type Run = func(context.Context) (int, error)

// Counts are how often a side called its fake model and its tool.
type Counts struct{ Models, Tools atomic.Int64 }
