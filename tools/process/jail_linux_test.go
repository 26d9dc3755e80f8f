package process_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/process"
)

var jailMust = flag.Bool("jail", false, "make all attempts to get out of a jail, and fail where a jail doesn't work, in "+
	"place of skipping its tests")

// needsJail skips a test where a jail doesn't work.
func needsJail(t *testing.T) {
	t.Helper()
	err := new(process.Jail).Try(folder(t))
	if err != nil && *jailMust {
		require.NoError(t, err)
	} else if err != nil {
		t.Skip("this needs bubblewrap: " + err.Error())
	}
}

// TestTheJailWorksHere is skipped where it doesn't, with what Try says; .ci/run reads that.
func TestTheJailWorksHere(t *testing.T) { needsJail(t) }

// folder returns a new directory by its path without links.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	return dir
}

// fill writes files into a folder; a name with a slash at its end is a directory.
func fill(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		at := filepath.Join(dir, name)
		if strings.HasSuffix(name, "/") {
			require.NoError(t, os.MkdirAll(at, 0o755))
			continue
		}
		require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o755))
		require.NoError(t, os.WriteFile(at, []byte(text), 0o644))
	}
}

// tree returns the names in a folder, and what its files have.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	require.NoError(t, filepath.WalkDir(dir, func(at string, d os.DirEntry, err error) error {
		require.NoError(t, err)
		if text, err := os.ReadFile(at); err == nil {
			all[at[len(dir):]] = string(text)
		} else {
			all[at[len(dir):]] = "/"
		}
		return nil
	}))
	return all
}

// repository are the files of a folder with all that a jail keeps, and without most of it.
var (
	repository = map[string]string{".git/config": "[core]\n", ".git/hooks/pre-commit.sample": "x", ".git/HEAD": "x",
		".git/config.worktree": "[core]\n", ".git/worktrees/w/commondir": "../..\n",
		".git/modules/m/config": "[core]\n", "AGENTS.md": "Write tests.\n", ".agents/skills/": "",
		".pawl/rules.json": "{}", ".vscode/tasks.json": "{}", ".envrc": "x", ".husky/pre-commit": "x",
		"main.go": "package main\n"}
	bare = map[string]string{".git/config": "[extensions]\n\tworktreeConfig = true\n",
		".git/HEAD": "x", "main.go": "package main\n"}
	none = map[string]string{"main.go": "package main\n"}
)

// sample is how many attempts there are for each that is made without -jail.
const sample = 6

