package serve_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/serve"
	"github.com/pawlkit/pawl/provider/providertest"
)

func approve(session, id string) obj {
	return obj{"session": session, "decisions": []obj{{"id": id, "decision": "approve"}}}
}

func TestADecisionThatWasNotAskedForHasNoEffect(t *testing.T) {
	s := newSite(t, serve.Config{}, providertest.Call("delete", Page{"a"}), providertest.Call("delete", Page{"b"}))
	s.send("ann", "s-1", "x")
	s.send("bob", "s-2", "x")
	anns, bobs := s.pending("ann", "s-1")[0], s.pending("bob", "s-2")[0]
	for name, c := range map[string]struct {
		body any
		code string
	}{
		"forged":             {approve("s-1", "p-"+strings.Repeat("0", 24)), serve.CodeUnknown},
		"of another session": {approve("s-2", anns), serve.CodeUnknown},
		"empty":              {approve("s-2", ""), serve.CodeBad},
		"with an input": {obj{"session": "s-2",
			"decisions": []obj{{"id": bobs, "decision": "approve", "input": Page{"z"}}}}, serve.CodeBad},
		"of an unknown kind": {obj{"session": "s-2", "decisions": []obj{{"id": bobs, "decision": "expired"}}},
			serve.CodeBad},
		"superseding": {obj{"session": "s-2", "decisions": []obj{{"id": bobs, "decision": "superseded"}}},
			serve.CodeBad},
		"an answer": {obj{"session": "s-2",
			"decisions": []obj{{"id": bobs, "decision": "answer", "value": 1}}}, serve.CodeBad},
		"an edit that is bad": {obj{"session": "s-2",
			"decisions": []obj{{"id": bobs, "decision": "edit", "input": obj{"page": 1}}}}, serve.CodeBad},
		"twice": {obj{"session": "s-2", "decisions": []obj{{"id": bobs, "decision": "approve"},
			{"id": bobs, "decision": "reject"}}}, serve.CodeBad},
		"with a name": {obj{"session": "s-2",
			"decisions": []obj{{"id": bobs, "decision": "approve", "who": "root"}}}, serve.CodeMalformed},
		"with a key twice": {`{"session":"s-2","decisions":[{"id":"` + bobs +
			`","decision":"reject","decision":"approve"}]}`, serve.CodeMalformed},
		"with something after": {`{"session":"s-2","decisions":[{"id":"` + bobs + `","decision":"approve"}]}{}`,
			serve.CodeMalformed},
		"none": {obj{"session": "s-2"}, serve.CodeMalformed},
	} {
		require.Equal(t, c.code, s.refused("bob", "POST", "sessions/decide", c.body).Code, name)
	}
	require.Empty(t, s.did())
	require.Len(t, s.pending("bob", "s-2"), 1)
}

func TestOfManyDecisionsAtOnceOneCounts(t *testing.T) {
	s := newSite(t, serve.Config{}, providertest.Call("delete", Page{"a"}), providertest.Say("Done."))
	s.send("ann", "s-1", "x")
	id := s.pending("ann", "s-1")[0]
	var wg sync.WaitGroup
	var mu sync.Mutex
	codes := map[int]int{}
	for i := range 40 {
		wg.Go(func() {
			var status int
			if i%2 == 0 {
				status, _ = s.call("ann", "POST", "sessions/decide", approve("s-1", id))
			} else {
				status, _ = s.call("ann", "POST", "chat",
					obj{"id": "s-1", "messages": []obj{{"id": "m", "role": "assistant", "parts": []obj{
						{"type": "tool-delete", "toolCallId": "x", "state": "approval-responded",
							"approval": obj{"id": id, "approved": true}}}}}})
			}
			mu.Lock()
			defer mu.Unlock()
			codes[status]++
		})
	}
	wg.Wait()
	s.wait("s-1")
	require.Equal(t, []string{"a"}, s.did(), "%v", codes)
	require.Zero(t, codes[500])
}

func TestPagesOfOtherSitesChangeNothing(t *testing.T) {
	s := newSite(t, serve.Config{}, providertest.Call("delete", Page{"a"}))
	s.send("ann", "s-1", "x")
	for _, route := range routes("s-1", s.pending("ann", "s-1")[0]) {
		method := route[0].(string)
		if method == "GET" {
			continue
		}
		require.Equal(t, serve.CodeCrossSite,
			s.refused("ann", method, route[1].(string), route[2], "Origin", "https://evil.example").Code)
		require.Equal(t, serve.CodeCrossSite,
			s.refused("ann", method, route[1].(string), route[2], "Sec-Fetch-Site", "cross-site").Code)
		require.Equal(t, serve.CodeCrossSite,
			s.refused("ann", method, route[1].(string), route[2], "Origin", "null").Code)
	}
	require.Equal(t, serve.CodeCrossSite, s.refused("ann", "POST", "chat", obj{}, "Sec-Fetch-Site", "same-site").Code)
	for _, kind := range []string{"text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""} {
		// what a form can send
		require.Equal(t, serve.CodeMediaType,
			s.refused("ann", "POST", "sessions/decide", approve("s-1", "p"), "Content-Type", kind).Code)
	}
	res := s.request("ann", "GET", "sessions", nil, "Origin", "https://evil.example")
	res.Body.Close()
	require.Empty(t, res.Header.Get("Access-Control-Allow-Origin"))
	require.Empty(t, s.did())
}

