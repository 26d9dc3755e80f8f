package site

import (
	"bytes"
	"image"
	"image/png"
	"io"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// picture returns a PNG of 3 × 2 pixels.
func picture(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, 3, 2))))
	return b.Bytes()
}

func TestAFileIsUploadedShownAndDeleted(t *testing.T) {
	s, ctx := newSite(t), t.Context()
	m, err := s.UploadMedia(ctx,
		UploadMedia{Name: "../a/Logo.PNG", Alt: "Our logo", Content: bytes.NewReader(picture(t))})
	require.NoError(t, err)
	require.Equal(t, []any{"Logo.PNG", "image/png", "image", 3, 2, "Our logo"},
		[]any{m.Name, m.MimeType, m.MimeGroup, *m.Width, *m.Height, *m.Alt})
	stored, err := fs.ReadFile(s.Uploads(), strings.TrimPrefix(m.Path, "/uploads/"))
	require.NoError(t, err)
	require.Equal(t, picture(t), stored)
	info, err := os.Stat(s.file(m.Path))
	require.NoError(t, err)
	require.Zero(t, info.Mode().Perm()&0o077)

	list, err := s.ListMedia(ctx, ListMedia{Group: "image", Query: Query{Text: "logo"}})
	require.NoError(t, err)
	require.Equal(t, []*Media{m}, list.Items)
	list, err = s.ListMedia(ctx, ListMedia{Group: "video"})
	require.NoError(t, err)
	require.Empty(t, list.Items)

	sec, err := s.SyncContents(ctx,
		SyncContents{Page: "home", Content: map[string]any{"image": map[string]any{"id": m.ID}}})
	require.NoError(t, err)
	require.Equal(t, map[string]any{"id": m.ID, "url": m.Path, "alt": "Our logo"}, sec.Content["image"],
		"its address and what it shows are filled in")
	_, err = s.DeleteMedia(ctx, m.ID)
	refused(t, err, CodeConflict, "pages home")
	_, err = s.SyncContents(ctx, SyncContents{Page: "home", Content: map[string]any{"image": nil}})
	require.NoError(t, err)
	_, err = s.DeleteMedia(ctx, m.ID)
	require.NoError(t, err)
	require.NoFileExists(t, s.file(m.Path))
}

func TestABadUploadIsRefused(t *testing.T) {
	s, ctx := newSite(t), t.Context()
	for name, c := range map[string]struct {
		file    string
		content io.Reader
		code    string
		says    string
	}{
		"17 MB": {"a.txt", strings.NewReader(strings.Repeat("x", 17<<20)), CodeTooLarge, "16 MiB"},
		"a renamed .exe": {"logo.png",
			strings.NewReader("MZ\x90\x00\x03\x00\x00\x00\x04\x00\x00\x00\xff\xff\x00\x00"), CodeMediaType,
			"application/octet-stream"},
		"another type": {"logo.png", strings.NewReader("%PDF-1.7"), CodeMediaType, "application/pdf"},
		"a page":       {"a.txt", strings.NewReader("<!doctype html><script>"), CodeMediaType, "text/html"},
		"a vector graphic": {"a.svg",
			strings.NewReader(`<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg">`), CodeMediaType,
			"text/xml"},
		"a program":   {"a.exe", strings.NewReader("text"), CodeMediaType, "a.exe"},
		"a control":   {"a\x01.txt", strings.NewReader("text"), CodeInvalid, "control character"},
		"a direction": {"photo\u202egnp.txt", strings.NewReader("text"), CodeInvalid, "changes the direction"},
	} {
		_, err := s.UploadMedia(ctx, UploadMedia{Name: c.file, Content: c.content})
		require.Error(t, err, name)
		refused(t, err, c.code, c.says)
	}
	_, err := os.Stat(s.uploads)
	require.ErrorIs(t, err, fs.ErrNotExist, "nothing was stored")
	_, err = s.SyncContents(ctx,
		SyncContents{Page: "home", Content: map[string]any{"image": map[string]any{"id": "med_none"}}})
	refused(t, err, CodeNotFound, "med_none")
}
