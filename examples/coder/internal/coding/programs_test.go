package coding_test

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/examples/coder/internal/coding"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// typing is a model that runs these commands, one after the other.
func typing(lines []string) (steps []providertest.Step) {
	for _, line := range lines {
		steps = append(steps, cmd(strings.Fields(line)...))
	}
	return append(steps, providertest.Say("Done."))
}

// Only commands run that write nowhere else and run no other program.
func TestCommandsThatNeverRun(t *testing.T) {
	lines := []string{
		"go", "go get example.org/x@latest", "go generate ./...", "go env -w GOFLAGS=-exec=sh", "go mod edit",
		"go mod", "go test -exec=sh ./...", "go test --exec sh", "go test -toolexec=sh", "go test -o /tmp/x ./...",
		"go test -coverprofile=/tmp/x", "go vet -vettool=/tmp/x", "go build -ldflags=-extld=sh",
		"go build -overlay=x", "go test /etc", "go test ../other", "go run example.org/x@latest",
		"go test -C /tmp", "go tool cover", "git", "git push", "git -c alias.p=push p", "git --git-dir=x status",
		"git config user.name x", "git diff --output=x", "git diff --ext-diff",
		"git diff --no-index /etc/passwd x", "git diff /etc/passwd", "git log --exec=x", "git show --textconv",
		"git commit --amend", "git commit --no-verify -m x", "git add ../x", "git checkout .", "git reset --hard",
		"git clean -fd", "git fetch", "git stash",
	}
	dir, db := project(t)
	c := open(t, coding.Config{Dir: dir, DB: db, Model: providertest.Script(typing(lines)...)})
	limits := agent.Limits{Failures: -1, ToolFailures: -1}
	res, pending := do(t, c, agent.Input{Session: "s-1", Prompt: "Do it.", Mode: "auto", Limits: &limits})
	require.Empty(t, pending)
	for i, r := range results(res) {
		require.Contains(t, r, "The call wasn't run", lines[i])
	}
	require.Len(t, results(res), len(lines))
}

func TestCommandsOfEverydayWorkRun(t *testing.T) {
	lines := []string{"go vet ./...", "go test -count=1 -run=^TestX$ -v ./...", "go test -count 1 .", "go build ./...",
		"go version", "go list -json ./...", "go doc fmt.Println", "git log --oneline -5", "git diff --stat -- cart.go"}
	dir, db := project(t)
	c := open(t, coding.Config{Dir: dir, DB: db, Model: providertest.Script(typing(lines)...)})
	res, pending := do(t, c, agent.Input{Session: "s-1", Prompt: "Do it.", Mode: "auto"})
	require.Empty(t, pending)
	for i, r := range results(res) {
		require.Contains(t, r, "exit code", lines[i])
	}
	require.Len(t, results(res), len(lines))
}

