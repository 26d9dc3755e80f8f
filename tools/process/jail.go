package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/pawlkit/pawl/circuit/fault"
)

// A Jail runs programs in bubblewrap (the program bwrap of PATH), on Linux. Its zero value is the
// safest. A program in it
//
//   - reads /usr, /lib and such, /bin, /sbin, some files of /etc that have no secrets, its own file,
//     and what Read names; /run, /var and /tmp are empty, and there is nothing of a home
//   - writes the root of its [Command], except for the names below, and what Write names; what it
//     writes in /tmp is gone when it has ended
//   - has no network, and reaches no sockets of other programs, unless Network is set
//   - sees no other processes, has no keys of the session and no privileges, is in a session of its
//     own without a terminal, and ends when this process ends
//   - gets KILL in place of INT and TERM, with all that it has started
//
// It can't change, remove or make these names of the root, by which it would run programs outside,
// or tell agents what to do: AGENTS.md, .agents, .pawl, .vscode, .envrc, .husky, .git/config,
// .git/hooks, .git/worktrees and .git/modules (so it commits in no linked worktree or submodule),
// .git/config.worktree if it exists or git reads it, and those of Keep. A name that is a symbolic
// link is an error. While a program runs, a name that doesn't exist is an empty directory that
// nobody may write, or an empty file, which git doesn't show; it is removed with the last program
// of the root. If this process is killed, it is left until the next program there has ended.
//
// .git/commondir, and .git/config.worktree where it isn't kept, are removed when a program that has
// made them ends. If this process is killed before that, they stay, and later programs don't remove
// them: git then reads its settings where they say, and runs what these name.
//
// A jail can't hold what people or other programs do later with files of the root, such as running
// a build script that was changed, or git: a program can make a repository in a subdirectory and
// add it to the index of the root, and then git in the root, also git status, runs what its
// settings name. While a program runs, a file that another program replaces, as "git config" does
// with .git/config, isn't kept any more.
//
// It sets no limits on memory or processor time. It is as strong as the kernel.
//
// A Jail is safe for concurrent use, and mustn't be changed once it is used.
type Jail struct {
	// Read are absolute paths that programs can read, too, such as the directory of a compiler
	// outside of /usr, or a settings file without secrets. Those that don't exist are left out.
	Read []string
	// Write are absolute paths that programs can also write, such as that of a build cache of their
	// own. What programs outside of the jail use would carry what was written there.
	Write []string
	// Keep are more names below the root that programs can't change or make.
	Keep []string
	// Network says that programs have the network of this machine. They then reach all that listens
	// on it, on loopback and on abstract sockets, too.
	Network bool

	mu     sync.Mutex           // guards what follows
	roots  map[string]*jailRoot // where programs run, by root
	worked map[string]bool      // by root: Try had no error
}

// A jailRoot is a directory in which programs run.
type jailRoot struct {
	lock *os.File // of the directory
	runs int
	// foreign are those of the unkept names that were there before.
	foreign map[string]bool
}

// keptNames are the names that programs can't change.
var keptNames = []string{"AGENTS.md", ".agents", ".pawl", ".vscode", ".envrc", ".husky", ".git/config", ".git/hooks",
	".git/worktrees", ".git/modules"}

// commonDir would make git read settings and hooks elsewhere. It can't be kept by an empty
// directory or file, with which git fails.
const commonDir = ".git/commondir"

// configWorktree has more settings, if .git/config says so. It can be kept by an empty file.
const configWorktree = ".git/config.worktree"

// unkept are the names that are removed, unless they are kept or were there before.
var unkept = []string{commonDir, configWorktree}

// names returns the names that are kept for a root.
func (j *Jail) names(r *os.Root) []string {
	names := slices.Concat(keptNames, j.Keep)
	_, err := r.Lstat(configWorktree)
	config, _ := r.ReadFile(".git/config")
	if err == nil || bytes.Contains(bytes.ToLower(config), []byte("worktreeconfig")) {
		names = append(names, configWorktree)
	}
	return names
}

