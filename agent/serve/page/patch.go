package page

import (
	"encoding/json"
	"time"

	"github.com/pawlkit/pawl/agent/plan"
	"github.com/pawlkit/pawl/tools"
)

// A Patch is a change to the page: exactly one of its fields is set.
type Patch struct {
	Item   *Item   `json:"item,omitempty"`
	Blocks *Blocks `json:"blocks,omitempty"`
	State  *State  `json:"state,omitempty"`
	// Drop is "drafts": the page removes the items of the reply in progress.
	Drop string `json:"drop,omitempty"`
	// Replaced is the Fact of a user's message: the page removes it and all that comes after it.
	Replaced uint64 `json:"replaced,omitempty"`
}

// dropDrafts removes the texts that aren't Done and the calls that are still being written.
const dropDrafts = "drafts"

// An Item is something in the conversation. If the page has an item with this ID, the fields that
// are set replace those it has; a Status also ends Wait and Progress.
type Item struct {
	ID   string `json:"id"`
	Kind Kind   `json:"kind"`
	// Group is the model call that the item belongs to. Items of a group are shown together, by
	// Order. Without a group, an item comes after all that the page had before.
	Group string    `json:"group,omitempty"`
	Order int       `json:"order,omitempty"`
	Time  time.Time `json:"time,omitzero"`
	Done  bool      `json:"done,omitempty"` // of a text: it is complete

	Text    string `json:"text,omitempty"` // of a notice: what has happened, if Code alone doesn't say it
	By      string `json:"by,omitempty"`
	Files   []File `json:"files,omitempty"`
	Steered bool   `json:"steered,omitempty"` // a user's message that reached the run while it was working
	Fact    uint64 `json:"fact,omitempty"`    // of a user's message that started a run: agent.Input.Replaces
	Code    string `json:"code,omitempty"`    // of a notice: what happened
	GoOn    bool   `json:"goOn,omitempty"`    // of a notice of a run's end: a message to go on continues the work
	Quiet   bool   `json:"quiet,omitempty"`   // of such a notice: it needs nothing from people
	URL     string `json:"url,omitempty"`     // of a source
	Stays   []Stay `json:"stays,omitempty"`   // of a notice of an undo: what wasn't undone

	*Call
	Pause    *Pause         `json:"pause,omitempty"`
	Plan     *plan.Overview `json:"plan,omitempty"`
	Decision *Decision      `json:"decision,omitempty"`
}

// A Kind says what an item is.
type Kind string

// The kinds of items.
const (
	KindUser      Kind = "user"      // Text and Files
	KindText      Kind = "text"      // of the model; its Blocks follow
	KindReasoning Kind = "reasoning" // its Blocks follow
	KindCall      Kind = "call"      // see Call
	KindPause     Kind = "pause"     // see Pause, and later Decision
	KindSource    Kind = "source"    // that an answer cites: Text is its title
	KindFile      Kind = "file"      // that the model made: Files
	KindNotice    Kind = "notice"    // Code says what happened
	KindPlan      Kind = "plan"      // see Plan
)

// A Stay is a call whose effect an undo has left.
type Stay struct {
	Title string `json:"title"` // what the call has done, in words
	Why   string `json:"why"`
}

// A File comes with a message.
type File struct {
	Name string `json:"name"`
	Type string `json:"type"`
	Size int    `json:"size,omitempty"`
	URL  string `json:"url,omitempty"` // a data URL of a small image
}

// A Call is what an item of a tool call has.
type Call struct {
	Name    string `json:"name,omitempty"`
	Input   string `json:"input,omitempty"` // formatted JSON, or what the model has written instead
	Invalid bool   `json:"invalid,omitempty"`
	// Status is writing, ready, running, or how the call ended: see package tools.
	Status string `json:"status,omitempty"`
	Result string `json:"result,omitempty"`
	Cut    int    `json:"cut,omitempty"`  // bytes that Result leaves out
	Took   int64  `json:"took,omitempty"` // milliseconds
	// Exit says how a program ended that has failed: "exit code 1"; Last are the last lines of its
	// output. The status is that of the call.
	Exit     string        `json:"exit,omitempty"`
	Last     string        `json:"last,omitempty"`
	Attempts int           `json:"attempts,omitempty"` // if more than one
	Undoable bool          `json:"undoable,omitempty"` // the tool can undo its effect
	Undone   bool          `json:"undone,omitempty"`
	Wait     *Wait         `json:"wait,omitempty"`
	Progress *CallProgress `json:"progress,omitempty"`
}

