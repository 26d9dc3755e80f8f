package site

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/semaphore"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/pawlkit/pawl/memory/index"
)

const (
	// busyTimeout is how long a call waits for another process before it fails with CodeBusy. A
	// write takes milliseconds, so only a process that hangs in the middle of one causes such a
	// wait.
	busyTimeout = 15 * time.Second

	// applicationID marks a file of this package in its header ("PwlT"); see SQLite's PRAGMA
	// application_id.
	applicationID = 0x50776c54

	sqliteHeader = "SQLite format 3\x00"
)

// A migration takes the file from one version to the next. Its index in the list is the version
// that it starts from.
type migration func(tx *txn) error

// migrations are applied in order, all in one transaction. Only append to them. The second one
// wrote the initial data, which is now written after all of them, once per file: a page that was
// deleted isn't created again.
var migrations = []migration{script("1-schema.sql"), func(*txn) error { return nil }, script("3-page-keys.sql"),
	script("4-done-calls.sql"), script("5-sessions.sql"), script("6-status.sql"), newSearchTexts}

// scripts are what migrations write.
//
//go:embed migrations
var scripts embed.FS

// script returns a migration that runs a file of statements, in which ?1 is the time.
func script(name string) migration {
	return func(tx *txn) error {
		query, err := scripts.ReadFile("migrations/" + name)
		tx.exec(string(query), tx.now)
		return err
	}
}

// Open opens the content file at path, creates it with mode 0600 if there is none, and migrates an
// older one. A new file contains a small site: see the package comment. Creating, migrating and
// filling are one transaction: a start that is interrupted leaves only an empty file, and the next
// one does all of it.
//
// The folder must exist. For a path that can't be a site's file, the error is an [*Error] with
// CodeStorage.
func Open(path string, options ...Option) (*Site, error) {
	return open(context.Background(), path, migrations, options...)
}

// An Option changes how a file is opened: [Small] or the result of [WithEmbedder].
type Option func(*Site) error

func open(ctx context.Context, path string, steps []migration, options ...Option) (*Site, error) {
	abs, err := checkPath(path)
	if err != nil {
		return nil, err
	}
	// The driver starts writes with BEGIN IMMEDIATE, so a transaction never fails halfway because
	// another one wrote first. Read-only transactions are deferred, and WAL never blocks them.
	// Synchronous full survives a power failure.
	query := url.Values{
		"_txlock": {"immediate"},
		"_pragma": {fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()), "foreign_keys(1)",
			"synchronous(full)"},
	}
	name := "file:" + (&url.URL{Path: filepath.ToSlash(abs)}).EscapedPath() + "?" + query.Encode()
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return nil, fmt.Errorf("site: opening %s: %w", abs, err)
	}
	db.SetMaxOpenConns(8)
	finder, err := index.New(index.Config{})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	s := &Site{path: abs, uploads: filepath.Join(filepath.Dir(abs), "uploads"), db: db, now: time.Now,
		finder: finder, seed: "seed/site.json", changed: make(chan struct{}),
		writing: semaphore.NewWeighted(1), finding: semaphore.NewWeighted(1)}
	for _, o := range options {
		if err := o(s); err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	if err := s.prepare(ctx, steps); err != nil {
		return nil, errors.Join(s.explain(ctx, "opening "+abs, err), db.Close())
	}
	s.opened, err = os.Stat(abs)
	return s, err
}

