package wirediff

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { // a module that genai needs starts a goroutine
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("go.opencensus.io/stats/view.(*worker).start"))
}
