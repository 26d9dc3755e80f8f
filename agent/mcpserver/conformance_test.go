package mcpserver_test

import (
	"context"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/mcpserver"
	"github.com/pawlkit/pawl/provider/providertest"
)

// The scenarios of the protocol's own tool for what this server has: no resources, prompts or
// logging, and tools of its own. The scenario server-stateless needs tools of its own.
var every = flag.Int("every", 4, "of so many scenarios of the conformance tool, one is run; 1 runs all")

func TestTheServerConforms(t *testing.T) {
	modules, err := filepath.Abs(filepath.Join("..", "..", "internal", "stock", "node_modules"))
	require.NoError(t, err)
	node, program := filepath.Join(modules, "node", "bin", "node"),
		filepath.Join(modules, "@modelcontextprotocol", "conformance", "dist", "index.js")
	if _, err := os.Stat(program); err != nil || exec.Command(node, "--version").Run() != nil {
		t.Skip("the conformance tool and its Node aren't installed: npm --prefix internal/stock ci")
	}
	a, err := agent.New(agent.Config{Provider: providertest.Script()})
	require.NoError(t, err)
	hub, err := live.New(live.Config{Agent: a, Recover: -1})
	require.NoError(t, err)
	defer hub.Close()
	h, err := mcpserver.New(hub,
		mcpserver.Config{Authorize: func(context.Context, http.Header, string) (string, error) { return "ann", nil }})
	require.NoError(t, err)
	web := httptest.NewServer(h)
	defer web.Close()
	for i, s := range []struct{ version, name string }{
		{"2025-11-25", "server-initialize"},
		{"2025-11-25", "ping"},
		{"2025-11-25", "tools-list"},
		{"2025-11-25", "dns-rebinding-protection"},
		{"2026-07-28", "tools-list"},
		{"2026-07-28", "dns-rebinding-protection"},
		{"2026-07-28", "http-header-validation"},
		{"2026-07-28", "caching"},
	} {
		if i%*every != 0 {
			continue
		}
		t.Run(s.name+" of "+s.version, func(t *testing.T) {
			out, err := exec.Command(node, program, "server", "--url", web.URL, "--scenario", s.name, "--spec-version",
				s.version, "-o", t.TempDir()).CombinedOutput() //nolint:gosec // of this repository
			require.NoError(t, err, "%s", out)
			require.NotContains(t, string(out), "FAILURE")
		})
	}
}
