package site

import (
	"context"
	"database/sql"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/roletest"
	"github.com/stretchr/testify/require"
)

func TestANewFileContainsASmallSite(t *testing.T) {
	s := newSite(t)
	ctx := t.Context()

	home, err := s.GetPage(ctx, "home", "")
	require.NoError(t, err)
	require.Equal(t, "pg_home", home.ID)
	require.Len(t, home.Sections, 1)
	require.Equal(t, "hero", home.Sections[0].Section)
	require.Equal(t, "Welcome to local-site", home.Sections[0].Content["title"])
	require.Empty(t, home.Sections[0].Missing)

	entry, err := s.GetEntry(ctx, "hello-world", "en")
	require.NoError(t, err)
	require.Equal(t, "blog", entry.Collection)
	require.Equal(t, []any{"news"}, entry.Content["tags"])

	for query, want := range map[string]string{
		"SELECT group_concat(name) FROM teams":                                             "dev-team",
		"SELECT group_concat(name) FROM sites":                                             "local-site",
		"SELECT group_concat(name) FROM environments":                                      "main",
		"SELECT group_concat(code || ' ' || status, ', ' ORDER BY code DESC) FROM locales": "en active, de inactive",
		"SELECT group_concat(key, ', ' ORDER BY key) FROM section_definitions":             "cta, feature, hero, text",
		"SELECT journal_mode FROM pragma_journal_mode":                                     "wal",
		"SELECT foreign_keys FROM pragma_foreign_keys":                                     "1",
	} {
		var got string
		require.NoError(t, s.db.QueryRowContext(ctx, query).Scan(&got), query)
		require.Equal(t, want, got, query)
	}
}

func TestOpeningAgainChangesNothing(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "site.db")
	s := openSite(t, path)
	_, err := s.DeletePage(ctx, "home")
	require.NoError(t, err)
	require.NoError(t, s.Close())

	again := openSite(t, path)
	pages, err := again.ListPages(ctx, Query{})
	require.NoError(t, err)
	require.Empty(t, pages.Items, "a page that was deleted doesn't come back")
	require.NotNil(t, pages.Items)
}

// objects counts the tables and other objects in a file, without this package.
func objects(t *testing.T, path string) (n int) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(10000)")
	require.NoError(t, err)
	defer db.Close()
	require.NoError(t, db.QueryRow("SELECT count(*) FROM sqlite_master").Scan(&n))
	return n
}

func TestAFileOfAnOlderVersionIsMigrated(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "site.db")
	script, err := os.ReadFile("testdata/version5.sql")
	require.NoError(t, err)
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	_, err = db.ExecContext(ctx, string(script))
	require.NoError(t, err)
	require.NoError(t, db.Close())

	s := openSite(t, path)
	home, err := s.GetPage(ctx, "home", "")
	require.NoError(t, err)
	require.Len(t, home.Sections, 1, "the contents stay as they were")
	require.Equal(t, Published, home.Status, "what visitors saw stays visible")
	entry, err := s.GetEntry(ctx, "hello-world", "")
	require.NoError(t, err)
	require.Equal(t, Published, entry.Status)
	members := meant(t, s, "the people")
	require.Equal(t, "Members", members.Name, "and is found")
	files, err := s.ListMedia(ctx, ListMedia{Query: Query{Text: "team_photo"}})
	require.NoError(t, err)
	require.Len(t, files.Items, 1)
	form, err := s.GetSection(ctx, "form")
	require.NoError(t, err)
	require.Equal(t, "Our own form", form.Description, "a definition of the same key is kept")
	_, err = s.GetSection(ctx, "gallery")
	require.NoError(t, err, "new kinds of sections are added")
	require.NotEmpty(t, members.ID)
}

func TestACanceledFirstStartLeavesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.db")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	interrupted := append(slices.Clone(migrations), func(tx *txn) error {
		cancel()
		return tx.err
	})

	_, err := open(ctx, path, interrupted)
	require.ErrorIs(t, err, context.Canceled)
	require.Zero(t, objects(t, path))

	home, err := openSite(t, path).GetPage(t.Context(), "home", "")
	require.NoError(t, err)
	require.Len(t, home.Sections, 1)
}

func TestACrashOnTheFirstStartLeavesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.db")

	out, err := roletest.Command(t.Context(), "die while filling", path).CombinedOutput()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit, string(out))
	require.Equal(t, 7, exit.ExitCode(), string(out))
	require.Zero(t, objects(t, path))

	_, err = openSite(t, path).GetPage(t.Context(), "home", "")
	require.NoError(t, err)
}

func TestTwoProcessesShareOneFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.db") // there is no file yet: the processes also create it together
	var wg sync.WaitGroup
	outputs, errs := make([]string, 2), make([]error, 2)
	for i, prefix := range []string{"a", "b"} {
		cmd := roletest.Command(t.Context(), "write", path, prefix, "20")
		wg.Go(func() {
			out, err := cmd.CombinedOutput()
			outputs[i], errs[i] = string(out), err
		})
	}
	wg.Wait()
	for i := range errs {
		require.NoError(t, errs[i], outputs[i])
	}
	home, err := openSite(t, path).GetPage(t.Context(), "home", "")
	require.NoError(t, err)
	require.Len(t, home.Meta, 40, "no update is lost")
}

func TestAnUnusablePathGetsAnErrorThatSaysWhy(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(content), mode))
		return path
	}
	readOnly := filepath.Join(dir, "read-only.db")
	require.NoError(t, openSite(t, readOnly).Close())
	require.NoError(t, os.Chmod(readOnly, 0o444))

	foreign := filepath.Join(dir, "foreign.db")
	db, err := sql.Open("sqlite", foreign)
	require.NoError(t, err)
	_, err = db.Exec("CREATE TABLE orders (id INTEGER)")
	require.NoError(t, err)
	require.NoError(t, db.Close())

	newer := filepath.Join(dir, "newer.db")
	s, err := open(t.Context(), newer, append(append([]migration{}, migrations...), func(*txn) error { return nil }))
	require.NoError(t, err)
	require.NoError(t, s.Close())

	for name, c := range map[string]struct{ path, says string }{
		"empty":        {"", "is empty"},
		"no folder":    {filepath.Join(dir, "missing", "site.db"), "create the folder first"},
		"folder":       {dir, "is a folder; name a file in it"},
		"below a file": {filepath.Join(readOnly, "site.db"), "name another path"},
		"text file":    {write("notes.txt", "these are only some notes, no database", 0o644), "isn't a SQLite file"},
		"short file":   {write("short", "SQLite", 0o644), "isn't a SQLite file"},
		"damaged": {write("damaged.db", sqliteHeader+strings.Repeat("x", 4096), 0o644),
			"damaged or isn't a SQLite database"},
		"read-only":       {readOnly, "is read-only (mode 0444); make it writable"},
		"another program": {foreign, "SQLite file of another program"},
		"newer version":   {newer, "newer version (8; this program supports 7)"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Open(c.path)
			require.Nil(t, s)
			refused(t, err, CodeStorage, c.says)
			require.Equal(t, fault.UserFixable, fault.Of(err))
		})
	}
	require.Equal(t, 1, objects(t, foreign), "another program's file stays as it was")
}

func TestAPathMayContainCharactersOfURLs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a?b#c %20é.db")
	require.NoError(t, openSite(t, path).Close())
	require.FileExists(t, path)
}

func TestAClosedSiteReturnsErrClosed(t *testing.T) {
	s := newSite(t)
	require.NoError(t, s.Close())
	require.NoError(t, s.Close())

	_, err := s.GetPage(t.Context(), "home", "")
	require.ErrorIs(t, err, ErrClosed)
	_, err = s.CreatePage(t.Context(), CreatePage{Name: "New"})
	require.ErrorIs(t, err, ErrClosed)
}

func TestAnEndedContextWritesNothing(t *testing.T) {
	s := newSite(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()

	_, err := s.CreatePage(ctx, CreatePage{Name: "New"})
	require.ErrorIs(t, err, context.Canceled)
	_, err = s.GetPage(ctx, "home", "")
	require.ErrorIs(t, err, context.Canceled)

	_, err = s.GetPage(t.Context(), "new", "")
	refused(t, err, CodeNotFound)
}

func TestABusyFileReturnsARetryableError(t *testing.T) {
	s := newSite(t)
	other := openSite(t, s.Path())
	tx, err := other.db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	defer tx.Rollback()
	s.db.SetMaxOpenConns(1) // so that the next statement sets the timeout of the connection that writes
	_, err = s.db.ExecContext(t.Context(), "PRAGMA busy_timeout = 1")
	require.NoError(t, err)

	_, err = s.CreatePage(t.Context(), CreatePage{Name: "New"})
	refused(t, err, CodeBusy, "locked by another process")
	require.Equal(t, fault.Transient, fault.Of(err))

	require.NoError(t, tx.Rollback())
	_, err = s.CreatePage(t.Context(), CreatePage{Name: "New"})
	require.NoError(t, err)
}
