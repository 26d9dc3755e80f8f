package bench

import "fmt"

// A Shape is the run that is measured: Steps replies of Calls tool calls each, then Text chunks of text.
type Shape struct{ Steps, Calls, Text int }

// String returns, for example, 5·2·100.
func (s Shape) String() string { return fmt.Sprintf("%d·%d·%d", s.Steps, s.Calls, s.Text) }

// Shapes are those that are measured, with the share of the peer's time and allocations that Pawl may take at most.
var Shapes = []struct {
	Shape
	Time, Allocs float64
}{
	{Shape{1, 1, 1}, .09, .12},
	{Shape{5, 2, 100}, .16, .16},
	{Shape{0, 0, 2000}, .12, .02},
	{Shape{50, 1, 100}, .20, .17},
	{Shape{200, 1, 100}, .20, .17},
}

// The parts of the fake model's replies.
const (
	prompt = "Add numbers until you are done."
	system = "You add numbers."
	chunk  = "twenty bytes of text"
)

// deltas are the arguments of every call, in four pieces.
var deltas = [4]string{`{"a"`, `:1,`, `"b":`, `2}`}

// Numbers is the input of the tool.
type Numbers struct {
	A int `json:"a"`
	B int `json:"b"`
}

// Sum is its output.
type Sum struct {
	Sum int `json:"sum"`
}
