package preview

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/pawlkit/pawl/examples/cms/internal/site"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newRenderer(t testing.TB, cfg Config) (*Renderer, *site.Site) {
	t.Helper()
	s, err := site.Open(filepath.Join(t.TempDir(), "site.db"), site.Small)
	require.NoError(t, err)
	return render(t, cfg, s)
}

// newBakery renders the site of a new file.
func newBakery(t testing.TB) (*Renderer, *site.Site) {
	t.Helper()
	s, err := site.Open(filepath.Join(t.TempDir(), "site.db"))
	require.NoError(t, err)
	return render(t, Config{}, s)
}

func render(t testing.TB, cfg Config, s *site.Site) (*Renderer, *site.Site) {
	t.Helper()
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	cfg.Site = s
	r, err := New(cfg)
	require.NoError(t, err)
	return r, s
}
