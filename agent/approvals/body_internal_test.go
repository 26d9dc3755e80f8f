package approvals

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzWhatIsStrictHasOneMeaning: what strict lets pass is JSON whose keys are the given ones to the letter, and says the same
// when it is written and read again.
func FuzzWhatIsStrictHasOneMeaning(f *testing.F) {
	for _, s := range []string{`{}`, `{"session":"s","id":"p-1","decision":"approve"}`, `{"input":{"a":[1,{"b":null}]}}`, `{"id":1,"id":2}`,
		`{"\u0069d":1}`, `{"ID":1}`, `[]`, `{} {}`, `{"id":1e999}`, `{"id":"\ud800"}`, `{"value":{"":0,"":1}}`, "{\"id\":\"\xff\"}", ` {"id" : [ ] } `} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if strict(raw, fields) != nil {
			return
		}
		require.True(t, json.Valid(raw))
		var keys map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(raw, &keys))
		for k := range keys {
			require.Contains(t, fields, k)
		}
		var v, again any
		if json.Unmarshal(raw, &v) != nil { // a number that Go can't hold
			return
		}
		written, err := json.Marshal(v)
		require.NoError(t, err)
		require.NoError(t, strict(written, fields))
		require.NoError(t, json.Unmarshal(written, &again))
		require.Equal(t, v, again)
	})
}
