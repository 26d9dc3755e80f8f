package assistant

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/examples/cms/internal/cmstools"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/stream/sse"
)

func TestAStreamShowsARunFromItsMessageToItsEnd(t *testing.T) {
	f := serveSite(t, nil, nil)
	events := f.read(f.ask("s-1", "Create an About page with a hero titled Hello"), "")
	require.True(t, f.exists("about"))
	require.Equal(t, "user-message", events[0].kind())
	require.Equal(t, "finish", events[len(events)-1].kind())
	require.Equal(t, "completed", events[len(events)-1].data["status"])
	prompts := of(events, "system-prompt")
	require.Len(t, prompts, 1)
	require.Equal(t, "instructions of cms-crud", prompts[0].data["text"])
	require.NotEmpty(t, of(events, "text-end"))
	require.NotEmpty(t, of(events, "step-complete"))
	calls, results := of(events, "tool-input-available"), of(events, "tool-result")
	require.Equal(t, len(calls), len(results))
	for _, r := range results {
		require.Equal(t, true, r.data["success"])
	}
	trace := events[0].data["traceId"]
	for _, e := range events {
		require.Equal(t, trace, e.data["traceId"], e.kind())
	}
}

func TestAClientThatWasDisconnectedMissesNoFact(t *testing.T) {
	f := serveSite(t, nil, nil)
	all := f.read(f.ask("s-1", "What pages exist?"), "")
	facts := ids(all)
	middle := len(facts) / 2
	res := f.request(http.MethodGet, "/v1/agent/stream?sessionId=s-1", "", "Last-Event-ID", facts[middle])
	require.Equal(t, facts[middle+1:], ids(f.read(sse.NewReader(res.Body, 0), "finish")))
}

// ids returns the ids of events, each once: a reader keeps the last one.
func ids(events []shown) (out []string) {
	for _, e := range events {
		if e.id != "" && (len(out) == 0 || out[len(out)-1] != e.id) {
			out = append(out, e.id)
		}
	}
	return out
}

func TestAStreamStaysOpenWhileItWaitsForADecision(t *testing.T) {
	for _, c := range []struct {
		decision string
		gone     bool
	}{{"approve", true}, {"reject", false}, {"alternative", false}} {
		t.Run(c.decision, func(t *testing.T) {
			f := serveSite(t, nil, nil)
			f.read(f.ask("s-1", "Create an About page"), "")
			r := f.ask("s-1", "Delete the About page")
			asked := of(f.read(r, "paused"), "approval_required")
			require.Len(t, asked, 1)
			require.Equal(t, "cms.deletePage", asked[0].data["toolName"])
			status, _ := f.post("/v1/agent/approve",
				`{"sessionId":"s-1","approvalId":"`+asked[0].data["approvalId"].(string)+`","decision":"`+
					c.decision+`","message":"unpublish it instead"}`)
			require.Equal(t, http.StatusOK, status)
			events := f.read(r, "")
			require.Equal(t, c.gone, !f.exists("about"))
			require.Len(t, of(events, "approval_decided"), 1)
			require.Len(t, of(events, "finish"), 1)
			require.NotEmpty(t, of(events, "text-delta"), "it has watched all the time")
			status, answer := f.post("/v1/agent/approve",
				`{"sessionId":"s-1","approvalId":"`+asked[0].data["approvalId"].(string)+`","decision":"approve"}`)
			require.Equal(t, http.StatusConflict, status)
			require.Equal(t, "CONFLICT", answer["error"].(map[string]any)["code"])
		})
	}
}

func TestNoDecisionInTimeCountsAsARejection(t *testing.T) {
	f := serveSite(t, nil, func(c *agent.Config) { c.PauseExpires = 100 * time.Millisecond })
	f.read(f.ask("s-1", "Create an About page"), "")
	r := f.ask("s-1", "Delete the About page")
	asked := of(f.read(r, "paused"), "approval_required")
	events := f.read(r, "")
	require.Len(t, of(events, "finish"), 1)
	require.True(t, f.exists("about"))
	status, _ := f.post("/v1/agent/approve",
		`{"sessionId":"s-1","approvalId":"`+asked[0].data["approvalId"].(string)+`","decision":"approve"}`)
	require.Equal(t, http.StatusGone, status)
}

