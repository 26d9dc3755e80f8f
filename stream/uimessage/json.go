package uimessage

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"
)

// chunkTypes are the types of chunks by their names, without Data.
var chunkTypes = make(map[string]reflect.Type)

func init() {
	for _, c := range []Chunk{Start{}, Finish{}, Abort{}, Error{}, MessageMetadata{}, StartStep{}, FinishStep{},
		ResetStep{}, TextStart{}, TextDelta{}, TextEnd{},
		ReasoningStart{}, ReasoningDelta{}, ReasoningEnd{}, ToolInputStart{}, ToolInputDelta{}, ToolInputAvailable{},
		ToolInputError{}, ToolApprovalRequest{},
		ToolApprovalResponse{}, ToolOutputAvailable{}, ToolOutputError{}, ToolOutputDenied{}, SourceURL{},
		SourceDocument{}, File{}, ReasoningFile{}, Custom{}} {
		chunkTypes[c.kind()] = reflect.TypeOf(c)
	}
}

// A ChunkError says that a chunk can't be encoded or decoded.
type ChunkError struct {
	Type    string // of the chunk, as far as it is known
	Problem string
	Err     error
}

// Error names the chunk and says what is wrong.
func (e *ChunkError) Error() string { return fmt.Sprintf("uimessage: chunk %q: %s", e.Type, e.Problem) }

// Unwrap returns the cause.
func (e *ChunkError) Unwrap() error { return e.Err }

// Marshal returns a chunk as one line of JSON. JSON values in it must be valid, or the error is a
// *[ChunkError].
func Marshal(c Chunk) ([]byte, error) {
	if c == nil || reflect.TypeOf(c).Kind() == reflect.Pointer {
		return nil, &ChunkError{Problem: "it is nil or a pointer; chunks are values"}
	}
	if d, ok := c.(Data); ok && (d.Name == "" || !utf8.ValidString(d.Name)) {
		return nil, &ChunkError{Type: d.kind(), Problem: "its name is empty or isn't UTF-8"}
	}
	kind, err := json.Marshal(c.kind())
	if err != nil {
		return nil, &ChunkError{Type: c.kind(), Problem: err.Error(), Err: err}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(c); err != nil {
		return nil, &ChunkError{Type: c.kind(), Problem: "it can't be encoded: " + err.Error(), Err: err}
	}
	fields := bytes.ToValidUTF8(bytes.TrimSuffix(b.Bytes(), []byte("\n")), []byte("\uFFFD"))
	out := append([]byte(`{"type":`), kind...)
	if len(fields) > 2 {
		out = append(out, ',')
	}
	return append(out, fields[1:]...), nil
}

// Unmarshal returns the chunk that is encoded as JSON. Unknown fields are ignored; the error for an
// unknown type is a *[ChunkError].
func Unmarshal(data []byte) (Chunk, error) {
	var head struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, &ChunkError{Problem: "it isn't a JSON object with a type: " + err.Error(), Err: err}
	}
	if name, ok := strings.CutPrefix(head.Type, dataPrefix); ok && name != "" {
		d := Data{Name: name}
		if err := json.Unmarshal(data, &d); err != nil {
			return nil, &ChunkError{Type: head.Type, Problem: err.Error(), Err: err}
		}
		return d, nil
	}
	t, ok := chunkTypes[head.Type]
	if !ok {
		return nil, &ChunkError{Type: head.Type, Problem: "there is no such chunk"}
	}
	v := reflect.New(t)
	if err := json.Unmarshal(data, v.Interface()); err != nil {
		return nil, &ChunkError{Type: head.Type, Problem: err.Error(), Err: err}
	}
	return v.Elem().Interface().(Chunk), nil
}
