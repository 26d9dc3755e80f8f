package file

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// What walks see of a Staging: the workspace with the changes over it. Nothing is copied.

// below reports whether a directory has staged files. mu is held.
func (s *Staging) below(dir string) bool {
	for name, f := range s.store.files {
		if f.Now != "" && strings.HasPrefix(name, dir+"/") {
			return true
		}
	}
	return false
}

func (s *Staging) open(name string, limit int64, buf []byte) ([]byte, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.ready(context.Background(), name); err != nil {
		return nil, err
	}
	if f := s.store.files[name]; f != nil {
		if f.Now == "" {
			return nil, explain(name, fs.ErrNotExist)
		}
		return s.store.content(f.Now, limit, buf)
	}
	return s.ws.open(name, limit, buf)
}

func (s *Staging) stream(name string) (*os.File, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.ready(context.Background(), name); err != nil {
		return nil, err
	}
	f := s.store.files[name]
	if f == nil {
		return s.ws.stream(name)
	}
	if f.Now == "" {
		return nil, explain(name, fs.ErrNotExist)
	}
	at, err := s.store.root.Open(blobsDir + "/" + f.Now)
	return at, explain(name, err)
}

func (s *Staging) entries(dir string, limit int) ([]entry, bool, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.ready(context.Background(), dir); err != nil {
		return nil, false, err
	}
	return unlocked{s}.entries(dir, limit)
}

// unlocked is a Staging for callers that hold its lock.
type unlocked struct{ *Staging }

func (u unlocked) entries(dir string, limit int) ([]entry, bool, error) {
	list, more, err := u.ws.entries(dir, limit)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, false, err
	}
	byName := make(map[string]Kind, len(list))
	for _, e := range list {
		byName[e.base] = e.kind
	}
	prefix := dir + "/"
	if dir == "." {
		prefix = ""
	}
	dirs, changed := make(map[string]bool), err == nil
	for name, f := range u.store.files {
		rest, inside := strings.CutPrefix(name, prefix)
		if !inside {
			continue
		}
		first, _, deeper := strings.Cut(rest, "/")
		switch {
		case deeper && f.Now != "":
			dirs[first] = true
		case deeper:
		case f.Now == "":
			delete(byName, first)
		default:
			byName[first] = KindFile
		}
		changed = changed || f.Now != ""
	}
	if !changed {
		return nil, false, err // the directory doesn't exist
	}
	for d := range dirs {
		byName[d] = KindDir
	}
	out := make([]entry, 0, len(byName))
	for name, kind := range byName {
		out = append(out, entry{name, kind})
	}
	sortEntries(out)
	if len(out) > limit {
		out, more = out[:limit], true
	}
	return slices.Clip(out), more, nil
}
