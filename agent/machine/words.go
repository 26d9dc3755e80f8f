package machine

import (
	"errors"

	"github.com/pawlkit/pawl/provider"
)

// goesOn says how work goes on after a limit of one request.
const goesOn = " Write “go on” to continue, or have the limit raised."

// endWords says how a run has ended, by its code.
var endWords = map[string]string{
	CodeLimit:    "The work was stopped at one of its limits.",
	CodeLength:   "The answer was cut because it became too long. Ask for less at a time.",
	CodeFiltered: "The model refused to answer. Put your message in other words.",
	CodeEmpty:    "The model didn't answer. Send the message again.",
	CodeBudget:   "The budget for the model is spent. Have it raised, or wait until it is filled again.",
	CodeOutput:   "The answer doesn't have the requested form. Send the message again.",
	CodeJournal:  "The conversation couldn't be stored. Check the disk or the database that the program uses.",
}

// limitWords says which limit has ended a run, or refused an input.
var limitWords = map[string]string{
	LimitSteps:         "The work reached the limit of model calls for one request." + goesOn,
	LimitStepsPerPhase: "The work reached the limit of model calls for one phase." + goesOn,
	LimitTokens:        "The work reached the limit of tokens for one request." + goesOn,
	LimitCost:          "The work reached the limit of cost for one request." + goesOn,
	LimitDuration:      "The work reached the limit of time for one request." + goesOn,
	LimitSubagentCalls: "The work reached the limit of model calls by its subagents." + goesOn,
	LimitPromptBytes:   "The message is too long. Send less at a time.",
	LimitMediaBytes:    "The files are too large. Send smaller ones.",
	LimitRepeats:       "The work was stopped because it repeated itself. Say in other words what you want.",
	LimitFailures:      "The work was stopped because too many calls failed in a row. Say what to do differently.",
	LimitReplyBytes:    "The work was stopped because the answer became too long. Ask for less at a time.",
	LimitRequirePrices: "The price of the model isn't known, so the work would have no limit of its cost. Use another " +
		"model, or have the price named (PAWL_PRICES).",
}

// Words says to people how the run has ended, and what they can change: the words of Problem, else
// those for the limit or the code. It has nothing that a server or a tool wrote. It is empty for a
// run that has completed or paused, and if the code leaves the cause to Reason: a person, a hook or
// a condition has ended the run, or its provider failed in an unknown way.
func (f *RunEnded) Words() string {
	if f == nil || f.Status != Stopped && f.Status != Failed {
		return ""
	}
	return wordsOf(f.Code, f.Limit, f.Problem)
}

// Words says to people which limit was reached, without figures, and what they can do.
func (e *LimitError) Words() string { return wordsOf(CodeLimit, e.Limit, nil) }

// Words is [RunEnded.Words] for the run that was stopped.
func (e *StopError) Words() string {
	limit := e.Limit
	if own, ok := errors.AsType[*LimitError](e.Err); ok && e.Code == CodeLimit {
		limit = own.Limit
	}
	return wordsOf(e.Code, limit, e.Problem)
}

func wordsOf(code, limit string, problem *provider.Problem) string {
	if text := problem.Words(); text != "" {
		return text
	}
	if text := limitWords[limit]; text != "" {
		return text
	}
	if code == CodeContext {
		return (&provider.Problem{Kind: provider.ProblemLength}).Words()
	}
	return endWords[code]
}