// What a test prints is cut for the model, which reads the rest from a file: without secrets, and
// git ignores it.
func TestAllOfALongOutputCanBeRead(t *testing.T) {
	dir, db := project(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".env"), []byte("KEY=sk-1234567890\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "long_test.go"), []byte(`package shop

import (
	"fmt"
	"testing"
)

func TestLong(t *testing.T) {
	for n := range 3000 {
		fmt.Println("line", n, "of the output")
		if n == 1500 {
			fmt.Println("sk-1234567890")
		}
	}
	t.Fatal("wrong")
}
`), 0o600))
	require.NoError(t, exec.Command("git", "init", "-q", dir).Run())
	n, name := 0, ""
	model := providertest.Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
		last := req.Messages[len(req.Messages)-1].Parts[0].Result
		calls := []*provider.ToolCall{{Name: "run", Input: []byte(`{"program":"go","args":["test","-run=Long","."]}`)},
			{Name: "file.read"}, {Name: "look", Input: []byte(`{"program":"git","args":["status","--short"]}`)}}
		if n == len(calls) {
			return &provider.Response{Parts: tools.Text("It fails.").Parts, Stop: provider.StopDone}, nil
		}
		if n == 1 {
			_, rest, _ := strings.Cut(last.Text(), "all of it is in the file ")
			name, _, _ = strings.Cut(rest, "\n")
			calls[n].Input = fmt.Appendf(nil, `{"path":%q,"offset":1500,"limit":5}`, name)
		}
		call := calls[n]
		call.ProviderID = fmt.Sprint("call-", n)
		n++
		return &provider.Response{Parts: []provider.Part{{Kind: provider.PartToolCall, Call: call}},
			Stop: provider.StopToolCalls}, nil
	})
	c := open(t, coding.Config{Dir: dir, DB: db, Model: model})
	res, pending := do(t, c, agent.Input{Session: "s-1", Prompt: "Test it.", Mode: "auto"})
	require.Empty(t, pending)
	all := results(res)
	require.Contains(t, all[0], "exit code 1; the output has 30")
	require.Contains(t, name, ".coder/output/go-")
	require.Contains(t, all[1], "line 1500 of the output")
	require.Contains(t, all[1], "[hidden]")
	require.NotContains(t, all[2], ".coder")
}

// A program of the name bwrap takes the place of the jail: what it is told is looked at.
func TestProgramsRunInAJailIfThatIsAskedFor(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("bubblewrap is for Linux")
	}
	dir, db := project(t)
	bin, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	said := filepath.Join(bin, "said")
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	script := "#!/bin/sh\necho \"$@\" >>" + said + "\nwhile [ \"$1\" != -- ]; do shift; done\nshift\nexec \"$@\"\n"
	require.NoError(t, os.WriteFile(filepath.Join(bin, "bwrap"), []byte(script), 0o755))
	c := open(t, coding.Config{Dir: dir, DB: db, Jail: true, Model: providertest.Script(cmd("go", "version"),
		providertest.Say("Done."))})
	res, _ := do(t, c, agent.Input{Session: "s-1", Prompt: "Do it."})
	require.Contains(t, results(res)[0], "exit code 0")
	text, err := os.ReadFile(said)
	require.NoError(t, err)
	require.Contains(t, string(text), "--unshare-all --ro-bind / /")
	require.Contains(t, string(text), "--bind "+dir+" "+dir)

	require.NoError(t, os.WriteFile(filepath.Join(bin, "bwrap"), []byte("#!/bin/sh\nexit 1\n"), 0o755))
	require.ErrorContains(t, refused(t, coding.Config{Dir: dir, DB: db, Jail: true}), "jail")
	t.Setenv("PATH", bin[:1])
	_, db = project(t)
	require.ErrorContains(t, refused(t, coding.Config{Dir: dir, DB: db, Jail: true}), "bwrap")
}

var jail = flag.Bool("jail", false, "try to get out of the jail")

// The jail itself: a program that tries to get out.
func TestAProgramDoesntGetOutOfTheJail(t *testing.T) {
	if !*jail {
		t.Skip("-jail: it needs bubblewrap, and compiles the standard library")
	}
	dir, db := project(t)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, ".git", "hooks"), 0o755))
	home, err := os.UserHomeDir()
	require.NoError(t, err)
	outside := filepath.Join(filepath.Dir(db), "x")
	program := fmt.Sprintf("package main\n\nimport (\n\t\"fmt\"\n\t\"net\"\n\t\"os\"\n)\n\nfunc main() {\n"+
		"\tlist, _ := os.ReadDir(%q)\n\tfor _, e := range list {\n\t\tfmt.Println(\"home\", e.Name())\n\t}\n"+
		"\t_ = os.WriteFile(%q, nil, 0o644)\n\tfmt.Println(os.WriteFile(\".git/hooks/x\", nil, 0o755) == nil)\n"+
		"\t_, err := net.Dial(\"tcp\", %q)\n\tfmt.Println(err == nil, os.WriteFile(\"made\", nil, 0o644) == nil)\n}\n",
		home, outside, "127.0.0.1:"+port(t))
	require.NoError(t, os.Remove(filepath.Join(dir, "cart.go")))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(program), 0o644))
	c := open(t, coding.Config{Dir: dir, DB: db, Jail: true, Model: providertest.Script(cmd("go", "run", "."),
		providertest.Say("Done."))})
	res, _ := do(t, c, agent.Input{Session: "s-1", Prompt: "Do it.", Mode: "auto"})
	require.Contains(t, results(res)[0], "false\nfalse true\n")
	require.NotContains(t, results(res)[0], "home .ssh")
	require.NoFileExists(t, outside)
	require.FileExists(t, filepath.Join(dir, "made"))
}

// port is one of this machine at which somebody listens.
func port(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { listener.Close() })
	_, port, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	return port
}
