package mcp_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/mcp"
)

// A server that gives the same cursor again and again has the tools that it has listed.
func TestACursorThatComesTwiceEndsTheList(t *testing.T) {
	for name, next := range map[string]func(int32) string{
		"it stands still": func(int32) string { return "same" },
		"it goes around":  func(n int32) string { return fmt.Sprint("page", n%3) },
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int32
			s := newSite(t, true, func(s *sdk.Server) { tool(s, "unused", echo) })
			s.before("tools/list", func(w http.ResponseWriter, r *http.Request) {
				var q struct{ ID json.RawMessage }
				_ = json.NewDecoder(r.Body).Decode(&q)
				n := asked.Add(1)
				body(jsonType, fmt.Sprintf(`{"jsonrpc":"2.0","id":ID,"result":{"tools":[{"name":"a","inputSchema":{}},`+
					`{"name":"b%d","inputSchema":{}}],"nextCursor":%q}}`, n, next(n)), false)(w, string(q.ID))
			})
			var change mcp.Change
			found := list(t, s.connect(mcp.Config{OnChange: func(c mcp.Change) { change = c }}))
			require.LessOrEqual(t, asked.Load(), int32(4))
			require.Len(t, found, 1+int(asked.Load()))
			require.Empty(t, change.Refused)
			require.Len(t, change.Notes, 1)
			require.Contains(t, change.Notes[0], "twice: the tools so far are used")
		})
	}
}

// A list of tools is bounded, whatever its pages have.
func TestAListWithoutAnEndIsBounded(t *testing.T) {
	for name, c := range map[string]struct {
		page  func(n int32) (tools, next string)
		asked int32
		note  string // empty: the list is refused
	}{
		"empty pages": {page: func(n int32) (string, string) { return "", fmt.Sprint(n) }, asked: 1000,
			note: "has more than 1000 pages: the tools so far are used"},
		"long cursors": {page: func(n int32) (string, string) {
			return fmt.Sprintf(`{"name":"a%d","inputSchema":{}}`, n), fmt.Sprint(n) + strings.Repeat("x", 4<<20)
		}, asked: 1, note: "goes on at a cursor of more than 4096 bytes: the tools so far are used"},
		"tools that nobody wants": {page: func(n int32) (string, string) {
			return strings.TrimSuffix(strings.Repeat(`{"name":"b","inputSchema":{}},`, 20_000), ","), fmt.Sprint(n)
		}, asked: 6},
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int32
			s := newSite(t, true, func(s *sdk.Server) { tool(s, "unused", echo) })
			s.before("tools/list", func(w http.ResponseWriter, r *http.Request) {
				var q struct{ ID json.RawMessage }
				_ = json.NewDecoder(r.Body).Decode(&q)
				listed, next := c.page(asked.Add(1))
				body(jsonType, fmt.Sprintf(`{"jsonrpc":"2.0","id":ID,"result":{"tools":[%s],"nextCursor":%q}}`, listed,
					next), false)(w, string(q.ID))
			})
			var change mcp.Change
			server := s.connect(mcp.Config{Only: []string{"a1"}, OnChange: func(c mcp.Change) { change = c },
				Connect: time.Minute})
			_, err := server.List(t.Context())
			require.Equal(t, c.asked, asked.Load())
			if c.note == "" {
				require.ErrorContains(t, err, "it lists more than 100000 tools")
				return
			}
			require.NoError(t, err)
			require.Equal(t, []string{"the list of tools " + c.note}, change.Notes)
		})
	}
}

