package machine_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/machine"
)

func TestARuleSaysWhatItCovers(t *testing.T) {
	for _, c := range []struct{ tool, scope, want string }{
		{"run", "go vet", "all `go vet` here"},
		{"run", "", "all calls of run"},
		{"file.write", "", "all calls of file.write, for all files"},
		{"web.fetch", "on example.com", "all calls of web.fetch on example.com"},
		{"run", "index", "all `index` here"},
		{"run", strings.Repeat("é", 100), "all `" + strings.Repeat("é", 58) + "…` here"},
	} {
		require.Equal(t, c.want, machine.Rule{Tool: c.tool, Scope: c.scope}.Text())
	}
}
