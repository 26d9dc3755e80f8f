package schema

import (
	"encoding/json"
	"fmt"
	"reflect"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheSchemaOfATypeIsMadeOnce(t *testing.T) {
	type city struct {
		Name string `json:"name"`
	}
	of := reflect.TypeFor[city]()
	first, err := Of(of, nil)
	require.NoError(t, err)
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			if again, err := Of(of, nil); err != nil || again != first {
				t.Errorf("another schema: %v", err)
			}
		})
	}
	wg.Wait()
	overlay := func(n int) json.RawMessage { return fmt.Appendf(nil, `{"properties": {"name": {"maxLength": %d}}}`, n) }
	short, err := Of(of, overlay(1))
	require.NoError(t, err)
	require.NotEqual(t, first.Hash(), short.Hash())
	require.NoError(t, first.Validate([]byte(`{"name":"Ulm"}`)))
	require.Error(t, short.Validate([]byte(`{"name":"Ulm"}`)))

	for n := range maxKept + 10 {
		_, err := Of(of, overlay(n+2))
		require.NoError(t, err)
	}
	require.Len(t, kept.schemas, maxKept)
	require.Len(t, kept.order, maxKept)
	require.Nil(t, kept.get(typeKey{of, string(overlay(1))}), "the oldest ones go first")
	for range 2 {
		_, err = Of(of, json.RawMessage(`{`))
		require.Error(t, err)
	}
}