func TestPagesOfAllowedSitesMayMakeRequests(t *testing.T) {
	s := newSite(t, serve.Config{Origins: []string{"https://app.example"}}, providertest.Say("ok"))
	res := s.request("", "OPTIONS", "sessions/send", nil, "Origin", "https://app.example",
		"Access-Control-Request-Method", "POST")
	res.Body.Close()
	require.Equal(t, 204, res.StatusCode)
	require.Equal(t, "https://app.example", res.Header.Get("Access-Control-Allow-Origin"))
	require.Contains(t, res.Header.Get("Access-Control-Allow-Methods"), "POST")
	status, _ := s.call("ann", "POST", "sessions/send", obj{"session": "s-1", "text": "x"}, "Origin",
		"https://app.example", "Sec-Fetch-Site", "cross-site")
	require.Equal(t, 202, status)
	res = s.request("", "OPTIONS", "sessions/send", nil, "Origin", "https://evil.example")
	res.Body.Close()
	require.Empty(t, res.Header.Get("Access-Control-Allow-Methods"))
	s.wait("s-1")
}

// endless is a body of a gigabyte.
type endless struct{ read atomic.Int64 }

func (e *endless) Read(p []byte) (int, error) {
	if e.read.Load() >= 1<<30 {
		return 0, io.EOF
	}
	for i := range p {
		p[i] = ' '
	}
	e.read.Add(int64(len(p)))
	return len(p), nil
}

// A patient is a ResponseWriter whose request has a body that never comes.
type patient struct {
	*httptest.ResponseRecorder
	limit time.Duration
}

func (p *patient) SetReadDeadline(at time.Time) error {
	p.limit = time.Until(at)
	return nil
}

func (p *patient) Read([]byte) (int, error) {
	if p.limit <= 0 {
		return 0, errors.New("it would have been read for ever")
	}
	return 0, os.ErrDeadlineExceeded
}

func TestABodyThatDoesNotComeIsAnswered(t *testing.T) {
	s := newSite(t, serve.Config{})
	for _, path := range []string{"chat", "agui", "sessions/send", "sessions/decide", "sessions/stop"} {
		w := &patient{ResponseRecorder: httptest.NewRecorder()}
		r := httptest.NewRequest("POST", "/agent/"+path, w)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("User", "ann")
		s.http.Config.Handler.ServeHTTP(w, r)
		require.Equal(t, http.StatusRequestTimeout, w.Code, path)
		require.Contains(t, w.Body.String()+w.Header().Get("Pawl-Code"), serve.CodeSlow)
		require.InDelta(t, 30*time.Second, w.limit, float64(time.Second))
	}
}

// A limited is a ResponseWriter that keeps the newest read deadline, and whose client leaves after
// the first event.
type limited struct {
	*httptest.ResponseRecorder
	leave func()
	set   int
	last  time.Time
}

func (l *limited) Write(p []byte) (int, error) {
	l.leave()
	return l.ResponseRecorder.Write(p)
}

func (l *limited) SetReadDeadline(at time.Time) error {
	l.set, l.last = l.set+1, at
	return nil
}

// TestTheTimeOfABodyDoesNotLimitAStream, also if the request needs no body and has one.
func TestTheTimeOfABodyDoesNotLimitAStream(t *testing.T) {
	s := newSite(t, serve.Config{}, providertest.Say("Done."))
	s.send("ann", "s-1", "x")
	for _, path := range []string{"events?session=s-1", "view?session=s-1"} {
		ctx, leave := context.WithCancel(t.Context())
		w := &limited{ResponseRecorder: httptest.NewRecorder(), leave: leave}
		r := httptest.NewRequestWithContext(ctx, "GET", "/agent/"+path, strings.NewReader("{}"))
		r.Header.Set("User", "ann")
		s.http.Config.Handler.ServeHTTP(w, r)
		require.Equal(t, http.StatusOK, w.Code, path)
		require.Positive(t, w.set, path)
		require.Zero(t, w.last, path)
	}
}

