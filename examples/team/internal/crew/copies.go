package crew

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/pawlkit/pawl/tools/file"
)

// maxFiles is how many files the directory of programs may have.
const maxFiles = 5000

// Copies are the staging copies of steps, by the sessions in which the steps work.
type copies struct {
	place *Place

	mu   sync.Mutex // guards what follows
	open map[string]*workcopy
}

// A workcopy is what one step works on.
type workcopy struct {
	place   *Place
	dir     string // of what is kept about it
	staging *file.Staging

	mu sync.Mutex // one at a time builds the tree, runs checks, merges and reverts
}

// of returns the copy of a session. It is made if there is none.
func (c *copies) of(session string) (*workcopy, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w := c.open[session]; w != nil {
		return w, nil
	}
	sum := sha256.Sum256([]byte(session))
	w := &workcopy{place: c.place, dir: filepath.Join(c.place.State, "steps", hex.EncodeToString(sum[:8]))}
	if err := os.MkdirAll(w.dir, 0o755); err != nil {
		return nil, err
	}
	var err error
	if w.staging, err = c.place.ws.Stage(filepath.Join(w.dir, "staging")); err != nil {
		return nil, err
	}
	c.open[session] = w
	return w, nil
}

// close releases all copies; their files stay.
func (c *copies) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	for session, w := range c.open {
		errs = append(errs, w.staging.Close())
		delete(c.open, session)
	}
	return errors.Join(errs...)
}

// tree writes the directory of programs with the changes of the step to disk, for the go command,
// and returns where. mu is held.
func (w *workcopy) tree(ctx context.Context) (string, error) {
	at := filepath.Join(w.dir, "tree")
	if err := os.MkdirAll(at, 0o755); err != nil {
		return "", err
	}
	root, err := os.OpenRoot(at)
	if err != nil {
		return "", err
	}
	defer root.Close()
	content, err := w.files(ctx)
	if err != nil {
		return "", err
	}
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && content[name] == nil {
			err = root.Remove(name)
		}
		return err
	})
	for name, data := range content {
		if old, failed := root.ReadFile(name); err != nil || failed == nil && bytes.Equal(old, data) {
			continue
		}
		if err = root.MkdirAll(filepath.Dir(name), 0o755); err == nil {
			err = root.WriteFile(name, data, 0o644)
		}
	}
	return at, err
}

// files returns all files as the step sees them.
func (w *workcopy) files(ctx context.Context) (map[string][]byte, error) {
	all := make(map[string][]byte)
	err := fs.WalkDir(os.DirFS(w.place.Dir), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules"):
			return fs.SkipDir
		case !d.Type().IsRegular():
			return ctx.Err()
		case len(all) == maxFiles:
			return fmt.Errorf("%s has more than %d files; choose a smaller directory", w.place.Dir, maxFiles)
		}
		c, err := w.place.ws.Read(ctx, name)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, file.ErrTooLarge) { // hidden, gone, or no source
			return nil
		}
		all[name] = notNil(c.Data)
		return err
	})
	for _, ch := range w.staging.Changes() {
		if ch.Action == file.Delete {
			delete(all, ch.Name)
			continue
		}
		c, failed := w.staging.Read(ctx, ch.Name)
		all[ch.Name], err = notNil(c.Data), errors.Join(err, failed)
	}
	return all, err
}

func notNil(data []byte) []byte {
	if data == nil {
		return []byte{}
	}
	return data
}

// load reads a file that is kept about the step; it leaves v alone if there is none.
func (w *workcopy) load(name string, v any) error {
	text, err := os.ReadFile(filepath.Join(w.dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(text, v)
}

// save writes such a file, wholly or not at all.
func (w *workcopy) save(name string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	at := filepath.Join(w.dir, name)
	if err := os.WriteFile(at+".new", text, 0o644); err != nil {
		return err
	}
	return os.Rename(at+".new", at)
}
