package display

import (
	"strings"

	"github.com/pawlkit/pawl/agent"
)

// mostLines is how many lines of the output of a program that has failed are shown at once.
const mostLines = 10

// Output returns what the model has read of the output of a program: the text of the result without
// a first line that says how the program ended, and without the notes of the agent.
func Output(res *agent.ToolResult) string {
	own := res.ToolResult
	own.Parts = own.Parts[:max(len(own.Parts)-res.Notes, 0)]
	text := own.Text()
	if first, rest, _ := strings.Cut(text, "\n"); res.Exit != nil && strings.HasPrefix(first, res.Exit.String()) {
		text = rest
	}
	return strings.TrimRight(text, "\n")
}

// LastLines returns the last lines of a text, at most 10 of them, and how many lines are before
// these.
func LastLines(text string) (last string, before int) {
	at := len(text)
	for range mostLines {
		if at = strings.LastIndexByte(text[:at], '\n'); at < 0 {
			return text, 0
		}
	}
	return text[at+1:], strings.Count(text[:at], "\n") + 1
}
