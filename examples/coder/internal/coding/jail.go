package coding

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawlkit/pawl/agent/policy"
	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/process"
)

// What Config.Jail says.
const (
	JailTry  = "try"  // programs run in bubblewrap if that works here; otherwise they ask
	JailMust = "must" // they run in bubblewrap
)

// tryJail tries once whether the jail works, if one is asked for.
func (c *Coder) tryJail() error {
	if c.Jail == "" {
		return nil
	}
	cache := c.beside("go-build") // that of the person would carry what was built here out of the jail
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return err
	}
	jail := &process.Jail{Write: []string{cache}, Read: c.readable()}
	err := jail.Try(c.Dir)
	switch {
	case err == nil:
		c.jail = jail
	case c.Jail == JailMust:
		return err
	default:
		c.NoJail = "Programs run without a jail and ask each time, because " + strings.TrimPrefix(err.Error(), "process: ")
	}
	return nil
}

// withoutJail returns the rule for programs where the jail doesn't work.
func (c *Coder) withoutJail() (list []policy.Rule) {
	if c.NoJail != "" {
		list = append(list, policy.Rule{Effect: tools.Ask, Tool: "run", Why: c.NoJail})
	}
	return list
}

// readable are what programs read beside the system's and the folder: a go that is elsewhere, its
// modules, who commits, and the repository if the folder is within one.
func (c *Coder) readable() (list []string) {
	home, err := os.UserHomeDir()
	if err == nil {
		list = append(list, filepath.Join(home, ".gitconfig"))
	}
	if p, err := process.Lookup("go"); err == nil {
		root := filepath.Dir(filepath.Dir(p.Path))
		if _, err := os.Stat(filepath.Join(root, "pkg", "tool")); err == nil {
			list = append(list, root)
		}
	}
	var modules, path string
	for _, v := range process.SafeEnv() {
		switch name, dir, _ := strings.Cut(v, "="); name {
		case "GOMODCACHE":
			modules = dir
		case "GOPATH":
			path = filepath.Join(append(filepath.SplitList(dir), "")[0], "pkg", "mod")
		}
	}
	if modules = cmp.Or(modules, path); filepath.IsAbs(modules) {
		list = append(list, filepath.Clean(modules))
	}
	top := c.repository()
	if below, err := filepath.Rel(top, home); top != c.Dir && (err != nil || !filepath.IsLocal(below)) {
		list = append(list, top)
	}
	return append(list, elsewhere(top)...)
}

// elsewhere returns where a repository is whose .git is a file, such as that of a worktree.
func elsewhere(top string) []string {
	text, err := os.ReadFile(filepath.Join(top, ".git"))
	dir, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
	if err != nil || !ok {
		return nil
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(top, dir)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "commondir")); err == nil {
		dir = filepath.Join(dir, strings.TrimSpace(string(text)))
	}
	if filepath.Base(dir) != ".git" && filepath.Base(filepath.Dir(dir)) != "modules" {
		return nil // the file may name any folder
	}
	return []string{filepath.Clean(dir)}
}
