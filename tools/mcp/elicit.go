package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/schema"
	"github.com/pawlkit/pawl/tools"
)

// A question is what a server asks a person within a call.
type question struct {
	ID      string          `json:"id"` // of the server; for a server that waits within the call, the message
	Message string          `json:"message"`
	URL     string          `json:"url,omitempty"` // to open, instead of a form
	Schema  json.RawMessage `json:"schema,omitempty"`
}

// An answer is what a person has answered.
type answer struct {
	Action  string         `json:"action"` // accept, decline or cancel
	Content map[string]any `json:"content,omitempty"`
}

// A waiting is the state of a call that waits for a person.
type waiting struct {
	Questions []question `json:"questions"`
	State     string     `json:"state,omitempty"`  // the server's, to go on
	Within    bool       `json:"within,omitempty"` // the server waits within the call
	// to earlier questions of a server that waits within the call
	Answers map[string]answer `json:"answers,omitempty"`
	SignIns int               `json:"sign_ins,omitempty"` // for which the call has waited
}

// suspend returns the error with which the call waits for a person. res is the server's result with
// its questions; nil or without questions for a server that has asked within the call.
func (r *running) suspend(server string, res *mcp.CallToolResult) error {
	w := waiting{Questions: r.asked, Within: true, Answers: r.answers}
	if res != nil && res.NeedsInput() {
		w = waiting{State: res.RequestState}
		for _, id := range slices.Sorted(maps.Keys(res.InputRequests)) {
			p, ok := res.InputRequests[id].(*mcp.ElicitParams)
			if !ok {
				return fault.Errorf(fault.Permanent,
					"mcp: the server asks for something else than an answer of a person, which isn't supported")
			}
			w.Questions = append(w.Questions, asQuestion(id, p))
		}
	}
	if len(w.Questions) == 0 {
		return fault.New(fault.Permanent, "mcp: the server waits for an answer and asks nothing")
	}
	var prompt []string
	for _, q := range w.Questions {
		if field := secretField(q.Schema); field != "" {
			return fault.Errorf(fault.Denied,
				"mcp: the server asks for a secret (%q), which people aren't asked for: give it with Config.Header, "+
					"or with SignIn", field)
		}
		text := q.Message
		if q.URL != "" {
			text += "\n" + q.URL
		}
		prompt = append(prompt, tools.Cut(strings.ToValidUTF8(text, "\uFFFD"), maxMessage))
	}
	return tools.Suspend{
		Kind: "question", Prompt: fmt.Sprintf("The server %s asks: %s", server, strings.Join(prompt, "\n")),
		Schema: w.schema(), Again: true, State: w,
	}
}

// secretField returns a field of a form that asks for a secret. The protocol forbids that: an
// answer is stored and shown like any other.
func secretField(form json.RawMessage) string {
	var s struct {
		Properties map[string]struct {
			Format string `json:"format"`
		} `json:"properties"`
	}
	if json.Unmarshal(form, &s) != nil {
		return ""
	}
	for name, p := range s.Properties {
		if p.Format == "password" || secretName.MatchString(name) {
			return name
		}
	}
	return ""
}

var secretName = regexp.MustCompile(
	`(?i)passw|passphrase|secret|token|api.?key|private.?key|credential|\bpin\b|\bcvv\b`)

func asQuestion(id string, p *mcp.ElicitParams) question {
	q := question{ID: id, Message: p.Message, URL: p.URL}
	if p.RequestedSchema != nil {
		if raw, err := json.Marshal(p.RequestedSchema); err == nil {
			if _, err := schema.Parse(raw); err == nil {
				q.Schema = raw
			}
		}
	}
	return q
}

// schema returns the schema of the answer: for one question its own, for several an object with one
// property for each.
func (w *waiting) schema() json.RawMessage {
	one := func(q *question) json.RawMessage {
		if q.Schema != nil {
			return q.Schema
		}
		return json.RawMessage(`{"type":"object"}`) // after the page was opened, there is nothing to say
	}
	if len(w.Questions) == 1 {
		return one(&w.Questions[0])
	}
	properties, names := map[string]json.RawMessage{}, []string{}
	for i := range w.Questions {
		properties[w.Questions[i].ID] = one(&w.Questions[i])
		names = append(names, w.Questions[i].ID)
	}
	// these are schemas and strings
	raw, _ := json.Marshal(map[string]any{"type": "object", "properties": properties, "required": names})
	return raw
}

// resume puts the answers of a person into the call, if it was suspended before.
func (r *running) resume(ctx context.Context, params *mcp.CallToolParams) error {
	resumed, ok := tools.Resumed(ctx)
	if !ok {
		return nil
	}
	var w waiting
	if err := resumed.Decode(&w, nil); err != nil {
		return err
	}
	r.signIns = w.SignIns
	answers := maps.Clone(w.Answers)
	if answers == nil {
		answers = make(map[string]answer)
	}
	var given map[string]json.RawMessage
	if len(w.Questions) == 1 {
		given = map[string]json.RawMessage{w.Questions[0].ID: resumed.Answer}
	} else if err := json.Unmarshal(resumed.Answer, &given); err != nil {
		return fault.Errorf(fault.Permanent, "mcp: the answers can't be decoded: %w", err)
	}
	for _, q := range w.Questions {
		a := answer{Action: "accept"}
		if q.URL == "" {
			if err := json.Unmarshal(given[q.ID], &a.Content); err != nil {
				return fault.Errorf(fault.Permanent, "mcp: the answer to %q can't be decoded: %w", q.Message, err)
			}
		}
		answers[q.ID] = a
	}
	if w.Within {
		r.answers = answers
		return nil
	}
	params.RequestState = w.State
	if len(answers) == 0 { // it has waited for a sign-in
		return nil
	}
	params.InputResponses = make(mcp.InputResponseMap)
	for id, a := range answers {
		params.InputResponses[id] = &mcp.ElicitResult{Action: a.Action, Content: a.Content}
	}
	return nil
}

// elicit answers a server of an older version of the protocol, which waits for a person within the
// call. A person may take days, so it is told that the question was dismissed; the call is
// suspended, and made again with the answer. It is known which call asks only if one is under way.
func (s *session) elicit(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.calls) != 1 {
		return &mcp.ElicitResult{Action: "cancel"}, nil
	}
	for _, r := range s.calls {
		q := asQuestion(req.Params.Message, req.Params)
		if a, ok := r.answers[q.ID]; ok {
			return &mcp.ElicitResult{Action: a.Action, Content: a.Content}, nil
		}
		r.asked = append(r.asked, q)
	}
	return &mcp.ElicitResult{Action: "cancel"}, nil
}
