package openai

import (
	"encoding/json"

	"github.com/pawlkit/pawl/provider"

	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// An outputItem is an item that is being received.
type outputItem struct {
	index    int    // index of its chunks
	place    int    // its index in the server's output
	id       string // the last id: some servers change it
	callID   string
	name     string
	kind     string
	open     bool // of a call: it has started and not ended
	argsDone bool // of a call: its arguments are complete
	pending  bool // of a call: arguments came before its name
	done     bool
	custom   bool
	sent     yielded    // of the arguments
	parts    []*yielded // of the text and the refusals, by content
	block    int32      // of its text
	said     provider.ChunkKind
	thought  int       // bytes of reasoning so far
	source   thoughtOf // which of the two reasoning texts counts
	asked    string    // of a call that waits for the client: its input
	item     responsesItem
}

type thoughtOf byte

const (
	unknownThought thoughtOf = iota
	summaryThought
	rawThought
)

// A responsesEvent is an event of a stream.
type responsesEvent struct {
	Type         string          `json:"type"`
	ItemID       string          `json:"item_id"`
	OutputIndex  optional        `json:"output_index"`
	ContentIndex optional        `json:"content_index"`
	Delta        looseText       `json:"delta"`
	Arguments    argsText        `json:"arguments"`
	Input        looseText       `json:"input"`
	Item         json.RawMessage `json:"item"`
	Response     json.RawMessage `json:"response"`
	Error        json.RawMessage `json:"error"`
}

// A response is the fields of a whole answer that are used.
type response struct {
	ID         string          `json:"id"`
	Model      string          `json:"model"`
	Status     string          `json:"status"`
	Error      json.RawMessage `json:"error"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Output []json.RawMessage `json:"output"`
	Usage  json.RawMessage   `json:"usage"`
	responsesMetadata
}

// A responsesItem is an item of the output.
type responsesItem struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Status    string          `json:"status"`
	Phase     string          `json:"phase"`
	CallID    string          `json:"call_id"`
	Label     string          `json:"server_label"` // of an MCP server
	Name      string          `json:"name"`
	Arguments argsText        `json:"arguments"`
	Input     looseText       `json:"input"`
	Content   []itemText      `json:"content"`
	Summary   []itemText      `json:"summary"`
	Action    json.RawMessage `json:"action"`
	Queries   json.RawMessage `json:"queries"`
	Code      json.RawMessage `json:"code"`
	Outputs   []itemText      `json:"outputs"` // of code
	Results   []itemText      `json:"results"` // of a search in files
	Output    looseText       `json:"output"`
	Error     json.RawMessage `json:"error"`
	Result    string          `json:"result"` // an image
	Format    string          `json:"output_format"`
}

type itemText struct {
	Type        string         `json:"type"`
	Text        string         `json:"text"`
	Refusal     string         `json:"refusal"`
	Logs        string         `json:"logs"`
	Annotations []annotation   `json:"annotations"`
	Logprobs    adapter.Detail `json:"logprobs"`
}