// What is made of schemas that servers send and that don't validate here, or that providers refuse.
func TestASchemaIsMadeUsable(t *testing.T) {
	const empty = `{"type":"object","properties":{}}`
	for name, c := range map[string]struct{ schema, want, note string }{
		"nothing":       {schema: `null`, want: empty},
		"an object":     {schema: `{"type":"object"}`, want: empty},
		"no properties": {schema: `{"type":"object","properties":null,"required":null}`, want: empty},
		"a lookahead": {schema: `{"type":"object","properties":{"to":{"type":"string","format":"email",` +
			`"pattern":"^(?!\\.)[a-z.]+@[a-z.]+$"}}}`,
			want: `{"type":"object","properties":{"to":{"type":"string","format":"email"}}}`,
			note: `the schema of files.x: the pattern "^(?!\\.)[a-z.]+@[a-z.]+$" of "to" isn't checked here, but by the server`},
		"letters": {schema: `{"type":"object","properties":{"a":{"items":{"type":"string","pattern":"^[\\u4e00-\\u9fff]+$"}}}}`,
			want: `{"type":"object","properties":{"a":{"items":{"type":"string"}}}}`, note: `of "a" isn't checked here`},
		"a back reference": {schema: `{"type":"object","$defs":{"q":{"type":"string","pattern":"(.)\\1"}},` +
			`"properties":{"a":{"$ref":"#/$defs/q"}}}`,
			want: `{"type":"object","$defs":{"q":{"type":"string"}},"properties":{"a":{"$ref":"#/$defs/q"}}}`, note: `of "q"`},
		"names by a pattern": {schema: `{"type":"object","additionalProperties":false,"patternProperties":{"^(?=x)":{},"^y":{}}}`,
			want: `{"type":"object","properties":{},"patternProperties":{"^y":{}}}`, note: "isn't checked here"},
		"a property that is called pattern": {schema: `{"type":"object","properties":{"pattern":{"type":"string"}}}`,
			want: `{"type":"object","properties":{"pattern":{"type":"string"}}}`},
		"limits of draft 4": {schema: `{"$schema":"http://json-schema.org/draft-04/schema#","type":"object",` +
			`"properties":{"a":{"type":"integer","minimum":0,"exclusiveMinimum":true,"maximum":9,"exclusiveMaximum":false}}}`,
			want: `{"type":"object","properties":{"a":{"type":"integer","exclusiveMinimum":0,"maximum":9}}}`},
		"all of": {schema: `{"allOf":[{"$ref":"#/$defs/p"},{"properties":{"b":{"type":"string"}},"required":["b"]}],` +
			`"$defs":{"p":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}}}`,
			want: `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["a","b"],` +
				`"$defs":{"p":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}}}`,
			note: "its root has allOf: the server checks it"},
		"one of": {schema: `{"type":"object","oneOf":[` +
			`{"properties":{"do":{"const":"add"},"text":{"type":"string"}},"required":["do","text"]},` +
			`{"properties":{"do":{"const":"drop"}},"required":["do"]},{"type":"null"}]}`,
			want: `{"type":"object","properties":{"do":{"anyOf":[{"const":"add"},{"const":"drop"}]},` +
				`"text":{"type":"string"}},"required":["do"]}`, note: "its root has oneOf: the server checks it"},
		"any of": {schema: `{"properties":{"a":{},"b":{}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`,
			want: `{"type":"object","properties":{"a":{},"b":{}}}`, note: "its root has anyOf: the server checks it"},
		"one of any": {schema: `{"oneOf":[{"required":["a"],"properties":{"a":{}}},true]}`,
			want: `{"type":"object","properties":{"a":{}}}`, note: "its root has oneOf: the server checks it"},
		"a choice of patterns": {schema: `{"type":"object","properties":{"a":{"oneOf":[{"pattern":"^(?!x)"},{"pattern":"^(?=x)"}]}}}`,
			want: `{"type":"object","properties":{"a":{"anyOf":[{},{}]}}}`, note: `of "a" isn't checked here`},
		"not a pattern": {schema: `{"type":"object","properties":{"a":{"not":{"pattern":"^(?=x)"}}}}`,
			want: `{"type":"object","properties":{"a":{}}}`, note: `of "a" isn't checked here`},
		"if a pattern": {schema: `{"type":"object","if":{"properties":{"a":{"pattern":"^(?=x)"}}},"then":{"required":["b"]}}`,
			want: `{"type":"object","properties":{}}`, note: `of "a" isn't checked here`},
		"large numbers": {schema: `{"type":"object","properties":{"a":{"type":"integer","maximum":9007199254740993}}}`,
			want: `{"type":"object","properties":{"a":{"type":"integer","maximum":9007199254740993}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			var change mcp.Change
			s := rawServer(t, &raw{tools: `{"tools":[{"name":"x","description":"does it","inputSchema":` + c.schema + `}]}`,
				call: `{"content":[]}`}, mcp.Config{OnChange: func(c mcp.Change) { change = c }})
			d := list(t, s)["files.x"]
			require.NotNil(t, d, "%v", change.Refused)
			if name != "large numbers" { // the SDK has rounded it
				require.JSONEq(t, c.want, string(d.Tool().Schema))
			}
			notes := strings.Join(change.Notes, "\n")
			if c.note == "" {
				require.Empty(t, notes)
			} else {
				require.Contains(t, notes, c.note)
			}
			if strings.Contains(c.note, "its root has") { // a model reads what the server checks
				require.Contains(t, d.Tool().Description, "The input must also fit")
			}
		})
	}
}

// The server checks what isn't checked here.
func TestAPatternThatIsntCheckedHereIsCheckedByTheServer(t *testing.T) {
	s := newSite(t, true, func(s *sdk.Server) { tool(s, "unused", echo) })
	s.mu.Lock()
	s.handler = &raw{tools: `{"tools":[{"name":"mail","inputSchema":{"type":"object","properties":{"to":{"type":"string",` +
		`"pattern":"^(?!x)"}},"required":["to"]}}]}`,
		call: `{"isError":true,"content":[{"type":"text","text":"that is no address"}]}`}
	s.mu.Unlock()
	server := s.connect(mcp.Config{})
	out := execute(t, server, "files.mail", object{"to": "xyz"})
	require.Equal(t, tools.Failed, out.Status)
	require.Contains(t, text(&out), "that is no address")
	_, err := list(t, server)["files.mail"].Accept([]byte(`{"to":7}`))
	require.Error(t, err, "the rest of the schema is checked here")
}

// A server whose schemas for results have patterns that can't be compiled keeps its tools, too.
func TestAnOutputSchemaWithAPattern(t *testing.T) {
	s := rawServer(t, &raw{tools: `{"tools":[{"name":"x","inputSchema":{},"outputSchema":{"type":"object",` +
		`"properties":{"a":{"type":"string","pattern":"^(?!x)"}},"required":["a"]}}]}`,
		call: `{"content":[],"structuredContent":{"a":"xyz"}}`}, mcp.Config{})
	out := execute(t, s, "files.x", object{})
	require.Equal(t, tools.OK, out.Status, "%v", out.Err)
}