// checkPath returns the absolute path if a site's file can be opened or created there.
func checkPath(path string) (string, error) {
	refuse := func(hint, format string, args ...any) (string, error) {
		return "", &Error{Code: CodeStorage, Message: fmt.Sprintf(format, args...), Hint: hint}
	}
	if path == "" {
		return refuse(`name a file such as "site.db"`, "the path of the site's file is empty")
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("site: path %q: %w", path, err)
	}
	info, err := os.Stat(abs)
	if errors.Is(err, fs.ErrNotExist) {
		folder := filepath.Dir(abs)
		if dir, err := os.Stat(folder); err != nil || !dir.IsDir() {
			return refuse("create the folder first, or name another path", "the folder %s doesn't exist", folder)
		}
		return abs, create(abs)
	}
	if err != nil {
		return refuse("name another path", "%s can't be opened (%v)", abs, err)
	}
	if info.IsDir() {
		return refuse("name a file in it, such as "+filepath.Join(abs, "site.db"), "%s is a folder", abs)
	}
	if !info.Mode().IsRegular() {
		return refuse("name another path", "%s isn't a regular file", abs)
	}
	// The mode counts for all users, also for an administrator, whom the system would let write.
	if info.Mode().Perm()&0o222 == 0 {
		return refuse("make it writable, or copy it and open the copy", "%s is read-only (mode %04o)", abs,
			info.Mode().Perm())
	}
	f, err := os.OpenFile(abs, os.O_RDWR, 0)
	if err != nil {
		return refuse("make it readable and writable for this user, or copy it and open the copy",
			"%s can't be opened for writing (%v)", abs, err)
	}
	defer f.Close()
	if info.Size() == 0 {
		return abs, nil
	}
	head := make([]byte, len(sqliteHeader))
	if _, err := io.ReadFull(f, head); err != nil || string(head) != sqliteHeader {
		return refuse("name a new file, or one that a site was stored in", "%s isn't a SQLite file", abs)
	}
	return abs, nil
}

// create makes an empty file. SQLite creates its auxiliary files with the same mode.
func create(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist): // another process has created it
		return nil
	case err != nil:
		return &Error{Code: CodeStorage, Message: fmt.Sprintf("%s can't be created (%v)", path, err),
			Hint: "make the folder writable, or name another path", cause: err}
	}
	return f.Close()
}

// prepare checks which program the file belongs to, switches it to WAL, and applies the missing
// migrations.
func (s *Site) prepare(ctx context.Context, steps []migration) error {
	if err := s.checkOwner(ctx); err != nil {
		return err
	}
	if err := s.useWAL(ctx); err != nil {
		return err
	}
	return s.write(ctx, "migrating", func(tx *txn) error {
		version := value[int](tx, "PRAGMA user_version")
		if version > len(steps) {
			return &Error{Code: CodeStorage,
				Message: fmt.Sprintf("%s was written by a newer version (%d; this program supports %d)", s.path,
					version, len(steps)),
				Hint: "use that version of the program, or another file"}
		}
		if version == len(steps) {
			return nil
		}
		for i, step := range steps[version:] {
			if err := step(tx); err != nil {
				return fmt.Errorf("migration %d: %w", version+i+1, err)
			}
		}
		if version == 0 && s.seed != "" {
			if err := s.firstData(tx); err != nil {
				return fmt.Errorf("the initial data: %w", err)
			}
		}
		// PRAGMA takes no parameters; both numbers are constants of this package.
		tx.exec(fmt.Sprintf("PRAGMA user_version = %d; PRAGMA application_id = %d", len(steps), applicationID))
		return nil
	})
}

// checkOwner rejects a database of another program before anything is written to it.
func (s *Site) checkOwner(ctx context.Context) error {
	var owner, objects int
	err := s.db.QueryRowContext(ctx,
		"SELECT application_id, (SELECT count(*) FROM sqlite_master) FROM pragma_application_id").Scan(&owner, &objects)
	if err != nil {
		return err
	}
	if owner != applicationID && (owner != 0 || objects > 0) {
		return &Error{Code: CodeStorage, Message: s.path + " is the SQLite file of another program",
			Hint: "name a new file, or one that a site was stored in"}
	}
	return nil
}

// useWAL switches the file to write-ahead logging, which is a permanent setting. If two processes
// create the file together, SQLite reports the conflict at once instead of waiting, so useWAL waits
// and tries again.
func (s *Site) useWAL(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, busyTimeout, &Error{Code: CodeBusy,
		Message: "the site's file is locked by another process", Hint: "try again in a moment"})
	defer cancel()
	for {
		var mode string
		err := s.db.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode)
		switch {
		case err == nil && mode == "wal":
			return nil
		case err == nil:
			return &Error{Code: CodeStorage, Message: fmt.Sprintf("%s can't use write-ahead logging (mode %s)", s.path,
				mode), Hint: "put the file on a local disk"}
		case primaryCode(err) != sqlite3.SQLITE_BUSY:
			return err
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
