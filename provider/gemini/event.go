package gemini

import (
	"encoding/json"

	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// An event is one object of an answer: a GenerateContentResponse, or an error.
type event struct {
	Candidates []candidate     `json:"candidates"`
	Feedback   json.RawMessage `json:"promptFeedback"`
	Usage      json.RawMessage `json:"usageMetadata"`
	Model      string          `json:"modelVersion"`
	ID         string          `json:"responseId"`
	Error      json.RawMessage `json:"error"`
	Status     adapter.Detail  `json:"modelStatus"`
}

// A candidate is one of the requested answers.
type candidate struct {
	Index   adapter.Index `json:"index"`
	Content struct {
		Parts []json.RawMessage `json:"parts"`
	} `json:"content"`
	Finish        string          `json:"finishReason"`
	FinishMessage string          `json:"finishMessage"`
	Continuation  string          `json:"continuationToken"`
	Grounding     json.RawMessage `json:"groundingMetadata"`
	Citations     *citations      `json:"citationMetadata"`
	CitationsOld  *citations      `json:"citation_metadata"`
	URLs          json.RawMessage `json:"urlContextMetadata"`
	Safety        adapter.Detail  `json:"safetyRatings"`
	Average       adapter.Detail  `json:"avgLogprobs"`
	Logprobs      adapter.Detail  `json:"logprobsResult"`
}

// A part is a part of an answer, with the fields of all kinds.
type part struct {
	Text      *string       `json:"text"`
	Thought   bool          `json:"thought"`
	Signature string        `json:"thoughtSignature"`
	Call      *functionCall `json:"functionCall"`
	Inline    *blob         `json:"inlineData"`
	File      *fileData     `json:"fileData"`
	Code      *executable   `json:"executableCode"`
	CodeRan   *codeResult   `json:"codeExecutionResult"`
	ToolCall  *serverTool   `json:"toolCall"`
	ToolRan   *serverTool   `json:"toolResponse"`
}

// A functionCall is a call for the host. Its arguments come whole, or in pieces in the following
// calls without a name.
type functionCall struct {
	ID       string          `json:"id,omitempty"`
	Name     string          `json:"name,omitempty"`
	Args     json.RawMessage `json:"args,omitempty"`
	Partial  []partialArg    `json:"partialArgs,omitempty"`
	Continue bool            `json:"willContinue,omitempty"`
}

type blob struct {
	Type string `json:"mimeType,omitempty"`
	Data []byte `json:"data,omitempty"`
	Name string `json:"displayName,omitempty"`
}

type fileData struct {
	Type string `json:"mimeType,omitempty"`
	URI  string `json:"fileUri"`
}

type executable struct {
	ID       string `json:"id"`
	Language string `json:"language"`
	Code     string `json:"code"`
}

type codeResult struct {
	ID      string `json:"id"`
	Outcome string `json:"outcome"`
	Output  string `json:"output"`
}

// A serverTool is a call of a tool that the provider runs, or its result.
type serverTool struct {
	ID       string          `json:"id"`
	Type     string          `json:"toolType"`
	Args     json.RawMessage `json:"args"`
	Response json.RawMessage `json:"response"`
}