func TestARequestHasABoundedNumberOfDecisions(t *testing.T) {
	s := newSite(t, serve.Config{}, providertest.Call("delete", Page{"home"}))
	s.send("ann", "s-1", "x")
	s.wait("s-1")
	list := make([]obj, 1001)
	for i := range list {
		list[i] = obj{"id": fmt.Sprint(i), "decision": "approved"}
	}
	for path, body := range map[string]obj{
		"sessions/decide": {"session": "s-1", "decisions": list},
		"chat": {"id": "s-1", "decisions": list, "messages": []obj{{"id": "m", "role": "assistant",
			"parts": []obj{{"type": "text", "text": "x"}}}}},
	} {
		refused := s.refused("ann", "POST", path, body)
		require.Equal(t, http.StatusRequestEntityTooLarge, refused.Status, path)
		require.Equal(t, serve.CodeTooLarge, refused.Code)
		require.Contains(t, refused.Detail, "1001 decisions; a request may have 1000")
	}
}

func TestABodyIsBounded(t *testing.T) {
	s := newSite(t, serve.Config{})
	body := &endless{}
	req, err := http.NewRequestWithContext(t.Context(), "POST", s.http.URL+"/agent/sessions/send", body)
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User", "ann")
	if res, err := http.DefaultClient.Do(req); err == nil { // or the server has closed the connection
		res.Body.Close()
		require.Equal(t, http.StatusRequestEntityTooLarge, res.StatusCode)
	}
	require.Less(t, body.read.Load(), int64(64<<20), "most of it wasn't read")
	deep := strings.Repeat("[", 100_000)
	for _, path := range []string{"chat", "sessions/send", "sessions/decide"} {
		require.Equal(t, 400, s.refused("ann", "POST", path, `{"id":"c","session":"s","messages":`+deep).Status)
		require.Equal(t, 400, s.refused("ann", "POST", path,
			`{"id":"c","session":"s","messages":`+deep+strings.Repeat("]", 100_000)+"}").Status)
		require.Equal(t, 400, s.refused("ann", "POST", path, "").Status)
		require.Equal(t, 400, s.refused("ann", "POST", path, "\xff").Status)
		require.Equal(t, 400, s.refused("ann", "POST", path, "null").Status)
	}
	parts := strings.Repeat(`{"type":"text","text":"x"},`, 10_000) + `{"type":"text","text":"x"}`
	require.Equal(t, 400,
		s.refused("ann", "POST", "chat", `{"id":"c","messages":[{"role":"user","parts":[`+parts+`]}]}`).Status)
	require.Equal(t, 413,
		s.refused("ann", "POST", "sessions/send", obj{"session": "s", "text": strings.Repeat("x", 65<<10)}).Status)
	require.Equal(t, serve.CodeMediaType, s.refused("ann", "POST", "chat", "x", "Content-Encoding", "gzip").Code)
}

func TestNamesCannotInjectHeadersOrPaths(t *testing.T) {
	s := newSite(t, serve.Config{})
	for _, name := range []string{"a\r\nSet-Cookie: x=1", "a\x00b", strings.Repeat("x", 600)} {
		require.Equal(t, 404, s.refused("ann", "POST", "sessions/send", obj{"session": name, "text": "x"}).Status, name)
	}
	for _, path := range []string{"chat/%0d%0aSet-Cookie:x/stream", "chat/../sessions/stream", "chat/%2e%2e%2f/stream",
		"chat/a%2Fb/stream"} {
		res := s.request("ann", "GET", path, nil)
		res.Body.Close()
		require.Empty(t, res.Cookies())
		require.Contains(t, []int{204, 404}, res.StatusCode, path)
	}
	for _, path := range []string{"chat//stream", "nothing", "sessions/", "chat/x/other"} {
		require.Equal(t, 404, s.refused("ann", "POST", path, obj{}).Status, path)
	}
	require.Equal(t, 405, s.refused("ann", "PUT", "sessions", obj{}).Status)
	require.Equal(t, 400, s.refused("ann", "GET", "sessions?limit=1&limit=2", nil).Status)
}

func TestASessionWithAnyNameIsReached(t *testing.T) {
	names := []string{"a/b", "a b", "a?b#c", "ä%2F", "..", "chat/stop"}
	var steps []providertest.Step
	for range names {
		steps = append(steps, providertest.Say("ok"))
	}
	s := newSite(t, serve.Config{}, steps...)
	for _, name := range names {
		b := s.browser("ann", name)
		b.say("u-"+name, "x")
		path := strings.NewReplacer("%", "%25", "/", "%2F", " ", "%20", "?", "%3F", "#", "%23").Replace(name)
		status, text := s.call("ann", "GET", fmt.Sprintf("chat/%s/messages", path), nil)
		if name == ".." { // clients clean such a path
			continue
		}
		require.Equal(t, 200, status, "%s %s", name, text)
		require.Contains(t, text, `"ok"`)
	}
}