func TestNoProgramGetsOutOfTheJail(t *testing.T) {
	needsJail(t)
	home := folder(t)
	fill(t, home, map[string]string{".netrc": "secret"})
	t.Setenv("HOME", home)
	victim := exec.Command(lookup(t, "sleep"), "600")
	require.NoError(t, victim.Start())
	t.Cleanup(func() { _ = victim.Process.Kill(); _ = victim.Wait() })
	outside := folder(t)
	fill(t, outside, map[string]string{"secret": "secret"})
	listens := func(network, address string) string {
		l, err := net.Listen(network, address)
		require.NoError(t, err)
		t.Cleanup(func() { l.Close() })
		return l.Addr().String()
	}
	run := "/run"
	if os.Getuid() != 0 {
		run = os.Getenv("XDG_RUNTIME_DIR")
	}
	if run == "" {
		run = outside
	}
	bus := listens("unix", fmt.Sprintf("%s/jail-test-%d.sock", run, os.Getpid()))
	shm, err := os.CreateTemp("/dev/shm", "jail-test")
	require.NoError(t, err)
	t.Cleanup(func() { shm.Close(); os.Remove(shm.Name()) })
	key := sharedMemory(t)
	inherited, err := syscall.Dup(int(shm.Fd())) // without close-on-exec
	require.NoError(t, err)
	t.Cleanup(func() { syscall.Close(inherited) })
	t.Setenv("JAIL_TEST_SECRET", "secret")
	pid := itoa(victim.Process.Pid)
	secret := filepath.Join(outside, "secret")
	abstract := listens("unix", fmt.Sprintf("@jail-test-%d", os.Getpid()))

	attempts := 0
	for i, e := range []struct {
		name string
		args []string
		// unjailed says that a program without a jail can do it, so that the attempt is a real one.
		unjailed bool
	}{
		{"read", []string{secret}, true},
		{"read", []string{"link"}, true},
		{"read", []string{"/proc/1/root" + secret}, false},
		{"read", []string{"/proc/" + pid + "/root" + secret}, false},
		{"read", []string{"/proc/" + pid + "/environ"}, true},
		{"read", []string{"/etc/shadow"}, false},
		{"list", []string{home}, true},
		{"list", []string{"/dev/shm"}, true},
		{"list", []string{"/run"}, true},
		{"list", []string{"/var"}, true},
		{"list", []string{"/sys"}, true},
		{"connect", []string{"unix", bus}, true},
		{"connect", []string{"unix", abstract}, true},
		{"connect", []string{"tcp", listens("tcp", "127.0.0.1:0")}, true},
		{"bus", nil, true},
		{"connect", []string{"unix", listens("unix", filepath.Join(outside, "sock"))}, true},
		{"signal", []string{pid}, true},
		{"trace", []string{pid}, false},
		{"pidfd", []string{pid}, true},
		{"type", nil, false},
		{"environment", nil, false},
		{"descriptors", nil, false},
		{"memory", []string{itoa(key)}, true},
		{"write", []string{".git/hooks/pre-commit"}, true},
		{"write", []string{".git/config"}, true},
		{"write", []string{".git/hooks"}, false},
		{"write", []string{".git/config.worktree"}, true},
		{"write", []string{".git/worktrees/w/commondir"}, true},
		{"write", []string{".git/worktrees/x/commondir"}, true},
		{"write", []string{".git/modules/m/config"}, true},
		{"write", []string{"AGENTS.md"}, true},
		{"write", []string{".agents/skills/x/SKILL.md"}, true},
		{"write", []string{".pawl/rules.json"}, true},
		{"write", []string{".vscode/tasks.json"}, true},
		{"write", []string{".envrc"}, true},
		{"write", []string{".husky/pre-commit"}, true},
		{"write", []string{"/usr/x"}, false},
		{"write", []string{"/etc/x"}, false},
		{"write", []string{"/x"}, false},
		{"write", []string{self(t)}, false},
		{"open", []string{"/proc/sys/kernel/core_pattern"}, false},
		{"open", []string{"/proc/sys/kernel/hostname"}, false},
		{"open", []string{"/proc/sysrq-trigger"}, false},
		{"replace", []string{"AGENTS.md"}, true},
		{"replace", []string{".git"}, true},
		{"replace", []string{".git/hooks"}, true},
		{"replace", []string{".git/config"}, true},
		{"replace", []string{".git/config.worktree"}, true},
		{"replace", []string{".git/worktrees"}, true},
		{"linkto", []string{".git/config.worktree"}, true},
		{"replace", []string{".vscode"}, true},
		{"replace", []string{"."}, false},
		{"linkto", []string{".envrc"}, true},
		{"linkto", []string{secret}, false},
		{"mode", []string{".git/hooks"}, true},
		{"mount", []string{".git/config"}, false},
		{"unmount", []string{".git/config"}, false},
		{"unshare", []string{".git/config"}, false},
		{"device", nil, false},
		{"root", nil, false},
		{"privileges", nil, false},
	} {
		if !*jailMust && i%sample != 0 {
			continue
		}
		folders := []map[string]string{repository}
		if slices.Contains([]string{"write", "replace", "linkto"}, e.name) {
			folders = append(folders, bare, none)
		}
		for _, files := range folders {
			attempt := func(jail *process.Jail) (process.Result, string) {
				dir := folder(t)
				fill(t, dir, files)
				require.NoError(t, os.Symlink(secret, filepath.Join(dir, "link")))
				cmd := command(t, "escape", append([]string{e.name}, e.args...)...)
				cmd.Root, cmd.Jail, cmd.Env = dir, jail, append(cmd.Env, "DBUS_SESSION_BUS_ADDRESS=unix:path="+bus)
				before := tree(t, dir)
				res, err := process.Run(t.Context(), cmd)
				require.NoError(t, err, "%s %q: %s", e.name, e.args, res.Output)
				if jail != nil {
					require.Equal(t, before, tree(t, dir), "%s %q: %s", e.name, e.args, res.Output)
				}
				return res, fmt.Sprintf("%s %q: %s", e.name, e.args, res.Output)
			}
			attempts++
			res, says := attempt(new(process.Jail))
			require.Equal(t, held, res.ExitCode, says)
			if e.unjailed && len(files) == len(repository) {
				res, says = attempt(nil)
				require.Equal(t, escaped, res.ExitCode, says)
			}
		}
	}
	t.Logf("%d attempts to get out of the jail", attempts)
	require.NoError(t, victim.Process.Signal(syscall.Signal(0)))
	cmd, before := command(t, "escape", "write", filepath.Join(outside, "new")), tree(t, outside)
	cmd.Jail = new(process.Jail)
	_, err = process.Run(t.Context(), cmd)
	require.NoError(t, err)
	require.Equal(t, before, tree(t, outside), "what it writes in /tmp isn't there")
}

