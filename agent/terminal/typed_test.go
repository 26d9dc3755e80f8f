package terminal_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A typed is what a person types at some moment, or how the program was started, and what has to
// happen. Mistakes come first: a terminal is judged by what it does with them.
type typed struct {
	at    string // the moment
	what  string // keys, or a text
	wants string
	by    string // the test that shows it
}

// typedAtATerminal lists what people type, and the mistakes that they make.
var typedAtATerminal = []typed{
	// At the prompt.
	{"prompt", "a sentence, Enter", "it runs, and its answer is shown as it is written", "Chat"},
	{"prompt", "nothing, or blanks, Enter", "another prompt", "Chat"},
	{"prompt", "up arrow, Enter", "the sentence before, again", "Chat"},
	{"prompt", "/help", "the commands, with those of the host", "Commands"},
	{"prompt", "/hlep", "it isn't a command; how to list them", "Commands"},
	{"prompt", "/etc/hosts is empty, why?", "a sentence, not a command", "Commands"},
	{"prompt", "/mode fast (there is none)", "the modes that there are", "Commands"},
	{"prompt", "/undo with nothing to undo", "nothing was changed", "Commands"},
	{"prompt", "/output; 2, 9, x; before a program has run", "all of the output; how many there are; what would be right",
		"Output"},
	{"prompt", "/sessions before the first run", "an empty list", "Commands"},
	{"prompt", "/sessions open, with a number that isn't in the list, or before there is one", "the list", "Sessions"},
	{"prompt", "/sessions opn 1, /sessions rename 1 without a title", "what would be right", "Sessions"},
	{"prompt", "/sessions open N, and a sentence", "it is said in that session", "Sessions"},
	{"prompt", "/sessions open N, which was deleted meanwhile", "that it was",
		"ASessionThatWasDeletedMeanwhileIsNotOpened"},
	{"prompt", "/sessions delete N; y, n, Ctrl-C, a paste", "a question first; only y deletes",
		"ASessionIsDeletedAfterAQuestion"},
	{"prompt", "/sessions open N, which runs", "it is shown, and can be steered",
		"ARunGoesOnWhenAnotherSessionIsOpened"},
	{"prompt", "/sessions open N, which waits", "it is asked", "Sessions"},
	{"prompt", "/undo; n, y, and again", "what would be undone; what was", "Undo"},
	{"prompt", "a window of 40 columns", "the state line has what fits", "TheStateLineFitsTheWindow"},
	{"prompt", "quit or exit, without the slash", "it ends, as with /quit", "Commands"},
	{"prompt", "Ctrl-D", "it ends with 0", "Quit"},
	{"prompt", "Ctrl-D after half a sentence", "a character is deleted; nothing ends", "Quit"},
	{"prompt", "Ctrl-C after half a sentence", "the sentence is dropped, another prompt", "Quit"},
	{"prompt", "Ctrl-C, and again", "the first says how to end it, the second ends it", "Quit"},
	{"prompt", "many lines pasted, Enter", "one message with these lines, and their tabs", "Paste"},
	{"prompt", "Alt-Enter, Ctrl-J", "a new line of the message", "KeysThatWriteAMessage"},
	{"prompt", "Backspace, Delete, arrows", "one character, as people see it", "KeysThatWriteAMessage"},
	{"prompt", "Esc", "nothing", "EscapeAtAPromptDoesNothing"},
	{"prompt", "escape sequences pasted", "they aren't sent, and don't move the cursor", "Paste"},
	{"prompt", "Ctrl-C in what is pasted", "it is no Ctrl-C", "Paste"},
	{"prompt", "Ctrl-C, and the end of what is pasted never came", "it ends the paste, and is a Ctrl-C",
		"CtrlCEndsAPasteThatHasNoEnd"},
	{"prompt", "F1 to F5 at the console of Linux", "nothing", "AFunctionKeyOfTheConsoleWritesNothing"},
	{"prompt", "a line that is longer than the window", "it wraps, and can be edited", "Narrow"},
	{"prompt", "the window gets narrower or wider while a line is written", "the line is drawn anew, once", "Resize"},

	// While a run is in progress.
	{"run", "a sentence, Enter", "it steers the run; what the run shows doesn't mix with it", "Steer"},
	{"run", "half a sentence, and the run ends", "the sentence is kept, and starts the next run", "Steer"},
	{"run", "half a sentence, and an approval is asked for", "it is shown at once, and no letter decides anything", "Steer"},
	{"run", "Enter alone", "nothing", "Steer"},
	{"run", "/mode, or a switch on a page", "the state line has it at once", "TheStateLineIsShownDuringARun"},
	{"run", "/sessions open N", "the run goes on", "ARunGoesOnWhenAnotherSessionIsOpened"},
	{"run", "the window gets narrower", "what is in progress is there once", "ResizeWhileARunIsInProgress"},
	{"run", "Esc", "the run stops, and the line stays", "Stop"},
	{"run", "an arrow whose Escape comes alone", "the run goes on", "AnArrowInPiecesStopsNoRun"},
	{"run", "Alt and an arrow", "the run goes on", "AltStopsNoRun"},
	{"run", "Ctrl-C", "the run stops, and the prompt comes back", "Stop"},
	{"run", "Ctrl-C twice", "it ends with 1; the terminal isn't raw", "Stop"},
	{"run", "Ctrl-D", "nothing: there is no line to end", "Stop"},
	{"run", "SIGTERM", "it ends with 1; the next process goes on", "Stop"},

	// At an approval.
	{"approval", "what testdata/question.txt lists", "as it says there", "ADecisionIsMeant"},
	{"approval", "a, Enter; y, n", "approved; approved, rejected", "Approval"},
	{"approval", "wait, cancel, a sentence", "it is shown back; Enter sends it, Esc doesn't", "Approval"},
	{"approval", "go ahead, ok", "how to approve", "Approval"},
	{"approval", "another letter, blanks, Enter", "nothing is decided", "Approval"},
	{"approval", "an arrow, Enter", "the choice that it shows", "Approval"},
	{"approval", "an arrow whose Escape comes alone", "the line stays", "AnArrowInPiecesLeavesNoQuestion"},
	{"approval", "a paste of a choice, Enter", "nothing is decided", "Approval"},
	{"approval", "r, Enter; r, a reason", "rejected; the reason is told", "Approval"},
	{"approval", "s, Enter", "an alternative needs a text: asked again", "Approval"},
	{"approval", "r, and then Ctrl-C, or Esc", "back to the question", "Approval"},
	{"approval", "A with one scope", "approved for the session", "Always"},
	{"approval", "A with several, then 2; 7", "the second; there is no seventh: asked again", "Always"},
	{"approval", "A where it isn't offered", "nothing is decided", "Approval"},
	{"approval", "?", "what each key does", "Approval"},
	{"approval", "e, and what isn't JSON, or doesn't fit", "why, and the question again, with the draft", "Edit"},
	{"approval", "e, and nothing is changed", "nothing is decided", "Edit"},
	{"approval", "e with an editor that doesn't exist, or fails", "why, and the question again", "Edit"},
	{"approval", "Ctrl-C, and again", "the first says that it stays open, the second ends it with 3", "LeftOpen"},
	{"approval", "Ctrl-D", "it stays open, and ends with 3", "LeftOpen"},
	{"approval", "a line of which a part was typed before it was drawn", "nothing is decided", "ADecisionIsMeant"},
	{"approval", "a letter together with a command before it", "nothing is decided", "ALetterAfterACommandDecidesNothing"},
	{"approval", "d, where a change is long", "all of it", "ALongChangeIsCutAndShownByAKey"},
	{"approval", "/ and a command, such as sessions open N", "it stays open", "AQuestionStaysOpenWhenAnotherSessionIsOpened"},
	{"approval", "the window is closed (SIGHUP)", "it stays open, and ends with 1", "Hangup"},
	{"approval", "nothing, until it expires", "too late, and the run goes on without it", "Elsewhere"},
	{"approval", "nothing, and somebody else decides", "who decided, and the run goes on", "Elsewhere"},

	// At a question.
	{"question", "a number; one that isn't there", "the choice; asked again", "Question"},
	{"question", "a text, where a text is wanted", "the text", "Question"},
	{"question", "y or n, where yes or no is wanted", "true or false", "Question"},
	{"question", "a word, where a number is wanted", "why not, and asked again", "Question"},
	{"question", "several questions at once", "they are listed, and answered as JSON", "Question"},
	{"question", "/reject and a reason", "rejected", "Question"},
	{"question", "a secret, typed or pasted; then the up arrow", "it is never shown", "ASecretIsNotShown"},

	// How it was started.
	{"start", "the session waits for a decision", "it is asked", "ASessionThatWaitsIsAskedAtTheStart"},
	{"start", "the last process was killed", "in how many seconds it goes on, and then it does",
		"ASessionWhoseProcessDiedGoesOn"},
	{"start", "another process runs the session", "it is shown, and can be steered",
		"ASessionThatAnotherProcessRunsIsShownAndSteered"},
	{"start", "a prompt as an argument", "0 done, 1 failed, 3 waits, and how to decide; never a question", "OneShot"},
	{"start", "input from a pipe", "a line is a prompt, or a decision; the end of it ends the program", "Pipe"},
	{"start", "input from a pipe that ends at an approval", "3, and how to decide", "Pipe"},
	{"start", "output to a file, a pipe, NO_COLOR, TERM=dumb", "no control characters in it", "Plain"},
	{"start", "output that can't be written", "1", "AnOutputThatCannotBeWrittenIsAnError"},
	{"start", "a window of 20 columns", "lines are cut to it, answers wrap", "Narrow"},

	// What comes from outside.
	{"answer", "words, and code", "words aren't broken", "WordsAreNotBrokenAtTheEdge"},
	{"answer", "escape sequences in a text, a title, a preview", "they are left out",
		"ControlSequencesAreLeftOut"},
	{"any event", "the context ends", "it returns; the terminal isn't raw, and nothing is left running",
		"CancelAtAnyEventEndsIt"},
}

// TestWhatPeopleTypeIsTested looks for the tests that the table names.
func TestWhatPeopleTypeIsTested(t *testing.T) {
	files, err := os.ReadDir(".")
	require.NoError(t, err)
	tests := ""
	for _, file := range files {
		if strings.HasSuffix(file.Name(), "_test.go") {
			text, err := os.ReadFile(file.Name())
			require.NoError(t, err)
			tests += string(text)
		}
	}
	for _, row := range typedAtATerminal {
		require.Contains(t, tests, "\nfunc Test"+row.by+"(", "%s: %s: %s", row.at, row.what, row.wants)
	}
}