func TestRequestsThatCannotBeServedSayWhatWouldBeRight(t *testing.T) {
	f := serveSite(t, nil, nil)
	f.read(f.ask("done", "What pages exist?"), "")
	for _, c := range []struct {
		path, body string
		status     int
		says       string
	}{
		{"stream", `{`, 400, "isn't the JSON"},
		{"stream", `{"prompt":"x"}`, 400, "sessionId"},
		{"stream", `{"sessionId":7,"prompt":"x"}`, 400, "sessionId is a number; it should be a string"},
		{"stream", `{"sessionId":"s","prompt":" "}`, 400, "no message"},
		{"stream", `{"sessionId":"s","prompt":"x","mode":"god"}`, 400, "god"},
		{"stream", `{"sessionId":"s","prompt":"x","system":"y"}`, 400, "system"},
		{"stream", `{"sessionId":"s","prompt":"x","toolsEnabled":["rm"]}`, 400, "rm"},
		{"approve", `{"decision":"approve"}`, 400, "sessionId"},
		{"approve", `{"sessionId":"done","decision":"approve"}`, 400, "approvalId is missing"},
		{"approve", `{"sessionId":"done","approvalId":"x","decision":"approve"}`, 404, "no such pause"},
		{"approve", `{"sessionId":"done","approvalId":"x","decision":"perhaps"}`, 400,
			"approve, reject, alternative or answer"},
		{"resume", `{"sessionId":"none"}`, 404, "session"},
		{"resume", `{"sessionId":"done"}`, 409, "in progress"},
		{"cancel", `{"sessionId":"none"}`, 404, "session"},
		{"message", `{"sessionId":"done","message":"x"}`, 409, "in progress"},
		{"message", `{"sessionId":"done"}`, 400, "empty"},
	} {
		status, answer := f.post("/v1/agent/"+c.path, c.body)
		require.Equal(t, c.status, status, "%s %s: %v", c.path, c.body, answer)
		require.EqualValues(t, c.status, answer["statusCode"])
		require.Contains(t, answer["error"].(map[string]any)["message"], c.says)
	}
	res := f.request(http.MethodPost, "/v1/agent/stream", `{"sessionId":"s","prompt":"x"}`, "Origin",
		"https://evil.example")
	require.Equal(t, http.StatusForbidden, res.StatusCode)
	res = f.request(http.MethodGet, "/v1/agent/stream?sessionId=done&after=x", "")
	require.Equal(t, http.StatusBadRequest, res.StatusCode)
	res = f.request(http.MethodGet, "/v1/agent/stream?sessionId=done&after=99999", "")
	require.Equal(t, http.StatusNotFound, res.StatusCode)
}

func TestTheLogHasWhatMattersAndNoNoise(t *testing.T) {
	f := serveSite(t, nil, nil)
	f.read(f.ask("s-1", "Create an About page with a hero titled Hello"), "")
	res := f.request(http.MethodGet, "/assistant/log?session=s-1", "")
	titled := 0
	for _, e := range f.read(sse.NewReader(res.Body, 0), "finish") {
		require.NotRegexp(t, `-delta$|-start$|^metadata$|^step-complete$|^progress-update$`, e.kind())
		if e.data["title"] == "Create page “About”" {
			titled++
		}
	}
	require.Equal(t, 2, titled, "the call and its result")
}

func TestAFailureCountsAfterAReconnectAsBefore(t *testing.T) {
	create := providertest.Call("cms.createPage", map[string]any{"name": "Home", "slug": "home"})
	f := serveSite(t, providertest.Script(create, create, create, providertest.Say("I couldn't.")), nil)
	all := f.read(f.ask("s-1", "Create a home page"), "")
	second := of(all, "validation_failed")[1]
	res := f.request(http.MethodGet, "/v1/agent/stream?sessionId=s-1&after="+second.id, "")
	rest := f.read(sse.NewReader(res.Body, 0), "finish")
	require.EqualValues(t, 3, of(rest, "validation_failed")[0].data["retryAttempt"])
	require.Len(t, of(rest, "error-escalation"), 1)
}

func TestTheSiteIsShownAsItWouldBeAfterACallThatWaits(t *testing.T) {
	f := serveSite(t, nil, nil)
	f.read(f.ask("s-1", "Create an About page"), "")
	asked := of(f.read(f.ask("s-1", "Delete the About page"), "paused"), "approval_required")
	after := After(f.hub, cmstools.Config{Site: f.site})
	copied, err := f.site.Copy(t.Context())
	require.NoError(t, err)
	require.NoError(t, after(t.Context(), copied, "s-1", asked[0].data["approvalId"].(string)))
	_, err = copied.GetPage(t.Context(), "about", "")
	require.Error(t, err)
	require.Error(t, after(t.Context(), copied, "s-1", "none"))
	require.NoError(t, copied.Close())
	require.True(t, f.exists("about"))

	f.read(f.ask("s-2", "Create a contact page with a form"), "paused")
	pending, err := f.hub.Agent().Session("s-2").Pending(t.Context())
	require.NoError(t, err)
	copied, err = f.site.Copy(t.Context())
	require.NoError(t, err)
	require.NoError(t, after(t.Context(), copied, "s-2", pending[0].Flat()[0].ID), "of the recommended plan")
	_, err = copied.GetPage(t.Context(), "contact", "")
	require.NoError(t, err)
	require.NoError(t, copied.Close())
	require.False(t, f.exists("contact"))
}

func TestTheAliasTakesMessagesOfAnAISDKClient(t *testing.T) {
	f := serveSite(t, nil, nil)
	res := f.request(http.MethodPost, "/api/agent",
		`{"sessionId":"s-1","messages":[{"role":"user","parts":[{"type":"text","text":"What pages exist?"}]}],"mode":"ask"}`)
	require.Equal(t, http.StatusOK, res.StatusCode)
	events := f.read(sse.NewReader(res.Body, 0), "")
	require.Equal(t, "ask", events[0].data["mode"])
	require.Equal(t, "What pages exist?", events[0].data["text"])
}

func TestATraceHasTheEventsOfOneMessage(t *testing.T) {
	f := serveSite(t, nil, nil)
	first := f.read(f.ask("s-1", "What pages exist?"), "")
	f.read(f.ask("s-1", "Show the home page"), "")
	trace := first[0].data["traceId"].(string)
	for _, query := range []string{"traceId=" + trace, "sessionId=s-1&traceId=" + trace} {
		res := f.request(http.MethodGet, "/v1/agent/traces?"+query, "")
		require.Equal(t, http.StatusOK, res.StatusCode)
	}
	res := f.request(http.MethodGet, "/v1/agent/traces?traceId=none", "")
	require.Equal(t, http.StatusNotFound, res.StatusCode)
}
