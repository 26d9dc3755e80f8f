package process

import (
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
)

// SafeEnv returns the variables that programs get by default: PATH (only its absolute directories),
// LANG, LC_ALL, LC_CTYPE, TZ, TMPDIR and GOMODCACHE of this process (on Windows also SYSTEMROOT,
// PATHEXT, TEMP, TMP, LOCALAPPDATA and USERPROFILE), and TERM=dumb.
//
// The go command builds, vets and tests with them: they have GOCACHE and GOPATH, too, which are
// those of this process or what go takes without them, such as ~/.cache/go-build and ~/go. HOME
// isn't included, because that is where programs look for credentials and for settings that run
// other programs; so go doesn't see what "go env -w" has set.
func SafeEnv() []string { return inherit(safeNames()) }

func safeNames() []string {
	names := []string{"PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "GOCACHE", "GOPATH", "GOMODCACHE"}
	if runtime.GOOS == "windows" {
		names = append(names, "SYSTEMROOT", "PATHEXT", "TEMP", "TMP", "LOCALAPPDATA", "USERPROFILE")
	}
	return names
}

// inherit returns the variables of this process with these names, those of [goDirs], and TERM=dumb.
func inherit(names []string) []string {
	vars := goDirs()
	vars["TERM"] = "dumb"
	for _, name := range names {
		if v, ok := os.LookupEnv(name); ok {
			vars[name] = v
		}
	}
	if path, ok := vars["PATH"]; ok {
		vars["PATH"] = absolutes(path)
	}
	return join(vars)
}

// goDirs returns the directories of the go command that it would take from HOME.
func goDirs() map[string]string {
	vars := make(map[string]string)
	if cache, err := os.UserCacheDir(); err == nil {
		vars["GOCACHE"] = filepath.Join(cache, "go-build")
	}
	if home, err := os.UserHomeDir(); err == nil {
		vars["GOPATH"] = filepath.Join(home, "go")
	}
	return vars
}

// absolutes removes relative directories from a list, which would be relative to the working
// directory.
func absolutes(path string) string {
	list := slices.DeleteFunc(filepath.SplitList(path), func(dir string) bool { return !filepath.IsAbs(dir) })
	return strings.Join(list, string(os.PathListSeparator))
}

// join returns variables as a list, ordered by name.
func join(vars map[string]string) []string {
	list := make([]string, 0, len(vars))
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		list = append(list, name+"="+vars[name])
	}
	return list
}

// checkVar rejects an invalid variable, and one that makes a program load code or run another.
// Those of [steering] pass if the code of the host has written their values (set).
func checkVar(kv string, set bool) error {
	name, _, ok := strings.Cut(kv, "=")
	switch {
	case !ok || name == "":
		return refuse(fault.Invalid, "the variable %.60q isn't NAME=value", kv)
	case strings.IndexByte(kv, 0) >= 0:
		return refuse(fault.Invalid, "the variable %q contains a NUL byte", name)
	case listed(name, prefixes[:], loaders[:]):
		return refuse(fault.Denied,
			"the variable %s makes programs load code or run other programs, so it is never passed to a program", name)
	case !set && listed(name, nil, steering[:]):
		return refuse(fault.Denied,
			"the variable %s can make programs run others, so it is passed only if the host gives its value in Set", name)
	}
	return nil
}

// listed reports whether the name of a variable is in a list, or begins with a prefix.
func listed(name string, prefixes, names []string) bool {
	if runtime.GOOS == "windows" {
		name = strings.ToUpper(name)
	}
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) }) ||
		slices.Contains(names, name)
}

var prefixes = [...]string{"LD_", "DYLD_", "BASH_FUNC_", "GIT_CONFIG"}

// loaders make the dynamic loader, a shell, an interpreter or git load code or run a program, and
// have no use that is safe.
var loaders = [...]string{
	"_JAVA_OPTIONS", "BASH_ENV", "BASHOPTS", "BROWSER", "CDPATH", "COMPlus_StartupHooks", "DOTNET_STARTUP_HOOKS",
	"EDITOR", "ENV",
	"GCONV_PATH", "GETCONF_DIR", "GIT_ASKPASS", "GIT_EDITOR", "GIT_EXEC_PATH", "GIT_EXTERNAL_DIFF", "GIT_PAGER",
	"GIT_PROXY_COMMAND",
	"GIT_SEQUENCE_EDITOR", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_TEMPLATE_DIR", "GLIBC_TUNABLES", "IFS",
	"JAVA_TOOL_OPTIONS",
	"JDK_JAVA_OPTIONS", "LESSCLOSE", "LESSOPEN", "LOCPATH", "MALLOC_TRACE", "NIS_PATH", "NLSPATH", "NODE_OPTIONS",
	"NODE_PATH", "PAGER",
	"PERL5DB", "PERL5LIB", "PERL5OPT", "PERLLIB", "PROMPT_COMMAND", "PS4", "PYTHONBREAKPOINT", "PYTHONHOME",
	"PYTHONINSPECT", "PYTHONPATH",
	"PYTHONSTARTUP", "PYTHONUSERBASE", "PYTHONWARNINGS", "RESOLV_HOST_CONF", "RUBYLIB", "RUBYOPT", "SHELLOPTS",
	"SSH_ASKPASS", "VISUAL",
	"ZDOTDIR",
}

// steering are the variables by which build tools, git, tar and interpreters can be made to run
// other programs, but which hosts also set to restrict or to place them.
var steering = [...]string{
	"AR", "AS", "CARGO_HOME", "CC", "CGO_CFLAGS", "CGO_CPPFLAGS", "CGO_CXXFLAGS", "CGO_LDFLAGS", "CPP", "CXX", "FC",
	"GCCGO", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_DIR", "GIT_INDEX_FILE",
	"GIT_OBJECT_DIRECTORY", "GIT_WORK_TREE",
	"GNUMAKEFLAGS", "GOCACHEPROG", "GOENV", "GOFLAGS", "GOROOT", "GOTOOLDIR", "LD", "LUA_INIT", "MAKEFILES",
	"MAKEFLAGS", "MANPAGER",
	"NODE_REPL_EXTERNAL_MODULE", "PHPRC", "PHP_INI_SCAN_DIR", "PKG_CONFIG", "RSYNC_RSH", "RUSTC", "RUSTC_WRAPPER",
	"RUSTFLAGS", "SHELL", "TAR_OPTIONS", "VIMINIT",
}