// The keys of a session go to all processes that it starts.
func TestProgramsInAJailHaveNoKeys(t *testing.T) {
	needsJail(t)
	cmd := command(t, "keyring")
	cmd.Args, cmd.Env = []string{cmd.Root}, append(cmd.Env, "PATH="+os.Getenv("PATH"))
	res, err := process.Run(t.Context(), cmd)
	require.NoError(t, err)
	if strings.Contains(res.Output, "no keys") {
		t.Skip("this system has " + res.Output)
	}
	require.Equal(t, fmt.Sprintf("%d <nil>\n%d <nil>", escaped, held), strings.TrimSpace(res.Output))
}

func TestProgramsWorkInTheJail(t *testing.T) {
	needsJail(t)
	dir, cache, read := folder(t), folder(t), folder(t)
	fill(t, dir, bare)
	fill(t, read, map[string]string{"compiler": "x"})
	require.NoError(t, os.Mkdir(filepath.Join(dir, "sub"), 0o755))
	jail := &process.Jail{Read: []string{read, "/nowhere"}, Write: []string{cache}, Keep: []string{"ci/steps"}}
	cmd := process.Command{Path: lookup(t, "sh"), Root: dir, Dir: "sub", Env: process.SafeEnv(), Jail: jail}
	sh := func(script string) string {
		cmd.Args = []string{"-c", script}
		res, err := process.Run(t.Context(), cmd)
		require.NoError(t, err)
		require.Equal(t, cmd.Path, res.Program)
		return fmt.Sprint(res.ExitCode, " ", res.Output)
	}
	require.Equal(t, "0 "+dir+"/sub\nx/tmp", sh("pwd; cat " + read + "/compiler; echo $TMPDIR >" + cache + "/made; " +
		"cp " + cache + "/made /tmp/x; echo y >../made; cat /tmp/x")[:len("0 "+dir+"/sub\nx/tmp")])
	require.FileExists(t, filepath.Join(dir, "made"))
	require.FileExists(t, filepath.Join(cache, "made"))
	require.Contains(t, sh("cat /tmp/x"), "1 ", "it is empty again")
	require.Contains(t, sh("echo x >"+read+"/compiler"), "2 ")
	require.Contains(t, sh("mkdir ../ci/steps/a"), "1 ")
	require.Equal(t, "7 ", sh("exit 7"))
	require.NoDirExists(t, filepath.Join(dir, "ci"))
	require.Contains(t, sh("echo x >../.git/index && mv ../.git/index ../.git/x && rm ../.git/x && echo done"), "0 done")
	require.Contains(t, sh("mkdir x && mv x y && cd y && ln -s ../z z && rm z && ls -a .. "), "y")
}

