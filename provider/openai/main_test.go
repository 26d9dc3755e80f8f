package openai

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	for _, name := range []string{"OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"} {
		os.Unsetenv(name) // what the machine has set must decide nothing
	}
	goleak.VerifyTestMain(m)
}
