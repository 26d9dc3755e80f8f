package machine

import (
	"cmp"
	"errors"
	"strings"

	"github.com/pawlkit/pawl/provider"
)

// goesOn says how work goes on after a limit of one request.
const goesOn = " Write “go on” to continue, or have the limit raised."

// A teller is what says to people how a run has ended, if its code doesn't say it alone.
type teller uint8

const (
	codeTells   teller = iota // the words of the code
	hostTells                 // the Reason, to the host's people; to users, the words
	reasonTells               // the Reason, which a hook or a condition of the host wrote for users
)

// An ender is who has ended or paused a run.
type ender uint8

const (
	byItself  ender = iota // the run, its model or its rules
	byPerson               // somebody wanted it to end: it isn't to be carried out
	byProcess              // it goes on by itself, in another process or after a restart
	byRun                  // another run continues the work
)

// An ending is what a code means to those who show how a run has ended or paused.
type ending struct {
	words string // for people, and what they can change
	tells teller
	by    ender
}

// endings are those of all codes. The fields have no names, so that none is left out.
var endings = map[string]ending{
	CodeLimit:    {"The work was stopped at one of its limits.", codeTells, byItself},
	CodeLength:   {"The answer was cut because it became too long. Ask for less at a time.", codeTells, byItself},
	CodeFiltered: {"The model refused to answer. Put your message in other words.", codeTells, byItself},
	CodeEmpty:    {"The model didn't answer. Send the message again.", codeTells, byItself},
	CodeUnproven: {"The answer isn't proven: something that it must have is missing.", hostTells, byItself},
	CodeOutput:   {"The answer doesn't have the requested form. Send the message again.", codeTells, byItself},
	CodeBudget: {"The budget for the model is spent. Have it raised, or wait until it is filled again.", codeTells,
		byItself},
	CodeJournal: {"The conversation couldn't be stored. Check the disk or the database that the program uses.",
		codeTells, byItself},
	CodeContext:      {(&provider.Problem{Kind: provider.ProblemLength}).Words(), codeTells, byItself},
	CodeProvider:     {"The model couldn't be reached, or couldn't answer.", hostTells, byItself},
	CodeAborted:      {"The work was ended by a rule of this service.", reasonTells, byItself},
	CodeCondition:    {"The work was stopped at one of its limits.", reasonTells, byItself},
	CodeCanceled:     {"The answer was stopped.", hostTells, byPerson},
	CodeAbandoned:    {"The answer was stopped.", hostTells, byPerson},
	CodeHost:         {"The answer was stopped.", hostTells, byPerson},
	CodeSuperseded:   {"Another message took its place.", hostTells, byPerson},
	CodeDrained:      {"The server is restarting. The work goes on afterwards.", hostTells, byProcess},
	CodeLeg:          {"The server is restarting. The work goes on afterwards.", hostTells, byProcess},
	CodeQueued:       {"The work is tried again later.", hostTells, byProcess},
	CodeContextReset: {"The work goes on in a fresh conversation.", hostTells, byRun},
	CodeForked:       {"This is a copy. The work was in progress in the original.", hostTells, byRun},
}

// StoppedByPerson reports whether a run that was stopped with this code was stopped because
// somebody wanted it to end, and not by a limit, a rule or a failure.
func StoppedByPerson(code string) bool { return endings[code].by == byPerson }

// GoesOn reports whether a run that was paused with this code goes on by itself, in another process
// or after a restart.
func GoesOn(code string) bool { return endings[code].by == byProcess }

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

// UserWords says to users of a service how the run has ended or paused. It is [RunEnded.Words], and
// where those are empty other words, never the Reason, which is for the host's log. It is empty for
// a run that has completed, or that waits for decisions.
func (f *RunEnded) UserWords() string {
	if f == nil || f.Status == Completed || f.Status == Paused && f.Code == "" {
		return ""
	}
	text := cmp.Or(f.Words(), endings[f.Code].words)
	switch {
	case f.Status == Paused && StoppedByPerson(f.Code):
		return "The answer was paused."
	case text != "":
		return text
	case f.Status == Failed:
		return "The work failed."
	}
	return "The work was stopped."
}

// UserReason is the Reason if a hook or a condition of the host has stopped the run, because that
// is written for users, and else [RunEnded.UserWords].
func (f *RunEnded) UserReason() string {
	if f != nil && f.Status == Stopped && f.Reason != "" && endings[f.Code].tells == reasonTells {
		return strings.TrimPrefix(f.Reason, "agent: ")
	}
	return f.UserWords()
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
	if end := endings[code]; end.tells == codeTells {
		return end.words
	}
	return ""
}
