package schema

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func parse(t testing.TB, doc string) *Schema {
	t.Helper()
	s, err := Parse(json.RawMessage(doc))
	require.NoError(t, err)
	return s
}

func of[T any](t testing.TB, overlay string) *Schema {
	t.Helper()
	s, err := For[T](json.RawMessage(overlay))
	require.NoError(t, err)
	return s
}
