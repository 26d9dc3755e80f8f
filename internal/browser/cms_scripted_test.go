package browser

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// A scriptedReply is what a scripted model says next: a text, or a call of the tool whose name ends
// so.
type scriptedReply struct{ text, tool, input string }

// A scriptedModel is a server with the API of OpenAI, for what the built-in model doesn't do. For
// each message of the user it has a script: the first reply, the one after the first result, and so
// on.
type scriptedModel struct {
	scripts map[string][]scriptedReply // by how the message begins
	largest atomic.Int64               // bytes of messages in a request
}

// startScripted starts a CMS whose model is scripted.
func startScripted(t *testing.T, m *scriptedModel) *cmsServer {
	t.Helper()
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	env := []string{"OPENAI_API_KEY=none", "OPENAI_BASE_URL=" + server.URL + "/v1", "PAWL_MODEL=openai/scripted"}
	return startCMSWith(t, env)
}

func (m *scriptedModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
		Tools []struct{ Function struct{ Name string } }
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var size int64
	var last string
	results := 0
	for _, message := range body.Messages {
		size += int64(len(message.Content))
		switch message.Role {
		case "user":
			last, results = string(message.Content), 0
		case "tool":
			results++
		}
	}
	m.largest.Store(max(m.largest.Load(), size))
	reply := scriptedReply{text: "I have no script for this."}
	for begins, script := range m.scripts {
		if strings.Contains(last, begins) && results < len(script) {
			reply = script[results]
		}
	}
	delta := map[string]any{"role": "assistant", "content": reply.text}
	stop := "stop"
	if reply.tool != "" {
		name := ""
		for _, t := range body.Tools {
			if strings.HasSuffix(t.Function.Name, reply.tool) {
				name = t.Function.Name
			}
		}
		stop = "tool_calls"
		delta = map[string]any{"role": "assistant", "tool_calls": []any{map[string]any{
			"index": 0, "id": fmt.Sprintf("call-%d-%d", len(body.Messages), results), "type": "function",
			"function": map[string]string{"name": name, "arguments": reply.input}}}}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, choice := range []map[string]any{{"index": 0, "delta": delta},
		{"index": 0, "delta": map[string]any{}, "finish_reason": stop}} {
		data, _ := json.Marshal(map[string]any{"id": "1", "object": "chat.completion.chunk", "model": "scripted",
			"choices": []any{choice}})
		fmt.Fprintf(w, "data: %s\n\n", data)
	}
	fmt.Fprintf(w,
		"data: {\"id\":\"1\",\"choices\":[],\"usage\":{\"prompt_tokens\":%d,\"completion_tokens\":9}}\n\ndata: [DONE]\n\n", size/4)
}

const newSlots = `{"definition":"hero","elements_structure":{"rows":[{"slots":[
	{"key":"headline","type":"text","label":"Headline"}]}]}}`

// TestADefinitionInUseIsChangedAfterApproval is the second half of scenario 5.
func TestADefinitionInUseIsChangedAfterApproval(t *testing.T) {
	t.Parallel()
	p := openCMS(t, startScripted(t, &scriptedModel{scripts: map[string][]scriptedReply{
		"Give the hero": {{tool: "syncSectionElements", input: newSlots},
			{text: "The hero has a headline now. What no longer fits is kept."}},
	}}), "")
	p.say("Give the hero a headline instead of a title")
	p.asked("hero")
	p.drawn("cms-scenario-5-definition.png")
	// how many contents it affects
	p.wait(`/\b\d+\b/.test(document.querySelector(".card .notes").textContent)`)
	p.press(".card", "Approve")
	p.answer("What no longer fits is kept")
	p.calm()
}

// TestALongConversationIsSummarized is scenario 9: no request is larger than the model's window
// allows.
func TestALongConversationIsSummarized(t *testing.T) {
	t.Parallel()
	if !*screens {
		t.Skip("the tests of package memory have it; with -screens it is tried in the page")
	}
	m := &scriptedModel{
		scripts: map[string][]scriptedReply{"Remember": {{tool: "listPages", input: "{}"}, {text: "I have read it."}}}}
	p := openCMS(t, startScripted(t, m), "")
	for i := range 12 {
		p.fill(fmt.Sprintf("Remember %d: %s", i, strings.Repeat("A page about bread, and how it is baked. ", 1500)))
		p.keys("\r")
		p.wait(fmt.Sprintf(`document.querySelectorAll(".call").length === %d`, i+1))
		p.answer("I have read it")
	}
	p.wait(`document.querySelector(".column").textContent.includes("summarized")`)
	require.Less(t, m.largest.Load(), int64(90_000*4))
	p.calm()
}
