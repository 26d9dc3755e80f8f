package bench

import "fmt"

// A Shape is the run that is measured: Steps replies of Calls tool calls each, then Text chunks of
// text.
type Shape struct{ Steps, Calls, Text int }

// String returns, for example, 5·2·100.
func (s Shape) String() string { return fmt.Sprintf("%d·%d·%d", s.Steps, s.Calls, s.Text) }

// Shapes are those that are measured, with shares of the peer's figures. Time is a goal, which
// TestTimes prints beside what it measures. Allocs is a limit, which TestShares asserts: it is a
// little above what was measured last, so that the share can't grow. It is above AllocsGoal, which
// some shapes don't reach.
var Shapes = []struct {
	Shape
	Time, Allocs float64
}{
	{Shape{1, 1, 1}, .20, .155},
	{Shape{5, 2, 100}, .25, .185},
	// each piece of text is an event, and each event an allocation, since events are plain values
	{Shape{0, 0, 2000}, .30, .245},
	{Shape{50, 1, 100}, .35, .16},
	{Shape{200, 1, 100}, .40, .155},
}

// AllocsGoal is the share of the peer's allocations that Pawl should come to with every shape.
const AllocsGoal = .15

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
