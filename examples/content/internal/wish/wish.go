package wish

import "time"

// The intents.
const (
	GenerateTopics  = "GENERATE_TOPICS"
	ResearchTopic   = "RESEARCH_TOPIC"
	CreateSkeleton  = "CREATE_SKELETON"
	WriteContent    = "WRITE_CONTENT"
	HumanizeContent = "HUMANIZE_CONTENT"
	CreateVisuals   = "CREATE_VISUALS"
	FullPipeline    = "FULL_PIPELINE"
	PartialPipeline = "PARTIAL_PIPELINE"
	SkipVisuals     = "SKIP_VISUALS"
	QueryStatus     = "QUERY_STATUS"
	ModifyContent   = "MODIFY_CONTENT"
	Clarify         = "CLARIFY"
	Unsupported     = "UNSUPPORTED"

	CreateDraft    = "CREATE_DRAFT"
	Rename         = "RENAME"
	SetTone        = "SET_TONE"
	SetTags        = "SET_TAGS"
	Publish        = "PUBLISH"
	Unpublish      = "UNPUBLISH"
	Archive        = "ARCHIVE"
	Unarchive      = "UNARCHIVE"
	ReplacePicture = "REPLACE_PICTURE"
	RemovePicture  = "REMOVE_PICTURE"
	Accept         = "ACCEPT" // the open proposal
	Reject         = "REJECT"
	Undo           = "UNDO"
	Restore        = "RESTORE"
	Export         = "EXPORT"
	Continue       = "CONTINUE"
	Stop           = "STOP"
	Open           = "OPEN"
	ListArtifacts  = "LIST_ARTIFACTS"
	Sources        = "SOURCES"
	Help           = "HELP"
	Answer         = "ANSWER" // the answer to a question is in Say
)

// Why is why a wish isn't done; empty: it is.
type Why string

// The reasons.
const (
	Forbids   Why = "forbids"   // or leaves it to a condition, to others or to the writer
	Asks      Why = "asks"      // a question: Say is the answer
	TakesBack Why = "takesBack" // "research this. Wait, no."
	Unclear   Why = "unclear"   // Say asks, Options are near
	Confirms  Why = "confirms"  // Say is "Shall I …?", the first of Options says yes
)

// An Artifact is one that a sentence can name. What follows Status is needed for the one that is
// open and the one that the conversation is about.
type Artifact struct {
	ID, Title, Type, Status, Tone string
	Sections                      []string // the headings
	Words, Characters             int
	Sources, Pictures, Patterns   int
	Score                         string // such as "3 of 24 patterns found"
	Published                     time.Time
}

// A Place is where a sentence is said.
type Place struct {
	Artifacts []Artifact // the user's, the latest first
	Open      string     // the id of the one on the screen
	About     string     // the id of the one that the conversation is about
	Offered   []Option   // the buttons of the last answer

	fixed string // the id of the one that a button is about
}

// An Option is a button.
type Option struct {
	Label   string `json:"label"`
	Message string `json:"message"` // what it sends
}

// A Wish is what a sentence wants.
type Wish struct {
	Intent     string // never empty
	Confidence float64
	Why        Why
	Say        string // in words, if it isn't done
	Options    []Option
	Artifact   string   // its id; empty: it needs none
	Steps      []string // the tools that run, in their order
	New        bool     // a new artifact with Title, Type and Tone
	Next       string   // a second wish, to be offered afterwards: it is a sentence
	Details
}

// Details are what a sentence says besides.
type Details struct {
	Title, Type, Tone string
	From              string // of a new artifact: the id of the one whose sources it uses
	Focus             string // of ideas: what about; of a list: the status
	Count             int    // of ideas
	Tags              []string
	// Section is a heading of the artifact, "introduction", "conclusion", or the number of a
	// section if the headings aren't known; empty: the whole text
	Section     string
	Remove      bool   // the section goes
	Picture     int    // from 1; -1 is the last; 0: none is named
	Version     int    // to restore: its number; 0: the one before the newest
	Before      string // to restore: the one before this tool
	Format      string // markdown, html or text
	Instruction string // of a change of the text, in the writer's words
}
