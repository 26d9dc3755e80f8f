package wire

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

// A golden is what golden files have of an exchange.
type golden struct {
	Answer *provider.Response `json:"answer"`
	Error  *goldenError       `json:"error,omitempty"`
	// the body of the request that sends the answer back; none after an error
	Next json.RawMessage `json:"next,omitempty"`
}

// A goldenError is the content of an error, without the texts that are the project's own.
type goldenError struct {
	Class     string `json:"class"`
	Status    int    `json:"status,omitempty"`
	Type      string `json:"type,omitempty"`
	Code      string `json:"code,omitempty"`
	Message   string `json:"message,omitempty"`
	RequestID string `json:"request_id,omitempty"`
	Wait      string `json:"wait,omitempty"`
}

func describe(err error) *goldenError {
	class := fault.Of(err).String()
	var e *provider.Error
	if !errors.As(err, &e) {
		return &goldenError{Class: class, Message: err.Error()}
	}
	g := &goldenError{class, e.Status, e.Type, e.Code, e.Message, e.RequestID, ""}
	if e.Wait != nil {
		g.Wait = e.Wait.String()
	}
	return g
}

// golden decodes exchange i, and sends the answer back.
func (fresh New) golden(t testing.TB, c *Case, i int) (*golden, *outcome) {
	t.Helper()
	o := fresh.play(t, c, i, nil)
	g := &golden{Answer: o.Response}
	if o.err != nil {
		g.Error = describe(o.err)
		return g, o
	}
	tr := &Offline{Reply: Always(http.StatusServiceUnavailable, "{}")}
	m := fresh(t, "http://wire.test", &http.Client{Transport: tr}, c)
	_, _ = provider.Generate(t.Context(), m, following(o.Response))
	if len(tr.Bodies) == 0 {
		t.Errorf("wire: %s, exchange %d: the answer can't be sent back", c.Name, i)
		return g, o
	}
	g.Next = tr.Bodies[0]
	return g, o
}

// following is the request after an answer, as an agent makes it: the message is stored as JSON,
// calls have ids of the agent, each call has a result, and an answer without calls is followed by a
// message of the user.
func following(answer *provider.Response) *provider.Request {
	req := question()
	var said provider.Message
	text, err := json.Marshal(answer.Message())
	if err == nil {
		err = json.Unmarshal(text, &said)
	}
	if err != nil {
		panic(fmt.Sprintf("wire: an answer can't be stored: %v", err))
	}
	var results []provider.Part
	for i, c := range said.Calls() {
		c.ProviderID, c.ID = c.ID, fmt.Sprintf("run.1.%d", i)
		results = append(results, provider.ResultPart(provider.ToolResult{CallID: c.ID, Name: c.Name,
			Parts: []provider.Part{provider.TextPart("done")}}))
	}
	next := provider.User("Go on.")
	if results != nil {
		next = provider.Message{Role: provider.RoleTool, Parts: results}
	}
	req.Messages = append(req.Messages, said, next)
	return req
}

// text returns the golden form as it is written to a file.
func (g *golden) text(t testing.TB) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(g); err != nil {
		t.Fatalf("wire: %v", err)
	}
	return b.String()
}

// line returns what a golden file has of a recording, which may not be copied: counts, and a hash
// of everything.
func (g *golden) line(t testing.TB) string {
	t.Helper()
	a := g.Answer
	kinds := map[provider.PartKind]int{}
	for i := range a.Parts {
		kinds[a.Parts[i].Kind]++
	}
	var counts []string
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		counts = append(counts, fmt.Sprintf("%s=%d", kind, kinds[kind]))
	}
	end := string(a.Stop)
	if g.Error != nil {
		end = fmt.Sprintf("error:%s:%d", g.Error.Class, g.Error.Status)
	}
	u := a.Usage
	return fmt.Sprintf("end=%s parts=%d %s usage=%d,%d,%d,%d,%d answer=%s next=%s", end, len(a.Parts),
		strings.Join(counts, " "), u.Input, u.Output, u.CacheRead, u.CacheWrite, u.Reasoning,
		hash(t, a, g.Error), hash(t, g.Next))
}

// hash returns the first 16 digits of the SHA-256 of values as JSON.
func hash(t testing.TB, values ...any) string {
	t.Helper()
	text, err := json.Marshal(values)
	if err != nil {
		t.Fatalf("wire: %v", err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}
