package filetest_test

import (
	"os"
	"testing"

	"github.com/pawlkit/pawl/internal/filetest"
)

// A package has one such function for all of its tests.
var newFile = filetest.Copies(func(path string) error { return os.WriteFile(path, []byte("tables"), 0o600) })

func ExampleCopies() {
	test := func(t *testing.T) {
		path := newFile(t) // a file of this test's own
		_, _ = os.ReadFile(path)
	}
	_ = test
	// Output:
}