// A repository may be made to read its settings elsewhere.
func TestWhatTheJailCantKeepIsRemoved(t *testing.T) {
	needsJail(t)
	dir := folder(t)
	fill(t, dir, map[string]string{".git/config": "[core]\n"})
	cmd := process.Command{Path: lookup(t, "sh"), Root: dir, Env: process.SafeEnv(), Jail: new(process.Jail),
		Args: []string{"-c", "echo ../evil >.git/commondir; echo '[core]' >.git/config.worktree"}}
	res, err := process.Run(t.Context(), cmd)
	require.NoError(t, err)
	require.Zero(t, res.ExitCode, res.Output)
	require.NoFileExists(t, filepath.Join(dir, ".git/commondir"))
	require.NoFileExists(t, filepath.Join(dir, ".git/config.worktree"))
	fill(t, dir, map[string]string{".git/commondir": "../other", ".git/config.worktree": "[user]\n"})
	res, err = process.Run(t.Context(), cmd)
	require.NoError(t, err)
	require.NotZero(t, res.ExitCode, res.Output)
	require.FileExists(t, filepath.Join(dir, ".git/commondir"), "it was there before")
	text, err := os.ReadFile(filepath.Join(dir, ".git/config.worktree"))
	require.NoError(t, err)
	require.Equal(t, "[user]\n", string(text), "it is kept")
}

// Git reads what keeps names.
func TestGitWorksInTheJailAndBesideIt(t *testing.T) {
	needsJail(t)
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("this needs git")
	}
	dir, jail := folder(t), new(process.Jail)
	const setup = "git init -q && git config core.repositoryformatversion 1 && git config extensions.worktreeConfig true"
	const work = "git add . && git -c user.name=a -c user.email=b commit -qm x && git status --short && git worktree list"
	sh := func(script string, jail *process.Jail) (process.Result, error) {
		return process.Run(t.Context(), process.Command{Path: lookup(t, "sh"), Root: dir, Env: process.SafeEnv(),
			Jail: jail, Args: []string{"-c", script}})
	}
	works := func(jail *process.Jail, file string) {
		fill(t, dir, map[string]string{file: "x"})
		res, err := sh(work, jail)
		require.NoError(t, err)
		require.Zero(t, res.ExitCode, res.Output)
		require.Len(t, strings.Split(strings.TrimSpace(res.Output), "\n"), 1, res.Output)
	}
	res, err := sh(setup, nil)
	require.NoError(t, err)
	require.Zero(t, res.ExitCode, res.Output)
	works(jail, "a")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	cmd := command(t, "stubborn")
	cmd.Root, cmd.Jail = dir, jail
	started, ended := make(chan string, 10), make(chan error, 1)
	cmd.OnOutput = func(text string) { started <- text }
	go func() {
		_, err := process.Run(ctx, cmd)
		ended <- err
	}()
	<-started
	for _, name := range []string{".git/worktrees", ".git/modules", ".git/config.worktree"} {
		_, err := os.Lstat(filepath.Join(dir, name))
		require.NoError(t, err)
	}
	works(nil, "b")
	works(jail, "c")
	stop()
	require.Error(t, <-ended)
	for _, name := range []string{".git/worktrees", ".git/modules", ".git/config.worktree"} {
		_, err := os.Lstat(filepath.Join(dir, name))
		require.ErrorIs(t, err, os.ErrNotExist)
	}
}

// A program could permit itself what this process isn't permitted in a folder of its own.
func TestAJailDoesntLeaveOutWhatAProgramCouldPermitItself(t *testing.T) {
	needsJail(t)
	if os.Getuid() == 0 {
		t.Skip("root is permitted all")
	}
	dir := folder(t)
	fill(t, dir, bare)
	at := filepath.Join(dir, ".git")
	require.NoError(t, os.Chmod(at, 0o555))
	t.Cleanup(func() { _ = os.Chmod(at, 0o755) })
	err := new(process.Jail).Try(dir)
	require.ErrorContains(t, err, ".git/hooks can't be kept")
	require.ErrorContains(t, err, "chmod")
	require.Equal(t, fault.UserFixable, fault.Of(err))
	require.Len(t, tree(t, dir), 5, "nothing is left")
}

