package agent

// NoteKinds is how many kinds of notes there are.
var NoteKinds = len(noteTypes)

// MaxQueue is how many events may wait to be shown before notes of the host are left out.
const MaxQueue = maxQueue

// OutcomeOf returns how the work of a call stands for the end of its subagent.
var OutcomeOf = outcomeOf

// ForgetSecrets forgets the answers that aren't recorded, as the end of the process does.
func ForgetSecrets() { secrets.Clear() }
