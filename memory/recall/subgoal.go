package recall

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
)

// The tools with which a model marks its subgoals ([Subgoals]). [memory.SubgoalCalls] finds the subgoals by them:
//
//	memory.Config{Subgoals: memory.SubgoalCalls(recall.BeginSubgoal, recall.DoneSubgoal)}
const (
	BeginSubgoal = "subgoals.begin"
	DoneSubgoal  = "subgoals.done"
)

const mostSubgoalName = 128 // bytes

type subgoalBegin struct {
	Name string `json:"name" jsonschema:"a short name that says what is to be reached, for example find the failing test"`
}

type subgoalDone struct {
	Name    string   `json:"name,omitempty" jsonschema:"exactly as it was begun; left out: the subgoal that was begun last and isn't done"`
	Status  string   `json:"status,omitempty" jsonschema:"completed if left out"`
	Summary string   `json:"summary" jsonschema:"the outcome in a few sentences: what was reached and how, and what was not"`
	Facts   []string `json:"facts,omitempty" jsonschema:"what later steps must know, word for word, a fact each: names, ids, paths, figures, decisions"`
}

// Subgoals returns the two tools with which a model marks where a part of its work begins and ends: [BeginSubgoal] and
// [DoneSubgoal]. They need no [Memory] and hold no state, since the calls themselves are what counts: once a subgoal is done,
// compaction may put its summary and facts in the place of its steps ([memory.Subgoals]).
//
// A name has up to 128 bytes, without control characters or blanks around it; a summary up to 1,000 characters; there are up to
// 20 facts of up to 300. A call beyond that is refused, and marks nothing. That a done ends no subgoal that was begun isn't
// noticed here, and has no effect.
func Subgoals() []tools.Tool {
	return []tools.Tool{
		tools.New(tools.Spec{
			Name: BeginSubgoal, Category: category, ReadOnly: true,
			Description: "Marks the beginning of a subgoal: a part of the work with an outcome of its own that takes several steps. " +
				"Begin it before its first step and end it with " + DoneSubgoal + ". Subgoals may be nested.",
			Schema: []byte(`{"properties":{"name":{"minLength":1,"maxLength":128}}}`),
		}, func(_ context.Context, in subgoalBegin) (string, error) {
			return "begun", checkSubgoal(in.Name)
		}),
		tools.New(tools.Spec{
			Name: DoneSubgoal, Category: category, ReadOnly: true,
			Description: "Marks the end of a subgoal. Its steps may then be taken out of the conversation to save room, and only the " +
				"summary and the facts stay: put into them all that is still needed.",
			Schema: []byte(`{"properties":{"name":{"maxLength":128},"status":{"enum":["completed","failed","dropped"]},` +
				`"summary":{"minLength":1,"maxLength":1000},` +
				`"facts":{"type":"array","items":{"type":"string","minLength":1,"maxLength":300},"maxItems":20}}}`),
		}, func(_ context.Context, in subgoalDone) (string, error) {
			if strings.TrimSpace(in.Summary) == "" {
				return "", invalid("the summary is empty; say what was reached, since nothing else stays")
			}
			if in.Name == "" {
				return "noted", nil
			}
			return "noted", checkSubgoal(in.Name)
		}),
	}
}

// checkSubgoal refuses names that two calls are likely to write differently, and those that would not stand in a line.
func checkSubgoal(name string) error {
	if name == "" || len(name) > mostSubgoalName || !utf8.ValidString(name) || strings.TrimSpace(name) != name ||
		strings.ContainsFunc(name, unicode.IsControl) {
		return fault.Errorf(fault.Invalid, "recall: a subgoal's name has 1 to %d bytes in one line, without blanks around it, for example "+
			"find the failing test", mostSubgoalName)
	}
	return nil
}