func TestAJailKeepsNoLink(t *testing.T) {
	needsJail(t)
	dir := folder(t)
	fill(t, dir, map[string]string{"CLAUDE.md": "x"})
	require.NoError(t, os.Symlink("CLAUDE.md", filepath.Join(dir, "AGENTS.md")))
	err := new(process.Jail).Try(dir)
	require.ErrorContains(t, err, "AGENTS.md is a symbolic link")
	require.Equal(t, fault.UserFixable, fault.Of(err))
	require.Len(t, tree(t, dir), 2+1)
}

// What keeps names stays until the last program of the folder has ended, also one of another
// process, whose locks another Jail stands for.
func TestAJailKeepsNamesUntilItsLastProgramHasEnded(t *testing.T) {
	needsJail(t)
	dir := folder(t)
	one, other := new(process.Jail), new(process.Jail)
	ctx, stop := context.WithCancel(t.Context())
	started, ended := make(chan string, 10), make(chan error, 3)
	for _, jail := range []*process.Jail{one, one, other} {
		cmd := command(t, "stubborn")
		cmd.Root, cmd.Jail = dir, jail
		cmd.OnOutput = func(text string) { started <- text }
		go func() {
			_, err := process.Run(ctx, cmd)
			ended <- err
		}()
	}
	for range 3 {
		require.Contains(t, <-started, "can't stop me")
	}
	sh := process.Command{Path: lookup(t, "sh"), Root: dir, Env: process.SafeEnv(), Jail: one,
		Args: []string{"-c", "rmdir .envrc || echo x >.envrc"}}
	for range 3 {
		res, err := process.Run(t.Context(), sh)
		require.NoError(t, err)
		require.NotZero(t, res.ExitCode)
		require.DirExists(t, filepath.Join(dir, ".envrc"))
	}
	stop()
	for range 3 {
		require.Error(t, <-ended)
	}
	require.Len(t, tree(t, dir), 1, "nothing is left")
}

// Another process that holds a root holds up none of the others, and its own programs not for ever.
func TestAJailDoesntWaitForEverForALock(t *testing.T) {
	needsJail(t)
	locked, free, jail := folder(t), folder(t), new(process.Jail)
	dir, err := os.Open(locked)
	require.NoError(t, err)
	defer dir.Close()
	require.NoError(t, syscall.Flock(int(dir.Fd()), syscall.LOCK_EX))
	ended := make(chan error, 1)
	go func() { ended <- jail.Try(locked) }()
	require.NoError(t, jail.Try(free))
	err = <-ended
	require.ErrorContains(t, err, "another process has locked it")
	require.Equal(t, fault.Transient, fault.Of(err))
	require.Len(t, tree(t, locked), 1)
	cmd := command(t, "stubborn")
	cmd.Root, cmd.Jail = locked, jail
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	res, err := process.Run(ctx, cmd)
	require.True(t, res.Canceled)
	require.ErrorAs(t, err, new(*process.StopError))
	go func() { ended <- jail.Try(locked) }()
	require.NoError(t, syscall.Flock(int(dir.Fd()), syscall.LOCK_UN))
	require.NoError(t, <-ended)
}

// A process that has been killed leaves directories, which the next program removes.
func TestAJailRemovesWhatAKilledProcessLeft(t *testing.T) {
	needsJail(t)
	dir := folder(t)
	fill(t, dir, none)
	for _, name := range []string{"AGENTS.md", ".git", ".vscode"} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o500))
	}
	fill(t, dir, map[string]string{".husky/": ""})
	require.NoError(t, new(process.Jail).Try(dir))
	require.Equal(t, map[string]string{"": "/", "/main.go": "package main\n", "/.husky": "/"}, tree(t, dir))
}

// All that a program has started ends with it, also what leaves its session.
func TestNothingOutlivesTheJail(t *testing.T) {
	needsJail(t)
	cmd := command(t, "leave", "away")
	cmd.Jail = new(process.Jail)
	l := watchLife(t, &cmd)
	cmd.Jail.Write = []string{filepath.Dir(l.path)}
	res, err := process.Run(t.Context(), cmd)
	require.NoError(t, err, res.Output)
	l.born(2)
	l.gone()
}