// etc are the files of /etc that programs can read.
var etc = strings.Fields("alternatives ca-certificates ca-certificates.conf crypto-policies gai.conf group host.conf " +
	"hosts ld.so.cache ld.so.conf ld.so.conf.d locale.alias localtime mime.types nsswitch.conf os-release passwd pki " +
	"protocols resolv.conf services ssl/certs ssl/openssl.cnf timezone")

// Try runs the program "true" in the jail, with a directory as the root of its [Command]. The error
// says why the jail doesn't work: bubblewrap isn't installed, the system doesn't permit it, or a
// name of the root can't be kept. A [Tool] tries its jail, too, unless that was done here.
func (j *Jail) Try(root string) error {
	p, err := Lookup("true")
	if err != nil {
		return err
	}
	_, err = Run(context.Background(), Command{Path: p.Path, Root: root, Env: SafeEnv(), Timeout: trialTime, Extend: -1,
		Jail: j})
	if err == nil {
		j.mu.Lock()
		defer j.mu.Unlock()
		if j.worked == nil {
			j.worked = make(map[string]bool)
		}
		j.worked[root] = true
	}
	return err
}

// tryOnce is Try, unless that had no error before.
func (j *Jail) tryOnce(root string) error {
	j.mu.Lock()
	worked := j.worked[root]
	j.mu.Unlock()
	if worked {
		return nil
	}
	return j.Try(root)
}

// doesntWork returns the error for a jail that can't be set up.
func doesntWork(why string, err error) error {
	return fault.NewFixable("process: the jail doesn't work: "+why,
		"install bubblewrap and permit user namespaces, or run programs without a jail", err)
}

// setup returns what bubblewrap is told about the system, before the root of the command.
func (j *Jail) setup(cmd *Command) (words []string, err error) {
	words = strings.Fields("--unshare-all --die-with-parent --new-session --cap-drop ALL --hostname jail " +
		"--dev /dev --proc /proc --remount-ro /proc --tmpfs /tmp --tmpfs /run --tmpfs /var --ro-bind /usr /usr")
	if j.Network {
		words = append(words, "--share-net")
	}
	if !slices.ContainsFunc(cmd.Set, func(kv string) bool { return strings.HasPrefix(kv, "TMPDIR=") }) {
		words = append(words, "--setenv", "TMPDIR", "/tmp")
	}
	seen := []string{"/usr"} // what a program can read
	libraries, _ := filepath.Glob("/lib*")
	for _, dir := range append(libraries, "/bin", "/sbin") {
		if to, err := os.Readlink(dir); err == nil {
			words = append(words, "--symlink", to, dir)
		} else if isDir(dir) {
			words, seen = append(words, "--ro-bind", dir, dir), append(seen, dir)
		}
	}
	for _, name := range etc {
		words = append(words, "--ro-bind-try", "/etc/"+name, "/etc/"+name)
	}
	for _, more := range slices.Concat(j.Read, j.Write) {
		if !filepath.IsAbs(more) || filepath.Clean(more) != more || more == "/" {
			return nil, refuse(fault.Invalid, "the path %q of a Jail isn't an absolute plain path below /", more)
		}
	}
	seen = append(append(seen, j.Read...), append(j.Write, cmd.Root)...)
	for _, dir := range j.Read {
		words = append(words, "--ro-bind-try", dir, dir)
	}
	if !slices.ContainsFunc(seen, func(dir string) bool { return strings.HasPrefix(cmd.Path, dir+"/") }) {
		words = append(words, "--ro-bind", cmd.Path, cmd.Path)
	}
	for _, dir := range j.Write {
		words = append(words, "--bind", dir, dir)
	}
	return words, nil
}

