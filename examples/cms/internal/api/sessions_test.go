package api

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/examples/cms/internal/cmstools"
	"github.com/pawlkit/pawl/provider/providertest"
)

// ended waits until that many runs of a session have ended or paused.
func (b *bench) ended(session string, runs int) {
	b.t.Helper()
	for ev, err := range b.hub.Watch(b.t.Context(), session, 0) {
		require.NoError(b.t, err)
		if _, ok := ev.(*agent.RunEnded); ok {
			runs--
		}
		if runs == 0 {
			return
		}
	}
}

func TestAConversationIsHeldAndShown(t *testing.T) {
	b := newBench(t, providertest.Say("There is one page."),
		providertest.Call(cmstools.DeletePage, map[string]any{"page": "home"}))
	var v sessionView
	b.json(201, "POST", "/v1/sessions", `{"title":"Pages","mode":"ask"}`, &v)
	require.Equal(t, []string{"new", "Pages", "ask"}, []string{v.Status, v.Title, v.Mode})
	at := "/v1/sessions/" + v.ID
	var list []sessionView
	b.json(200, "GET", "/v1/sessions", "", &list)
	require.Equal(t, []sessionView{v}, list)

	var sent sentMessage
	b.json(201, "POST", at+"/messages", `{"content":"What pages exist?"}`, &sent)
	require.NotEmpty(t, sent.RunID)
	b.ended(v.ID, 1)
	var messages []messageView
	b.json(200, "GET", at+"/messages", "", &messages)
	require.Len(t, messages, 2)
	require.Equal(t, []string{"1", "What pages exist?", "There is one page."},
		[]string{messages[0].ID, messages[0].Text, messages[1].Text})

	b.json(200, "PATCH", at, `{"title":"All pages","mode":"cms-crud"}`, &v)
	require.Equal(t, []string{"completed", "All pages", "cms-crud"}, []string{v.Status, v.Title, v.Mode})
	require.False(t, v.Resumable)
	b.json(201, "POST", at+"/messages", `{"content":"Delete home"}`, nil)
	b.ended(v.ID, 2)
	b.json(200, "GET", at, "", &v)
	require.Equal(t, "paused", v.Status)
	require.True(t, v.Resumable)
	require.Equal(t, cmstools.DeletePage, v.Approvals[0].Call.Name)

	var removed removedMessage
	b.json(200, "DELETE", at+"/messages/2", "", &removed)
	require.Equal(t, v.ID, removed.SessionID, "a message of an earlier turn is hidden")
	b.json(200, "GET", at+"/messages", "", &messages)
	require.Equal(t, "3", messages[1].ID)
	b.json(200, "DELETE", at+"/messages/3", "", &removed)
	require.NotEqual(t, v.ID, removed.SessionID, "the last turn is left out of a copy")
	b.json(200, "GET", "/v1/sessions/"+removed.SessionID+"/messages", "", &messages)
	require.Len(t, messages, 2)
	b.json(200, "GET", "/v1/sessions", "", &list)
	require.Len(t, list, 2)

	b.json(200, "DELETE", at, "", nil)
	b.refused(404, "NOT_FOUND", "GET", at, "", "no such session")
}

func TestBadRequestsForSessions(t *testing.T) {
	b := newBench(t)
	b.refused(404, "NOT_FOUND", "GET", "/v1/sessions/none", "")
	b.refused(404, "NOT_FOUND", "POST", "/v1/sessions/none/messages", `{"content":"x"}`)
	b.refused(400, "VALIDATION_ERROR", "POST", "/v1/sessions", `{"mode":"fast"}`, "cms-crud, architect, debug, ask")
	var v sessionView
	b.json(201, "POST", "/v1/sessions", "", &v)
	at := "/v1/sessions/" + v.ID
	b.refused(400, "VALIDATION_ERROR", "POST", at+"/messages", `{"content":" "}`, "give content")
	b.refused(400, "VALIDATION_ERROR", "PATCH", at, `{}`, "give title or mode")
	b.refused(404, "NOT_FOUND", "DELETE", at+"/messages/1", "", "no message 1")
}