// CallProgress is what a running tool reports.
type CallProgress struct {
	Text string  `json:"text,omitempty"`
	Done float64 `json:"done,omitempty"` // from 0 to 1; 0 if unknown
}

// A Wait says why something waits.
type Wait struct {
	Reason string    `json:"reason"` // of package provider
	Until  time.Time `json:"until,omitzero"`
}

// A Pause is what an item of a pause has.
type Pause struct {
	Call    string          `json:"call"` // the id of the call's item
	Ask     string          `json:"ask"`  // approval, in_doubt, correction, secret, or the kind of a question
	Name    string          `json:"name"`
	Title   string          `json:"title"`           // what the call does, in words
	Input   string          `json:"input,omitempty"` // formatted JSON
	Reason  string          `json:"reason,omitempty"`
	For     string          `json:"for,omitempty"` // who answers, if that isn't a person
	Risk    string          `json:"risk,omitempty"`
	Schema  json.RawMessage `json:"schema,omitempty"` // of the answer to a question, else of the call's input
	Expires time.Time       `json:"expires,omitzero"`
	Always  bool            `json:"always,omitempty"`
	Scope   string          `json:"scope,omitempty"`
	Scopes  []tools.Scope   `json:"scopes,omitempty"`  // how far "always" may reach
	Preview string          `json:"preview,omitempty"` // what the call would change, as a unified diff
	Show    *Preview        `json:"show,omitempty"`    // what the host shows of it
	Refused string          `json:"refused,omitempty"` // what was wrong with an earlier decision
	Key     string          `json:"key,omitempty"`     // the idempotency key of a call in doubt
	About   string          `json:"about,omitempty"`   // the description of the tool
	Undo    bool            `json:"undo,omitempty"`    // the tool can undo its effect
	Plan    *plan.Overview  `json:"plan,omitempty"`    // that was submitted with the call
}

// A Preview is what a host shows of what a pause asks about: a picture, a page, or both. The
// addresses are those of the host's own site, such as "previews/7.png": the page loads nothing from
// elsewhere.
type Preview struct {
	Title   string `json:"title,omitempty"`   // what it shows, in words; empty: "Preview"
	Picture string `json:"picture,omitempty"` // the address of a picture
	// Page is the address of an HTML page. It is shown in a frame in which no scripts run and that
	// has no access to the site.
	Page string `json:"page,omitempty"`
}

// A Decision is what was decided on a pause.
type Decision struct {
	Kind   string    `json:"kind"`
	Reason string    `json:"reason,omitempty"`
	Input  string    `json:"input,omitempty"`
	Value  string    `json:"value,omitempty"`
	Scope  string    `json:"scope,omitempty"` // how far "always" reaches; empty: the session
	User   string    `json:"who,omitempty"`
	Time   time.Time `json:"time,omitzero"`
}

// A State is the state of the session. Fields that aren't set stay as they were; a Status also ends
// Waiting, and so does Active.
type State struct {
	Status  string  `json:"status,omitempty"` // running, paused, completed, stopped or failed
	Code    string  `json:"code,omitempty"`   // why it isn't running
	Mode    string  `json:"mode,omitempty"`
	Title   *string `json:"title,omitempty"`
	Waiting *Wait   `json:"waiting,omitempty"`
	Active  bool    `json:"active,omitempty"` // the model call doesn't wait any more
	// Older is where the page begins, if there is more before that: see View.Older.
	Older uint64 `json:"older,omitempty"`
}