// keep makes the names that are kept, and returns what bubblewrap is told about the root. The
// directories that lead to names are mounted themselves, so that they can't be renamed.
func (j *Jail) keep(r *os.Root, root string) (words []string, err error) {
	mounts := map[string]string{".": "--bind"} // by name
	for _, name := range j.names(r) {
		if !filepath.IsLocal(name) || path.Clean(name) != name || name == "." {
			return nil, refuse(fault.Invalid, "the name %q of Jail.Keep isn't a plain name below the root", name)
		}
		parts := strings.Split(name, "/")
		for i := range parts {
			at := path.Join(parts[:i+1]...)
			last, err := keptAs(r, at, i == len(parts)-1)
			if errors.Is(err, fs.ErrPermission) { // programs can't make it, either
				break
			} else if err != nil {
				return nil, err
			}
			if last {
				mounts[at] = "--ro-bind"
				break
			} else if mounts[at] == "" {
				mounts[at] = "--bind"
			}
		}
	}
	names := make([]string, 0, len(mounts))
	for at := range mounts {
		names = append(names, at)
	}
	slices.Sort(names) // what contains others comes first
	for _, at := range names {
		if above := path.Dir(at); above != "." && mounts[above] == "--ro-bind" {
			mounts[at] = "--ro-bind"
		}
		full := filepath.Join(root, at)
		words = append(words, mounts[at], full, full)
	}
	return append(words, "--remount-ro", "/"), nil
}

// keptAs makes sure that a name of the root exists, and reports whether it can't be written: it is
// the last of a path, or nothing is below it. The error is fs.ErrPermission if programs can't make
// the name, either.
func keptAs(r *os.Root, at string, last bool) (bool, error) {
	info, err := r.Lstat(at)
	if errors.Is(err, fs.ErrNotExist) {
		err = hold(r, at)
		if err == nil || errors.Is(err, fs.ErrExist) {
			info, err = r.Lstat(at)
		}
	}
	switch {
	case errors.Is(err, syscallReadOnly):
		return false, fs.ErrPermission
	case errors.Is(err, fs.ErrPermission):
		dir := path.Dir(at)
		if above, serr := r.Stat(dir); serr == nil && ofAnother(above) {
			return false, fs.ErrPermission
		}
		return false, fault.NewFixable(fmt.Sprintf("process: %s can't be kept: programs could permit themselves to "+
			"write the directory %q", at, filepath.Join(r.Name(), dir)), "run chmod u+rwx on it", nil)
	case err != nil:
		return false, fmt.Errorf("process: %s can't be kept: %w", at, err)
	case info.Mode().Type() == fs.ModeSymlink:
		return false, doesntWork(at+" is a symbolic link, which can't be kept from being replaced", nil)
	}
	return last || !info.IsDir() || isPlaceholder(at, info), nil
}

// The permissions of an empty directory, and of an empty file for configWorktree, that keep a name
// which doesn't exist.
const (
	placeholder     = 0o500
	placeholderFile = 0o400
)

// hold makes what keeps a name.
func hold(r *os.Root, at string) error {
	if at != configWorktree {
		return r.Mkdir(at, placeholder)
	}
	f, err := r.OpenFile(at, os.O_CREATE|os.O_EXCL|os.O_RDONLY, placeholderFile)
	if err == nil {
		err = f.Close()
	}
	return err
}

func isPlaceholder(at string, info fs.FileInfo) bool {
	if at == configWorktree {
		return info.Mode() == placeholderFile && info.Size() == 0
	}
	return info.IsDir() && info.Mode().Perm() == placeholder
}

// clear removes what keeps names, if it is still empty.
func (j *Jail) clear(r *os.Root) {
	for _, name := range j.names(r) {
		for at := name; at != "."; at = path.Dir(at) {
			if info, err := r.Lstat(at); err == nil && isPlaceholder(at, info) {
				_ = r.Remove(at) // it fails if something is in it
			}
		}
	}
}
