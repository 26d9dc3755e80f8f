package schema

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestObjectsWiderThanTheScanAreJudgedAllTheSame(t *testing.T) {
	var properties, members []string
	for i := range 80 {
		properties = append(properties, fmt.Sprintf(`"k%d":{"type":"integer"}`, i))
		members = append(members, fmt.Sprintf(`"k%d":%d`, i, i))
	}
	s := parse(t, `{"type":"object","properties":{`+strings.Join(properties,
		",")+`,"last":{"type":"integer","default":1}},"required":["k79"],"additionalProperties":false}`)
	all := strings.Join(members, ",")
	prepares(t, s, `{`+all+`,"last":2.0}`, `{`+all+`,"last":2}`)
	prepares(t, s, `{`+all+`,"last":null}`, `{`+all+`,"last":1}`)
	_, err := s.Accept(json.RawMessage(`{` + all + `}`))
	require.NoError(t, err)
	require.Contains(t, refuses(t, s, `{`+all+`,"k79":1}`).Error(), `"k79" occurs twice`)
	require.Contains(t, refuses(t, s, `{`+all+`,"K79":1}`).Error(), `did you mean "k79"?`)
	require.Contains(t, refuses(t, s, `{"k1":1,"zebra":2}`).Error(), `and 61 more`)
	require.Contains(t, refuses(t, s, `{"k1":1}`).Error(), `missing key "k79" (integer)`)
}

func TestDuplicatesAreCountedToTheEndAndShownToABound(t *testing.T) {
	err := refuses(t, of[any](t, ""), `{"a":0`+strings.Repeat(`,"a":1`, 1000)+`}`)
	require.Len(t, err.Problems, 100)
	require.True(t, strings.HasSuffix(err.Error(), "; and 992 more"), err.Error())
}

func TestASchemaMayBeUsedByManyAtOnce(t *testing.T) {
	s := of[query](t, queryDefaults)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if got, err := s.Accept(json.RawMessage(`{"city": "Oslo"}`)); err != nil ||
					string(got) != `{"city":"Oslo","days":1}` {
					t.Error(string(got), err)
				}
				if _, err := s.Accept(json.RawMessage(`{"city":5}`)); err == nil {
					t.Error("accepted")
				}
			}
		})
	}
	wg.Wait()
}
