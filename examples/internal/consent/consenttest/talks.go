package consenttest

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// A Talk is a conversation of a person with an assistant, and what a good model does in it.
type Talk struct {
	Name  string
	Turns []*Turn
}

// A Turn is what a person says or clicks, what the model does then, and what is true after it.
type Turn struct {
	On, Mode string // what is on the screen, and the mode
	Text     string // what the person says, or what a button sends
	Click    bool
	Moves    []*Move

	Same       bool // nothing has changed
	Has, Lacks []string
}

// A Move is one reply of the model: a call, or an answer. Without both, it is a call that a button
// makes, or the model is at work until the person stops it.
type Move struct {
	Call   Call
	Judge  string // what the model says the person wants of the call; empty: it requests it
	Writes string // what a model writes for the call
	Gets   string // is in the result
	Say    string
	Stop   bool // the person stops it

	Asks     string // the reason why the call waits; empty: it doesn't
	Decision string // yes, no or edit; empty: nobody decides
	With     string // the reason, or the input
}

// Talks reads the conversations of a list. The list says how it is written.
func Talks(t testing.TB, path string) (all []Talk) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var turn *Turn
	on, mode := "", ""
	for i, line := range strings.Split(string(text), "\n") {
		word, rest, _ := strings.Cut(line, " ")
		err := error(nil)
		switch {
		case line == "" || word == "#" || line == "#":
		case word == "talk":
			all, on, mode, turn = append(all, Talk{Name: rest}), "", "", nil
		case len(all) == 0:
			err = fmt.Errorf("there is no talk yet")
		case word == "on":
			on = rest
		case word == "mode":
			mode = rest
		case word == ">" || word == "click":
			turn = &Turn{On: on, Mode: mode, Text: rest, Click: word == "click"}
			last := &all[len(all)-1]
			last.Turns = append(last.Turns, turn)
		case turn == nil:
			err = fmt.Errorf("there is no turn yet")
		default:
			err = turn.read(word, rest)
		}
		if err != nil {
			t.Fatalf("%s:%d: %q: %v", path, i+1, line, err)
		}
	}
	for _, k := range all {
		for _, turn := range k.Turns {
			if !turn.Same && len(turn.Has)+len(turn.Lacks) == 0 {
				t.Fatalf("%s: %s: %q says nothing about what is true after it", path, k.Name, turn.Text)
			}
		}
	}
	return all
}

// read reads a line of a turn.
func (turn *Turn) read(word, rest string) error {
	switch word {
	case "call":
		name, input, _ := strings.Cut(rest, " ")
		turn.Moves = append(turn.Moves, &Move{Call: Call{Name: name, Input: input}})
		return nil
	case "say":
		turn.Moves = append(turn.Moves, &Move{Say: rest})
		return nil
	case "stop":
		turn.Moves = append(turn.Moves, &Move{Stop: true})
		return nil
	case "same":
		turn.Same = true
		return nil
	case "has":
		turn.Has = append(turn.Has, rest)
		return nil
	case "lacks":
		turn.Lacks = append(turn.Lacks, rest)
		return nil
	}
	if len(turn.Moves) == 0 && turn.Click && word == "asks" { // about what the button does
		turn.Moves = append(turn.Moves, &Move{})
	}
	if len(turn.Moves) == 0 {
		return fmt.Errorf("there is no call yet")
	}
	move := turn.Moves[len(turn.Moves)-1]
	switch word {
	case "judge":
		move.Judge = rest
	case "write":
		move.Writes = rest
	case "gets":
		move.Gets = rest
	case "asks":
		move.Asks = rest
	case "yes", "no", "edit":
		move.Decision, move.With = word, rest
	default:
		return fmt.Errorf("there is no line %q", word)
	}
	return nil
}
