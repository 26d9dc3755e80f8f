package agent

import (
	"maps"
	"slices"
)

// NoteTypes are the types of notes by their kind in JSON.
var NoteTypes = noteTypes

// ChildSession returns the session of the subagent that a call starts.
var ChildSession = childSession

// MaxQueue is how many events may wait to be shown before notes of the host are left out.
const MaxQueue = maxQueue

// OutcomeOf returns how the work of a call stands for the end of its subagent.
var OutcomeOf = outcomeOf

// ForgetSecrets forgets the answers that aren't recorded, as the end of the process does.
func ForgetSecrets() { secrets.Clear() }

// KeptLists returns of how many runs an agent keeps the lists of its sources.
func KeptLists(a *Agent) int {
	a.lists.mu.Lock()
	defer a.lists.mu.Unlock()
	return len(a.lists.bySession)
}

// MaxOpenLists is of how many runs an agent keeps the lists.
const MaxOpenLists = maxOpenLists

// KeptSecrets returns how many answers that aren't recorded this process keeps.
func KeptSecrets() (n int) {
	secrets.Range(func(any, any) bool { n++; return true })
	return n
}

// ItemKinds are the kinds of inbox items that an agent knows.
func ItemKinds() []string { return slices.Collect(maps.Keys(itemKinds)) }
