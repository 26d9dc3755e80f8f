package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/examples/coder/internal/standin"
	"github.com/pawlkit/pawl/provider"
)

// The program works on a dependency of this module: it reads, searches, edits, runs its tests, and
// undoes that. The model is the stand-in, once in the program and once behind a server that speaks
// OpenAI's protocol.
func TestARealRepository(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip(err)
	}
	server := httptest.NewServer(http.HandlerFunc(complete))
	defer server.Close()
	dir := filepath.Join(t.TempDir(), "uritemplate")
	require.NoError(t, os.CopyFS(dir, os.DirFS(moduleDir(t, "github.com/yosida95/uritemplate/v3"))))
	file := filepath.Join(dir, "escape.go")
	require.NoError(t, os.Chmod(file, 0o644)) // in the cache, nothing can be written
	before, err := os.ReadFile(file)
	require.NoError(t, err)
	for name, env := range map[string]map[string]string{
		"in the program": {"PAWL_MODEL": "standin"},
		"over HTTP":      {"OPENAI_BASE_URL": server.URL + "/v1", "OPENAI_MODEL": "rules"},
	} {
		t.Run(name, func(t *testing.T) {
			db := filepath.Join(t.TempDir(), "runs.db")
			say := func(lines ...string) string {
				var out, errs bytes.Buffer
				args := []string{"-dir", dir, "-db", db, "-pace", "0", "-mode", "ask", "-session", "s-1"}
				code := run(t.Context(), args, func(name string) string { return env[name] },
					strings.NewReader(strings.Join(lines, "\n")+"\n"), &out, &errs)
				require.Zero(t, code, "%s%s", &out, &errs)
				return out.String()
			}
			shown := say("what is in this repository?", "where is unhex?", "explain Match",
				"rename unhex to hexValue", "approve", "approve")
			for _, want := range []string{"expression.go", "unhex is defined in escape.go, line 95",
				"func (tmpl *Template) Match(expansion string) Values {", "+func hexValue(c byte) byte {",
				"Changed: escape.go. The tests of the package pass."} {
				require.Contains(t, shown, want)
			}
			after, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Equal(t, strings.ReplaceAll(string(before), "unhex", "hexValue"), string(after))
			say("/undo", "yes")
			after, err = os.ReadFile(file)
			require.NoError(t, err)
			require.Equal(t, string(before), string(after))
		})
	}
}

func moduleDir(t *testing.T, path string) string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", path).Output()
	if dir := strings.TrimSpace(string(out)); err == nil && dir != "" {
		return dir
	}
	t.Skip(path + " isn't in the module cache")
	return ""
}

// complete is a server of OpenAI's chat completions, whose model is the stand-in.
func complete(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
			CallID  string          `json:"tool_call_id"`
			Calls   []struct {
				ID       string `json:"id"`
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
		Tools []struct {
			Function struct {
				Name       string
				Parameters json.RawMessage
			}
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	dotted := func(name string) string { return strings.Replace(name, "_", ".", 1) } // as the program names them
	req := &provider.Request{}
	for _, tool := range in.Tools {
		req.Tools = append(req.Tools, provider.Tool{Name: dotted(tool.Function.Name), Schema: tool.Function.Parameters})
	}
	names := make(map[string]string)
	for _, m := range in.Messages {
		text := ""
		if json.Unmarshal(m.Content, &text) != nil {
			var parts []struct{ Text string }
			_ = json.Unmarshal(m.Content, &parts)
			for _, part := range parts {
				text += part.Text
			}
		}
		switch m.Role {
		case "system", "developer":
			req.System += text
		case "tool":
			failed := strings.HasPrefix(text, "Error") || strings.Contains(text, "A person rejected")
			req.Messages = append(req.Messages, provider.Message{Role: provider.RoleTool, Parts: []provider.Part{{
				Kind: provider.PartToolResult, Result: &provider.ToolResult{CallID: m.CallID, Name: names[m.CallID],
					Parts: []provider.Part{provider.TextPart(text)}, Error: failed}}}})
		case "user":
			req.Messages = append(req.Messages, provider.User(text))
		default:
			said := provider.Assistant(text)
			for _, c := range m.Calls {
				names[c.ID] = dotted(c.Function.Name)
				call := &provider.ToolCall{ID: c.ID, Name: names[c.ID], Input: json.RawMessage(c.Function.Arguments)}
				said.Parts = append(said.Parts, provider.Part{Kind: provider.PartToolCall, Call: call})
			}
			req.Messages = append(req.Messages, said)
		}
	}
	res, err := provider.Generate(r.Context(), standin.New(0), req)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	type object = map[string]any
	delta, reason := object{"role": "assistant", "content": res.Text()}, "stop"
	var calls []object
	for i, c := range res.Calls() {
		function := object{"name": strings.ReplaceAll(c.Name, ".", "_"), "arguments": string(c.Input)}
		calls = append(calls, object{"index": i, "id": fmt.Sprintf("call_%d_%d", len(in.Messages), i),
			"type": "function", "function": function})
		delta["tool_calls"], reason = calls, "tool_calls"
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, event := range []object{
		{"id": "1", "model": "rules", "choices": []object{{"index": 0, "delta": delta, "finish_reason": reason}}},
		{"id": "1", "model": "rules", "choices": []object{},
			"usage": object{"prompt_tokens": 9, "completion_tokens": 5}},
	} {
		line, _ := json.Marshal(event)
		fmt.Fprintf(w, "data: %s\n\n", line)
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
}
