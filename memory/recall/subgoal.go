package recall

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
)

// The tools with which a model marks its subgoals ([Subgoals]). [memory.SubgoalCalls] finds the
// subgoals by them:
//
//	memory.Config{Subgoals: memory.SubgoalCalls(recall.BeginSubgoal, recall.DoneSubgoal)}
const (
	BeginSubgoal = "subgoals.begin"
	DoneSubgoal  = "subgoals.done"
)

const mostSubgoalName = 128 // bytes

type subgoalBegin struct {
	Name string `json:"name" jsonschema:"a short name of the goal, for example find the failing test"`
}

type subgoalDone struct {
	Name    string   `json:"name,omitempty" jsonschema:"exactly the name at its beginning; default: the open subgoal that was begun last"`
	Status  string   `json:"status,omitempty" jsonschema:"default: completed"`
	Summary string   `json:"summary" jsonschema:"the outcome in a few sentences: what was achieved and how, and what wasn't"`
	Facts   []string `json:"facts,omitempty" jsonschema:"facts that later steps need, word for word, one per element: names, ids, paths, figures, decisions"`
}

// Subgoals returns the two tools with which a model marks where a part of its work begins and ends:
// [BeginSubgoal] and [DoneSubgoal]. They need no [Toolset] and have no state; only the calls
// matter: once a subgoal is done, compaction may replace its steps by its summary and facts
// ([memory.Subgoals]).
//
// A name has at most 128 bytes, without control characters or blanks around it; a summary at most
// 1,000 characters; there are at most 20 facts of at most 300 characters. A call above these limits
// is rejected and marks nothing. A DoneSubgoal without a matching beginning isn't detected here,
// and has no effect.
func Subgoals() []tools.Tool {
	return []tools.Tool{
		tools.New(tools.Spec{
			Name: BeginSubgoal, Category: category, ReadOnly: true,
			Description: "Marks the beginning of a subgoal: a part of the work with its own outcome that takes " +
				"several steps. " +
				"Begin it before its first step and end it with " + DoneSubgoal + ". Subgoals may be nested.",
			Schema: []byte(`{"properties":{"name":{"minLength":1,"maxLength":128}}}`),
		}, func(_ context.Context, in subgoalBegin) (string, error) {
			return "begun", checkSubgoal(in.Name)
		}),
		tools.New(tools.Spec{
			Name: DoneSubgoal, Category: category, ReadOnly: true,
			Description: "Marks the end of a subgoal. Its steps may then be removed from the conversation to save " +
				"space, and only the " +
				"summary and the facts stay: put everything into them that is still needed.",
			Schema: []byte(
				`{"properties":{"name":{"maxLength":128},"status":{"enum":["completed","failed","dropped"]},` +
					`"summary":{"minLength":1,"maxLength":1000},` +
					`"facts":{"type":"array","items":{"type":"string","minLength":1,"maxLength":300},"maxItems":20}}}`),
		}, func(_ context.Context, in subgoalDone) (string, error) {
			if strings.TrimSpace(in.Summary) == "" {
				return "",
					invalid("the summary is empty; say what was achieved, since only the summary and the facts stay")
			}
			if in.Name == "" {
				return "noted", nil
			}
			return "noted", checkSubgoal(in.Name)
		}),
	}
}

// checkSubgoal rejects names that two calls are likely to write differently, and those that don't
// fit on one line.
func checkSubgoal(name string) error {
	if name == "" || len(name) > mostSubgoalName || !utf8.ValidString(name) || strings.TrimSpace(name) != name ||
		strings.ContainsFunc(name, unicode.IsControl) {
		return fault.Errorf(fault.Invalid,
			"recall: a subgoal's name has 1 to %d bytes in one line, without blanks around it, for example "+
				"find the failing test", mostSubgoalName)
	}
	return nil
}
