package notes

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
)

// An Input is what a progress note, or the note of a context reset, is written from. The agent
// makes it; a test may make one with the fields that it needs.
type Input struct {
	Session  string
	Run      string
	Agent    string
	Task     string
	Category string
	Index    int     // among the notes of that category in the session, from 1
	Share    float64 // of the window, without its reserve, that the next request would take
	// Goal is the input that the work started with, verbatim.
	Goal string
	// Request is the model call that comes next. Its Messages are the conversation. Nothing of it
	// may be changed.
	Request provider.Request
	// Provider is the agent's, with its guard.
	Provider provider.Provider
	// Counter counts tokens for the agent's model; nil: an estimator.
	Counter memory.Counter
	// Room is how many tokens a transcript may have; 0: half of 128,000 without a reserve.
	Room int

	mu    sync.Mutex // guards what follows
	spent machine.Spent
}

// Transcript returns the conversation as text: messages, calls and results, of which long ones are
// cut. If it has more than the given number of tokens, only the end is kept; 0: Room.
func (in *Input) Transcript(tokens int) string {
	if tokens <= 0 {
		tokens = in.room()
	}
	return memory.Transcript(in.Counter, in.Request.Messages, tokens)
}

func (in *Input) room() int { return cmp.Or(in.Room, memory.Window{}.Budget(nil)/2) }

// Book counts the usage of a model call for the note towards the limits of the run. Cost 0 means
// that it isn't known. What comes after the agent has recorded the note isn't counted. Book is safe
// for concurrent use.
func (in *Input) Book(u provider.Usage, cost provider.Money) { in.book(u, cost, cost > 0) }

func (in *Input) book(u provider.Usage, cost provider.Money, priced bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.spent = in.spent.Add(machine.Spent{Usage: u, Cost: cost, Unpriced: !priced && u.Total() > 0})
}

// maxNote is the maximum length of a note, in bytes.
const maxNote = 64 << 10

// Fact returns the fact of the note, with what was booked for it. If there is no note because of
// err, or if the note can't be recorded, the fact says why. It is for package agent.
func (in *Input) Fact(note json.RawMessage, err error) *machine.NoteWritten {
	switch {
	case err != nil:
	case len(note) > maxNote:
		err = fmt.Errorf("it has %d bytes; notes have at most %d", len(note), maxNote)
	case !json.Valid(note) || machine.TooDeep(note):
		err = errors.New("it is no JSON, or nested too deep")
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	f := &machine.NoteWritten{Category: in.Category, Index: in.Index, Share: in.Share, Note: note,
		Usage: in.spent.Usage, Cost: in.spent.Cost, Priced: in.spent != (machine.Spent{}) && !in.spent.Unpriced}
	if err != nil {
		f.Note, f.Error = nil, err.Error()
	}
	return f
}
