package site

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
)

func TestAFullDiskIsSaidInWords(t *testing.T) {
	s, ctx := newSite(t), t.Context()
	s.db.SetMaxOpenConns(1)
	_, err := s.db.ExecContext(ctx, "PRAGMA max_page_count = 1") // SQLite then answers as on a full disk
	require.NoError(t, err)
	for err == nil {
		_, err = s.CreatePage(ctx, CreatePage{Name: "New", Slug: strings.ToLower(newID("p-")),
			Description: strings.Repeat("x", maxDescription)})
	}
	refused(t, err, CodeFull, "the disk is full, so nothing was saved")
	require.Equal(t, fault.UserFixable, fault.Of(err))
	_, err = s.GetPage(ctx, "home", "")
	require.NoError(t, err)
}

func TestADeletedOrReplacedFileIsSaidInWords(t *testing.T) {
	s, ctx := newSite(t), t.Context()
	require.NoError(t, os.Remove(s.Path()))
	_, err := s.CreatePage(ctx, CreatePage{Name: "New"})
	refused(t, err, CodeStorage, "was deleted or replaced")
	_, err = s.GetPage(ctx, "home", "")
	refused(t, err, CodeStorage, "was deleted or replaced")
	other, err := os.ReadFile(newFile(t))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(s.Path(), other, 0o600))
	_, err = s.CreatePage(ctx, CreatePage{Name: "New"})
	refused(t, err, CodeStorage, "was deleted or replaced")
}

func TestAnUploadThatCantBeStoredIsSaidInWords(t *testing.T) {
	s := newSite(t)
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(s.Path()), "uploads"), nil, 0o600))
	_, err := s.UploadMedia(t.Context(), UploadMedia{Name: "a.txt", Content: strings.NewReader("text")})
	require.ErrorContains(t, err, "uploading")
	list, err := s.ListMedia(t.Context(), ListMedia{})
	require.NoError(t, err)
	require.Equal(t, 1, list.Total, "only the seeded one")
}
