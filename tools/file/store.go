package file

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
)

// A staged is the state of one file in a Staging. It is a line of the staging's log; the last line
// of a name counts.
type staged struct {
	Name string `json:"name"`
	// Base and Now are the SHA-256 of the content that was read and of the staged content. Base is
	// "" if the file didn't exist or wasn't read; Now is "" if the file is deleted. If both are "",
	// the file isn't staged any more.
	Base     string      `json:"base,omitempty"`
	Now      string      `json:"now,omitempty"`
	BaseSize int64       `json:"base_size,omitempty"`
	NowSize  int64       `json:"now_size,omitempty"`
	Mode     fs.FileMode `json:"mode,omitempty"`
}

func (s *staged) changed() bool { return s.Base != s.Now }

// A store keeps the contents and the log of a Staging in its own directory. Its methods aren't safe
// for concurrent use.
type store struct {
	dir   string
	root  *os.Root
	log   *os.File
	sync  bool
	files map[string]*staged
	uses  map[string]int   // number of files that use a content
	sizes map[string]int64 // sizes of contents
	total int64
}

// The names in a store's directory.
const (
	logName  = "changes.jsonl"
	blobsDir = "contents"
)

// openStore opens the store in dir. It creates dir if it doesn't exist; otherwise dir must be empty
// or a store.
func openStore(dir string, sync bool) (*store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	s := &store{dir: dir, root: root, sync: sync, files: make(map[string]*staged), uses: make(map[string]int),
		sizes: make(map[string]int64)}
	if err := s.load(); err != nil {
		_ = root.Close()
		return nil, err
	}
	return s, nil
}

// load reads the log and rewrites it without obsolete lines. It ignores a last line that was cut by
// a crash.
func (s *store) load() error {
	text, err := s.root.ReadFile(logName)
	if errors.Is(err, fs.ErrNotExist) {
		names, err := os.ReadDir(s.dir)
		if err != nil {
			return err
		}
		for _, n := range names {
			if n.Name() != blobsDir && !strings.HasPrefix(n.Name(), tempPrefix) {
				return newError(s.dir, fault.Invalid, fs.ErrExist,
					"the directory for staging has other files; give an empty one")
			}
		}
	} else if err != nil {
		return err
	}
	for line := range bytes.Lines(text) {
		var f staged
		if err := json.Unmarshal(line, &f); err != nil || f.Name == "" {
			if bytes.HasSuffix(line, newline) {
				return newError(s.dir, fault.Permanent, err, "the staging's log %s has a line that can't be read",
					logName)
			}
			break
		}
		s.place(f)
	}
	if err := s.root.MkdirAll(blobsDir, 0o700); err != nil {
		return err
	}
	kept, err := fs.ReadDir(s.root.FS(), blobsDir)
	if err != nil {
		return err
	}
	for _, k := range kept { // a crash may have left unused contents
		if s.uses[k.Name()] == 0 {
			_ = s.root.Remove(blobsDir + "/" + k.Name())
		}
	}
	return s.rewrite()
}

func (s *store) rewrite() error {
	temp := tempPrefix + logName
	f, err := s.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	enc := json.NewEncoder(w)
	for _, file := range s.files {
		err = errors.Join(err, enc.Encode(file))
	}
	if err = errors.Join(err, w.Flush(), s.synced(f), f.Close()); err != nil {
		return err
	}
	if err := s.root.Rename(temp, logName); err != nil {
		return err
	}
	s.log, err = s.root.OpenFile(logName, os.O_WRONLY|os.O_APPEND, 0)
	return err
}

func (s *store) synced(f *os.File) error {
	if s.sync {
		return f.Sync()
	}
	return nil
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// keep stores a content, unless it is stored already or the total would exceed limit.
func (s *store) keep(name string, data []byte, limit int64) (string, error) {
	sum := sumOf(data)
	if s.uses[sum] > 0 {
		return sum, nil
	}
	if s.total+int64(len(data)) > limit {
		return "", newError(name, fault.Invalid, ErrTooLarge,
			"the staged files have %d bytes, and this one would exceed the limit of %d; merge first", s.total, limit)
	}
	temp := tempPrefix + strings.ToLower(rand.Text())
	f, err := s.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, s.synced(f), f.Close()); err == nil {
		err = s.root.Rename(temp, blobsDir+"/"+sum)
	}
	if err != nil {
		_ = s.root.Remove(temp)
		return "", err
	}
	return sum, nil
}

// content returns a stored content, in buf if it fits.
func (s *store) content(sum string, limit int64, buf []byte) ([]byte, error) {
	f, err := s.root.Open(blobsDir + "/" + sum)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return readAll(f, info.Size(), limit, buf)
}

// set records the states of files: all of them or, if it fails, none.
func (s *store) set(list ...staged) error {
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	for i := range list {
		if err := enc.Encode(&list[i]); err != nil {
			return err
		}
	}
	before, err := s.log.Stat()
	if err != nil {
		return err
	}
	if _, err = s.log.Write(line.Bytes()); err == nil {
		err = s.synced(s.log)
	}
	if err != nil {
		return errors.Join(err, s.log.Truncate(before.Size()))
	}
	var unused []string
	for _, f := range list {
		unused = append(unused, s.place(f)...)
	}
	for _, sum := range unused {
		if s.uses[sum] == 0 { // a later file of the list may use the content of an earlier one
			_ = s.root.Remove(blobsDir + "/" + sum) // if this fails, the content only takes space
		}
	}
	return nil
}

// place puts f into the map, updates the use counts, and returns the contents that are unused now.
func (s *store) place(f staged) (unused []string) {
	use := func(sum string, size int64, n int) {
		if sum == "" {
			return
		}
		if s.uses[sum] == 0 {
			s.sizes[sum] = size
			s.total += size
		}
		if s.uses[sum] += n; s.uses[sum] == 0 {
			s.total -= s.sizes[sum]
			delete(s.uses, sum)
			delete(s.sizes, sum)
			unused = append(unused, sum)
		}
	}
	use(f.Base, f.BaseSize, 1)
	use(f.Now, f.NowSize, 1)
	if old := s.files[f.Name]; old != nil {
		use(old.Base, old.BaseSize, -1)
		use(old.Now, old.NowSize, -1)
	}
	if f.Base == "" && f.Now == "" {
		delete(s.files, f.Name)
	} else {
		s.files[f.Name] = &f
	}
	return unused
}

func (s *store) close() error { return errors.Join(s.log.Close(), s.root.Close()) }

// erase closes the store and deletes its files. A directory with other files in it stays.
func (s *store) erase() error {
	err := errors.Join(s.log.Close(), s.root.RemoveAll(blobsDir), s.root.Remove(logName), s.root.Close())
	if left, listErr := os.ReadDir(s.dir); listErr == nil {
		for _, e := range left {
			if strings.HasPrefix(e.Name(), tempPrefix) {
				err = errors.Join(err, os.Remove(filepath.Join(s.dir, e.Name())))
			}
		}
	}
	if rmErr := os.Remove(s.dir); rmErr != nil && !errors.Is(rmErr, fs.ErrNotExist) {
		if left, _ := os.ReadDir(s.dir); len(left) == 0 {
			err = errors.Join(err, rmErr)
		}
	}
	return err
}
