package secret_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider/secret"
)

func TestASecretIsRemovedWhileItIsInTheSetAndForAWhileAfterwards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var set secret.Set
		require.Equal(t, "key hunter2-hunter2", set.Text("key hunter2-hunter2"))
		remove := set.Add("hunter2-hunter2")
		again := set.Add("hunter2-hunter2")
		other := set.Add("swordfish/9")
		for range 2 { // the second time has no effect
			remove()
		}
		time.Sleep(time.Hour)
		require.Equal(t, "key [redacted]", set.Text("key hunter2-hunter2"), "it is there a second time")
		require.Equal(t, "?k=[redacted]", set.Text("?k=swordfish%2F9"))
		again()
		time.Sleep(10*time.Minute - 1)
		require.Equal(t, "key [redacted]", set.Text("key hunter2-hunter2"), "a late text")
		time.Sleep(time.Nanosecond)
		require.Equal(t, "key hunter2-hunter2", set.Text("key hunter2-hunter2"))
		require.Equal(t, "[redacted]", set.Text("swordfish/9"))

		again = set.Add("hunter2-hunter2") // the same user's next call
		other()
		time.Sleep(10 * time.Minute)
		require.Equal(t, "swordfish/9 [redacted]", set.Text("swordfish/9 hunter2-hunter2"))
		again()

		brief := secret.Set{Keep: time.Second}
		brief.Add("hunter2-hunter2")()
		require.Equal(t, "[redacted]", brief.Text("hunter2-hunter2"))
		time.Sleep(time.Second)
		require.Equal(t, "hunter2-hunter2", brief.Text("hunter2-hunter2"))
	})
}

func TestASetRedactsErrorsAndPrintsNoSecret(t *testing.T) {
	set := new(secret.Set)
	cause := errors.New("401")
	err := fmt.Errorf("the key hunter2-hunter2 is unknown: %w", cause)
	require.Same(t, err, set.Error(err))
	defer set.Add("hunter2-hunter2")()
	require.Equal(t, "the key [redacted] is unknown: 401", set.Error(err).Error())
	require.ErrorIs(t, set.Error(err), cause)
	set.Add("short")
	require.Equal(t, "short", set.Text("short"))
	text, err := json.Marshal(set)
	require.NoError(t, err)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		text = fmt.Appendf(text, verb, set)
		text = fmt.Appendf(text, verb, struct{ s *secret.Set }{set})
	}
	require.NotContains(t, string(text), "hunter2")
}

func TestASetIsSharedByGoroutines(t *testing.T) {
	var set secret.Set
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 50 {
				key := fmt.Sprintf("hunter2-%d-%d", i, j%5)
				remove := set.Add(key)
				if text := set.Text("key " + key + "."); text != "key [redacted]." {
					t.Error(text)
				}
				remove()
			}
		})
	}
	wg.Wait()
}
