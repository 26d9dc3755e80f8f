package humanity

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReportsOfAFewTextsAreKept(t *testing.T) {
	for n := range 100 {
		text := fmt.Sprintf("Text %d is short, and it is the only one of its kind.", n)
		require.Equal(t, Check(text), Check(text))
	}
	checked.Lock()
	defer checked.Unlock()
	require.NotEmpty(t, checked.reports)
	require.LessOrEqual(t, len(checked.reports), 32)
}
