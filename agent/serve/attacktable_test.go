package serve_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/serve"
	"github.com/pawlkit/pawl/provider/providertest"
)

// An attack is a request that must decide nothing.
type attack struct {
	body   string
	status int
	code   string
	header [2]string
	path   string // empty: sessions/decide
	method string // empty: POST
	user   string // empty: tom, whose session it is
}

// decision returns the body of a decision, with more members of the decision.
func decision(session, id, kind string, more ...any) string {
	d := obj{"id": id, "decision": kind}
	for i := 0; i < len(more); i += 2 {
		d[more[i].(string)] = more[i+1]
	}
	raw, err := json.Marshal(obj{"session": session, "decisions": []obj{d}})
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// attacks are requests against the pause of a session of tom's, with a pause of ann's at hand.
func attacks(session, id, foreign string) map[string]attack {
	raw := func(members string) string { return fmt.Sprintf(`{"session":%q,"decisions":[{%s}]}`, session, members) }
	ok := decision(session, id, "approve")
	return map[string]attack{
		"a forged id": {body: decision(session, "p-0123456789abcdefghijklmn", "approve"), status: 404,
			code: serve.CodeUnknown},
		"an id with its case": {body: decision(session, strings.ToUpper(id), "approve"), status: 404,
			code: serve.CodeUnknown},
		"an id and a space": {body: decision(session, id+" ", "approve"), status: 404, code: serve.CodeUnknown},
		"the call's id": {body: decision(session, "r-1.1.0", "approve"), status: 404,
			code: serve.CodeUnknown},
		"no id":                {body: decision(session, "", "approve"), status: 422, code: serve.CodeBad},
		"another session's id": {body: decision(session, foreign, "approve"), status: 404, code: serve.CodeUnknown},
		"an unknown session":   {body: decision("tom/404", id, "approve"), status: 404, code: serve.CodeUnknown},
		"a path up":            {body: decision("tom/2/../1", id, "approve"), status: 404, code: serve.CodeUnknown},
		"a session of control": {body: decision("tom/1\x00", id, "approve"), status: 404, code: serve.CodeUnknown},
		"a session that is long": {body: decision(strings.Repeat("s", 600), id, "approve"), status: 404,
			code: serve.CodeUnknown},
		"somebody else's":  {body: decision("ann/1", foreign, "approve"), status: 404, code: serve.CodeUnknown},
		"by somebody else": {body: ok, user: "eve", status: 404, code: serve.CodeUnknown},
		"who one says one is": {body: decision(session, id, "approve", "who", "root"), status: 400,
			code: serve.CodeMalformed},
		"another call": {body: decision(session, id, "approve", "call", Page{"all"}), status: 400,
			code: serve.CodeMalformed},
		"an input with approval": {body: decision(session, id, "approve", "input", Page{"all"}), status: 422,
			code: serve.CodeBad},
		"a value with approval": {body: decision(session, id, "approve", "value", 1), status: 422,
			code: serve.CodeBad},
		"always, at high risk": {body: decision(session, id, "always"), status: 422, code: serve.CodeBad},
		"an answer for a tool": {body: decision(session, id, "answer", "value", "done"), status: 422,
			code: serve.CodeBad},
		"an answer of nothing": {body: decision(session, id, "answer"), status: 422, code: serve.CodeBad},
		"an edit of nothing":   {body: decision(session, id, "edit"), status: 422, code: serve.CodeBad},
		"an edit to null": {body: decision(session, id, "edit", "input", nil), status: 422,
			code: serve.CodeBad},
		"an edit with more": {body: decision(session, id, "edit", "input", obj{"page": "a", "force": true}),
			status: 422, code: serve.CodeBad},
		"an edit by another case": {body: decision(session, id, "edit", "input", obj{"PAGE": "a"}), status: 422,
			code: serve.CodeBad},
		"a suggestion of nothing": {body: decision(session, id, "suggest"), status: 422, code: serve.CodeBad},
		"no decision":             {body: decision(session, id, "whatever"), status: 422, code: serve.CodeBad},
		"expired by hand":         {body: decision(session, id, "expired"), status: 422, code: serve.CodeBad},
		"superseded by hand":      {body: decision(session, id, "superseded"), status: 422, code: serve.CodeBad},
		"a key twice": {body: raw(fmt.Sprintf(`"id":%q,"decision":"reject","decision":"approve"`, id)),
			status: 400, code: serve.CodeMalformed},
		"a key twice, escaped": {body: raw(fmt.Sprintf(`"id":%q,"decision":"reject","\u0064ecision":"approve"`, id)),
			status: 400, code: serve.CodeMalformed},
		"a key twice, deep": {body: raw(fmt.Sprintf(`"id":%q,"decision":"edit","input":{"page":"a","page":"b"}`, id)),
			status: 400, code: serve.CodeMalformed},
		"a key in capitals": {body: raw(fmt.Sprintf(`"id":%q,"Decision":"approve"`, id)), status: 400,
			code: serve.CodeMalformed},
		"a key in both": {body: raw(fmt.Sprintf(`"id":%q,"decision":"reject","Decision":"approve"`, id)),
			status: 400, code: serve.CodeMalformed},
		"two bodies": {body: decision(session, "p-0", "reject") + ok, status: 400, code: serve.CodeMalformed},
		"a list":     {body: "[" + ok + "]", status: 400, code: serve.CodeMalformed},
		"a list of ids": {body: raw(fmt.Sprintf(`"id":[%q],"decision":"approve"`, id)), status: 400,
			code: serve.CodeMalformed},
		"half a body": {body: strings.TrimSuffix(ok, "}"), status: 400, code: serve.CodeMalformed},
		"no UTF-8": {body: raw(fmt.Sprintf("\"id\":%q,\"decision\":\"approve\",\"reason\":\"\xff\"", id)),
			status: 400, code: serve.CodeMalformed},
		"a deep body": {body: raw(fmt.Sprintf(`"id":%q,"decision":"edit","input":%s`, id,
			strings.Repeat(`{"a":`, 200)+"1"+strings.Repeat("}", 200))), status: 400, code: serve.CodeMalformed},
		"a body too deep": {body: strings.Repeat("[", 60000), status: 400, code: serve.CodeMalformed},
		"a huge body": {body: decision(session, id, "approve", "reason", strings.Repeat("x", 4<<20)),
			status: 413, code: serve.CodeTooLarge},
		"a form": {body: ok, header: [2]string{"Content-Type", "application/x-www-form-urlencoded"},
			status: 415, code: serve.CodeMediaType},
		"plain text": {body: ok, header: [2]string{"Content-Type", "text/plain"}, status: 415,
			code: serve.CodeMediaType},
		"another charset": {body: ok, header: [2]string{"Content-Type", "application/json; charset=utf-7"},
			status: 415, code: serve.CodeMediaType},
		"compressed": {body: ok, header: [2]string{"Content-Encoding", "gzip"}, status: 415,
			code: serve.CodeMediaType},
		"a cross-site post": {body: ok, header: [2]string{"Sec-Fetch-Site", "cross-site"}, status: 403,
			code: serve.CodeCrossSite},
		"a sibling's post": {body: ok, header: [2]string{"Sec-Fetch-Site", "same-site"}, status: 403,
			code: serve.CodeCrossSite},
		"another origin": {body: ok, header: [2]string{"Origin", "https://evil.example"}, status: 403,
			code: serve.CodeCrossSite},
		"the origin null": {body: ok, header: [2]string{"Origin", "null"}, status: 403, code: serve.CodeCrossSite},
		"a put":           {body: ok, method: "PUT", status: 405, code: serve.CodeMethod},
		"a get that decides": {method: "GET", path: "sessions/decide?session=tom%2F1&decision=approve&id=" + id,
			status: 405, code: serve.CodeMethod},
		"a path escaped": {body: ok, path: "sessions/%64ecide", status: 404, code: serve.CodeUnknown},
		"two slashes":    {body: ok, path: "sessions//decide", status: 404, code: serve.CodeUnknown},
	}
}

func TestTheTableOfAttacks(t *testing.T) {
	s := newSite(t, serve.Config{}, providertest.Call("delete", Page{"home"}),
		providertest.Call("delete", Page{"blog"}), providertest.Say("Done."))
	s.send("tom", "tom/1", "x")
	s.send("ann", "ann/1", "x")
	id, foreign := s.pending("tom", "tom%2F1")[0], s.pending("ann", "ann%2F1")[0]
	for name, a := range attacks("tom/1", id, foreign) {
		method, path, user := "POST", "sessions/decide", "tom"
		if a.method != "" {
			method = a.method
		}
		if a.path != "" {
			path = a.path
		}
		if a.user != "" {
			user = a.user
		}
		var header []string
		if a.header[0] != "" {
			header = a.header[:]
		}
		var body any
		if a.body != "" {
			body = a.body
		}
		res := s.request(user, method, path, body, header...)
		raw, err := io.ReadAll(res.Body)
		res.Body.Close()
		require.NoError(t, err, name)
		var p problem
		require.NoError(t, json.Unmarshal(raw, &p), "%s: %d %s", name, res.StatusCode, raw)
		require.Equal(t, a.code, p.Code, "%s: %s", name, p.Detail)
		require.Equal(t, a.status, res.StatusCode, name)
		require.NotContains(t, p.Detail, foreign, name)
		require.Empty(t, s.did(), name)
		require.Equal(t, []string{id}, s.pending("tom", "tom%2F1"), "%s: it still waits", name)
	}

	status, text := s.call("tom", "POST", "sessions/decide", decision("tom/1", id, "approve"), "Sec-Fetch-Site",
		"same-origin")
	require.Equal(t, http.StatusAccepted, status, text)
	s.wait("tom/1")
	require.Equal(t, []string{"home"}, s.did(), "the right one is taken all the same")
}
