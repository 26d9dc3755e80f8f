package recalltest_test

import (
	"fmt"
	"testing"

	"go.uber.org/goleak"

	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/memory/recall"
	"github.com/pawlkit/pawl/memory/recall/recalltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTheStoreInMemoryPasses(t *testing.T) {
	recalltest.Run(t, open)
}

func TestTheStoreOfTextsInMemoryPasses(t *testing.T) {
	recalltest.Texts(t, func(_ *testing.T, mostBytes int) memory.Store { return &memory.MapStore{MaxBytes: mostBytes} })
}

func open(_ *testing.T, limits recall.Limits) recall.Store { return &recall.MapStore{Limits: limits} }

// A test that runs the suite on a store.
func Example() {
	test := func(t *testing.T) { recalltest.Run(t, open) }
	fmt.Printf("%T\n", test)
	// Output: func(*testing.T)
}
