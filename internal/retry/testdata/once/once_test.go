// Package once has tests that fail or panic the first time. RETRY_TEST names a folder for what they
// remember.
package once

import (
	"os"
	"path/filepath"
	"testing"
)

// first reports whether it is called with a name for the first time.
func first(t *testing.T, name string) bool {
	f, err := os.OpenFile(filepath.Join(os.Getenv("RETRY_TEST"), name), os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		f.Close()
	}
	return err == nil
}

func TestAlwaysPasses(t *testing.T) { t.Log("it passed") }

func TestWaits(t *testing.T) { t.Parallel() }

func TestFailsOnce(t *testing.T) {
	t.Run("a part", func(t *testing.T) {
		if first(t, "failed") {
			t.Error("this comes once")
		}
	})
}

func TestPanicsOnce(t *testing.T) {
	if first(t, "panicked") {
		go panic("in a goroutine")
		select {}
	}
}
