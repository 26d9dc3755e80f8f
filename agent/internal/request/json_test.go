package request_test

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/request"
)

type form struct {
	Session string          `json:"session"`
	ID      string          `json:"id"`
	Value   json.RawMessage `json:"value"`
	List    []request.Decision
}

// FuzzWhatIsDecodedHasOneMeaning: what Decode lets pass is JSON whose keys are the given ones to
// the letter, and says the same when it is written and read again.
func FuzzWhatIsDecodedHasOneMeaning(f *testing.F) {
	for _, s := range []string{`{}`, `{"session":"s","id":"p-1"}`, `{"value":{"a":[1,{"B":null}]}}`, `{"id":1,"id":2}`,
		`{"\u0069d":1}`, `{"ID":1}`, `[]`, `{} {}`, `{"id":1e999}`, `{"id":"\ud800"}`, `{"value":{"":0,"":1}}`,
		"{\"id\":\"\xff\"}", ` {"id" : [ ] } `} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var in form
		if request.Decode(raw, &in) != nil {
			return
		}
		require.True(t, json.Valid(raw))
		var keys map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(raw, &keys))
		for k := range keys {
			require.Contains(t, []string{"session", "id", "value"}, k)
		}
		var v, again any
		if json.Unmarshal(raw, &v) != nil { // a number that Go can't hold
			return
		}
		written, err := json.Marshal(v)
		require.NoError(t, err)
		require.NoError(t, request.Decode(written, &form{}))
		require.NoError(t, json.Unmarshal(written, &again))
		require.Equal(t, v, again)
	})
}

func TestDecodeSaysWhatIsWrong(t *testing.T) {
	for want, raw := range map[string]string{
		"it isn't valid UTF-8":                "{\"id\":\"\xff\"}",
		"it has to be a JSON object":          `[1]`,
		`the key "id" is there twice`:         `{"id":"a","id":"b"}`,
		`"ID" is no key of it`:                `{"id":"a","ID":"b"}`,
		`"ıd" is no key of it`:                `{"ıd":"a"}`,
		`"other" is no key of it`:             `{"other":1}`,
		`"id" can't be a number`:              `{"id":1}`,
		"something follows the JSON object":   `{} {}`,
		"it isn't complete, or no JSON":       `{"id":"a"`,
		"it is nested deeper than 128 levels": `{"value":` + strings.Repeat("[", 128) + strings.Repeat("]", 128) + `}`,
	} {
		require.EqualError(t, request.Decode([]byte(raw), &form{}), want)
	}
	require.NoError(t, request.Decode([]byte(`{"value":{"A":1,"a":{"B":2}}}`), &form{}))
}

func TestABodyHasToBeDeclaredAsJSON(t *testing.T) {
	for kind, ok := range map[string]bool{
		"application/json": true, "application/json; charset=UTF-8": true, "application/json; charset=latin1": false,
		"text/plain": false, "": false,
		"application/x-www-form-urlencoded": false,
	} {
		r := httptest.NewRequest("POST", "/", nil)
		r.Header.Set("Content-Type", kind)
		require.Equal(t, ok, request.DeclaredJSON(r) == nil, kind)
		r.Header.Set("Content-Encoding", "gzip")
		require.Error(t, request.DeclaredJSON(r))
	}
}

func TestADecisionHasNothingThatIsNotPartOfIt(t *testing.T) {
	raw := json.RawMessage(`{}`)
	for _, bad := range []request.Decision{
		{}, {ID: "p"}, {Decision: "approve"}, {ID: "p", Decision: "expired"},
		{ID: "p", Decision: "approve", Input: raw}, {ID: "p", Decision: "reject", Value: raw},
		{ID: "p", Decision: "edit"}, {ID: "p", Decision: "answer"}, {ID: "p", Decision: "suggest"},
		{ID: "p", Decision: "edit", Input: raw, Value: raw}, {ID: "p", Decision: "approve", Scope: "project"},
	} {
		_, err := bad.Parse()
		require.Error(t, err, bad)
	}
	d, err := (&request.Decision{ID: "p", Decision: "edit", Input: raw}).Parse()
	require.NoError(t, err)
	require.Equal(t, "p", d.ID)
	require.Equal(t, raw, d.Input)
	d, err = (&request.Decision{ID: "p", Decision: "always", Scope: "project"}).Parse()
	require.NoError(t, err)
	require.Equal(t, agent.Approve("p").For("project"), d)
	d, err = (&request.Decision{ID: "p", Decision: "always", Scope: "session"}).Parse()
	require.NoError(t, err)
	require.Equal(t, agent.AllowAlways("p"), d)
}
