package file

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/internal/glob"
)

// A Config has the settings of a [Workspace] and its tools. Its zero value is the most restrictive
// useful one.
type Config struct {
	// Name is the prefix of the tools' names: "file" for "file.read", which is the default. Tools
	// of several workspaces need different ones.
	Name string
	// ReadOnly leaves out the tools that change files, and makes every change an error of class
	// Denied.
	ReadOnly bool
	// Patch adds file.patch, a tool that takes a unified diff of one or several files: all of it
	// takes effect, or nothing. It changes and creates files, and neither deletes nor moves any.
	// These have at most 64 MiB together, or MaxRead if it is more.
	// A rule that names file.edit or file.write should name it, too, or "file.*".
	Patch bool
	// Overwrite lets file.write replace a file without naming the version that was read.
	Overwrite bool
	// Outside says that the files have text from outside, such as those of users: then so have the
	// results of all tools. See tools.Spec.Outside.
	Outside bool
	// Sync makes a change survive a power failure before it is reported: the file and its directory
	// are synced to disk.
	Sync bool

	// History is a directory outside of the workspace, in which the tools write, edit, patch and
	// delete keep the content that a file had, so that the call can be undone (Session.Undo of
	// package agent), also when it is unknown how it ended. It is made if it doesn't exist, and
	// keeps the newest 10,000 calls. A file that was changed since the call stays as it is, which
	// is an error; directories that were made with a file stay, too, and a file that was deleted
	// gets the permissions of a new one. A file that is too large to be read can't be changed.
	// Empty: these calls can't be undone.
	History string

	// FileMode is the permissions of new files, less the process's umask; 0: 0644. Those of new
	// directories are 0755.
	FileMode fs.FileMode

	// Protect are the names of files and directories in which nothing may be changed; nil: .git,
	// .hg and .svn, because their hooks and settings are programs that a person runs without
	// noticing.
	Protect []string
	// Hide are patterns of files that the tools treat as nonexistent, such as ".env*" or
	// "secrets/**"; nil: none. A pattern without a slash is matched against every element of a
	// path, one with a slash against the whole path: see Glob in the schema of file.list. Hide
	// and Protect ignore case, and the characters that some file systems ignore.
	Hide []string

	// MaxRead is the largest file that can be read at once or edited, in bytes; 0: 10 MiB. Larger
	// ones are read in parts, and searched. MaxWrite is the same for new content.
	MaxRead, MaxWrite int64
	// MaxShown is the most bytes of text that one call of a tool shows; 0: 256 KiB. Values below 1
	// KiB become 1 KiB.
	MaxShown int
	// MaxWalked is the most files and directories that one call visits; 0: 50,000.
	MaxWalked int
	// MaxStaged is the most bytes that a [Staging] stores, including copies of files that were
	// read; 0: 1 GiB.
	MaxStaged int64
}

// Other limits.
const (
	maxDepth      = 64        // directories in a name, and the depth of walks
	maxListed     = 1000      // entries that one call of file.list shows
	maxMatches    = 200       // lines that one call of file.search finds
	maxAtOnce     = 2 << 20   // bytes of a file that are searched at once
	maxSearchFile = 64 << 20  // bytes of a file that is searched because it is in a directory
	maxSearch     = 256 << 20 // bytes that one call searches in total
	maxPatch      = 1 << 20   // bytes of a patch
	maxPatched    = 64 << 20  // bytes of all files of a patch, or MaxRead if it is more
)

// dirMode is the permissions of new directories, less the process's umask.
const dirMode fs.FileMode = 0o755

// skipped are files and directories that listing and searching leave out, in any directory.
var skipped = []string{".git", ".hg", ".svn", "node_modules"}

// defaults returns c with its defaults filled in.
func (c Config) defaults() (Config, error) {
	c.Name = cmp.Or(c.Name, "file")
	c.MaxRead, c.MaxWrite = orDefault(c.MaxRead, 10<<20), orDefault(c.MaxWrite, 10<<20)
	c.MaxStaged = orDefault(c.MaxStaged, 1<<30)
	c.MaxShown, c.MaxWalked = orDefault(c.MaxShown, 256<<10), orDefault(c.MaxWalked, 50_000)
	c.MaxShown = max(c.MaxShown, 1<<10)
	c.MaxRead, c.MaxWrite = min(c.MaxRead, 1<<30), min(c.MaxWrite, 1<<30)
	c.FileMode = cmp.Or(c.FileMode, 0o644)
	if c.FileMode&^fs.ModePerm != 0 {
		return c, fmt.Errorf("file: FileMode %v has more than permission bits; give 0600 or the like", c.FileMode)
	}
	if c.Protect == nil {
		c.Protect = []string{".git", ".hg", ".svn"}
	}
	c.Protect, c.Hide = slices.Clone(c.Protect), slices.Clone(c.Hide)
	for i, p := range c.Protect {
		c.Protect[i] = glob.Fold(p)
	}
	for i, p := range c.Hide {
		if _, err := path.Match(p, ""); err != nil || p == "" {
			return c, fmt.Errorf("file: Hide has %q, which isn't a valid pattern; use one such as %q or %q", p, "*.pem",
				"secrets/**")
		}
		c.Hide[i] = strings.ToLower(p)
	}
	return c, nil
}

// orDefault returns v, or def if v isn't positive.
func orDefault[T int | int64](v, def T) T {
	if v <= 0 {
		return def
	}
	return v
}

// protects returns the protected element of name, or "" if name may be changed.
func (c *Config) protects(name string) string {
	if len(c.Protect) == 0 {
		return ""
	}
	for e := range strings.SplitSeq(name, "/") {
		f := glob.Fold(e)
		if slices.Contains(c.Protect, f) || f == "git~1" && slices.Contains(c.Protect, ".git") {
			// the short name on Windows
			return e
		}
	}
	return ""
}

// hides reports whether name is hidden from the tools.
func (c *Config) hides(name string) bool {
	if len(c.Hide) == 0 {
		return false
	}
	var b strings.Builder
	for i, e := range strings.Split(name, "/") {
		if i > 0 {
			b.WriteByte('/')
		}
		e = glob.Fold(e)
		b.WriteString(e)
		for _, p := range c.Hide {
			if !strings.Contains(p, "/") {
				if ok, _ := path.Match(p, e); ok {
					return true
				}
			} else if glob.Match(p, b.String()) {
				return true
			}
		}
	}
	return false
}