func TestAToolRunsItsProgramsInTheJail(t *testing.T) {
	needsJail(t)
	cfg := config(t, program(t, "escape"))
	secret := filepath.Join(folder(t), "secret")
	require.NoError(t, os.WriteFile(secret, nil, 0o644))
	input, err := json.Marshal(map[string]any{"program": "escape", "args": []string{"read", secret}})
	require.NoError(t, err)
	code := func() int {
		var res process.Result
		require.NoError(t, json.Unmarshal(open(t, cfg).call(t.Context(), string(input)).Data, &res))
		return res.ExitCode
	}
	require.Equal(t, escaped, code())
	cfg.Jail = new(process.Jail)
	require.Equal(t, held, code())
	cfg.Wrap = prefixed("x")
	_, err = tools.NewRegistry(process.Tool(cfg))
	require.ErrorContains(t, err, "give one of them")
}

func TestAJailThatCantBeSetUpIsAnError(t *testing.T) {
	dir := folder(t)
	for says, jail := range map[string]*process.Jail{
		`the path "x" of a Jail`:       {Read: []string{"x"}},
		`the path "/" of a Jail`:       {Read: []string{"/"}},
		`the path "/a/../b" of a Jail`: {Write: []string{"/a/../b"}},
		`the name "../x" of Jail.Keep`: {Keep: []string{"../x"}},
		`the name "." of Jail.Keep`:    {Keep: []string{"."}},
		"the jail doesn't work":        {Write: []string{"/nowhere/to/write"}},
	} {
		t.Run(says, func(t *testing.T) {
			needsJail(t)
			err := jail.Try(dir)
			require.ErrorContains(t, err, says)
			require.Len(t, tree(t, dir), 1)
		})
	}
	bin := folder(t)
	fake := func(script string) {
		require.NoError(t, os.WriteFile(filepath.Join(bin, "bwrap"), []byte("#!/bin/sh\n"+script+"\n"), 0o755))
	}
	p := os.Getenv("PATH")
	t.Setenv("PATH", bin+string(os.PathListSeparator)+p)
	fake("echo no namespaces >&2; exit 1")
	err := new(process.Jail).Try(dir)
	require.ErrorContains(t, err, "the jail doesn't work: no namespaces")
	require.Equal(t, fault.UserFixable, fault.Of(err))
	fake(`while [ "$1" != -- ]; do shift; done; shift; echo '{"exit-code": 0}' >&3; exec "$@"`)
	require.NoError(t, new(process.Jail).Try(dir))
	require.Len(t, tree(t, dir), 1)
	t.Setenv("PATH", p[:0]+bin)
	require.NoError(t, os.Remove(filepath.Join(bin, "bwrap")))
	require.Error(t, new(process.Jail).Try(dir))
	cmd := process.Command{Path: "/bin/sh", Root: dir, Jail: new(process.Jail), Timeout: time.Second}
	cmd.Path, err = filepath.EvalSymlinks(cmd.Path)
	require.NoError(t, err)
	_, err = process.Run(t.Context(), cmd)
	require.ErrorContains(t, err, "no program bwrap")
}

// What bubblewrap says may be read after the last output.
func TestTheExitCodeOfAJailedProgramMayBeHeardLate(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("this needs setsid")
	}
	dir, bin := folder(t), folder(t)
	script := `setsid sh -c "touch away; sleep 0.3; echo '{\"exit-code\": 7}' >&3" >/dev/null 2>&1 &
		while ! rm away 2>/dev/null; do sleep 0.01; done; exit 7`
	require.NoError(t, os.WriteFile(filepath.Join(bin, "bwrap"), []byte("#!/bin/sh\n"+script+"\n"), 0o755))
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	late := process.Command{Path: lookup(t, "true"), Root: dir, Env: process.SafeEnv(), Jail: new(process.Jail),
		Grace: process.Grace{Late: time.Millisecond}}
	res, err := process.Run(t.Context(), late)
	require.NoError(t, err)
	require.Equal(t, 7, res.ExitCode)
}
