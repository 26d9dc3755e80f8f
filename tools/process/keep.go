package process

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/cut"
)

// The limits of what is kept of outputs: see [Config].Outputs.
const (
	maxWhole = 8 << 20 // bytes of an output
	maxKept  = 20      // files
)

// A fullText is all of an output, up to the last line that ends within maxWhole bytes: a part of a
// line may have half of a secret, which nothing would redact.
type fullText struct {
	text []byte
	left int64 // bytes that were left out
}

func (w *fullText) add(text []byte) {
	if w == nil {
		return
	}
	n := min(len(text), max(maxWhole-len(w.text), 0))
	w.text, w.left = append(w.text, text[:n]...), w.left+int64(len(text)-n)
}

func (w *fullText) String() string {
	whole := w.text
	if w.left > 0 {
		whole = whole[:bytes.LastIndexByte(whole, '\n')+1]
	}
	text := strings.ToValidUTF8(string(whole), "\uFFFD")
	if left := w.left + int64(len(w.text)-len(whole)); left > 0 {
		text += "\n" + cut.Note(left)
	}
	return text
}

// keptName matches the names of the files that outputs are kept in, also of those that were left
// half written.
var keptName = regexp.MustCompile(`-[0-9a-f]{16}\.txt(\.[A-Z0-9]+)?$`)

// checkOutputs checks Config.Outputs, and finds out where it is. Root isn't resolved yet.
func (t *tool) checkOutputs() error {
	if t.cfg.Outputs == "" {
		return nil
	}
	below, err := filepath.Rel(t.cfg.Root, t.cfg.Outputs)
	if !filepath.IsAbs(t.cfg.Outputs) || below == "." {
		return refuse(fault.Invalid, "Config.Outputs %q isn't the absolute path of a folder of its own, such as %q",
			t.cfg.Outputs, filepath.Join(t.cfg.Root, ".outputs"))
	}
	if err == nil && filepath.IsLocal(below) {
		t.below = below
	}
	return nil
}

// keep keeps all of the output of a program in a file, and returns its name for the model. The name
// is made of the output, so that the same call has the same result. Without a folder, or if the
// file can't be written, nothing is kept.
func (t *tool) keep(program string, r *Result) (name string) {
	if r.full == nil {
		return ""
	}
	text := r.full.String()
	if t.cfg.Redact != nil {
		text = t.cfg.Redact(text)
	}
	hash := sha256.Sum256([]byte(text))
	base := program + "-" + hex.EncodeToString(hash[:8]) + ".txt"
	folder, err := t.outputs()
	if err != nil {
		return ""
	}
	defer folder.Close()
	half := base + "." + rand.Text()
	err = folder.WriteFile(half, []byte(text), 0o600)
	if err == nil {
		err = folder.Rename(half, base)
	}
	if err != nil {
		_ = folder.Remove(half)
		return ""
	}
	removeOldest(folder)
	r.File = filepath.Join(t.cfg.Outputs, base)
	if t.below == "" {
		return r.File
	}
	return filepath.ToSlash(filepath.Join(t.below, base))
}

// outputs opens the folder for outputs, which is made if need be. Below the working root no link
// leads out of that, whatever a program has put there.
func (t *tool) outputs() (*os.Root, error) {
	if t.below == "" {
		if err := os.MkdirAll(t.cfg.Outputs, 0o700); err != nil {
			return nil, err
		}
		return os.OpenRoot(t.cfg.Outputs)
	}
	root, err := os.OpenRoot(t.cfg.Root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if err := root.MkdirAll(t.below, 0o700); err != nil {
		return nil, err
	}
	folder, err := root.OpenRoot(t.below)
	if err != nil {
		return nil, err
	}
	if _, err := folder.Lstat(".gitignore"); err != nil { // what is kept isn't for the repository of the root
		_ = folder.WriteFile(".gitignore", []byte("*\n"), 0o600)
	}
	return folder, nil
}

// removeOldest leaves the newest outputs of a folder.
func removeOldest(folder *os.Root) {
	entries, err := fs.ReadDir(folder.FS(), ".")
	if err != nil {
		return
	}
	type kept struct {
		name string
		at   time.Time
	}
	var all []kept
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && keptName.MatchString(e.Name()) {
			all = append(all, kept{e.Name(), info.ModTime()})
		}
	}
	slices.SortFunc(all, func(a, b kept) int { return b.at.Compare(a.at) })
	for _, old := range all[min(maxKept, len(all)):] {
		_ = folder.Remove(old.name)
	}
}
