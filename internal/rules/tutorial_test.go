package rules

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/stream/sse"
)

// The tutorial is a page of stages: the first program, and the difference of each later one to the
// one before. Its programs are files.
const (
	tutorialPage = "docs/tutorial.md"
	tutorial     = "examples/tutorial"
)

// A stage is a program of the tutorial, with what the page says of it.
type stage struct {
	name string // of its folder
	text string // of its main.go
	code block  // go for the first, diff for the others
	runs []block
}

// stages returns the programs of the tutorial in their order.
func stages(t *testing.T) (list []stage) {
	t.Helper()
	folders, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(tutorial), "[0-9]*"))
	require.NoError(t, err)
	for _, folder := range folders {
		text, err := os.ReadFile(filepath.Join(folder, "main.go"))
		require.NoError(t, err)
		list = append(list, stage{name: filepath.Base(folder), text: string(text)})
	}
	n := -1
	for _, b := range blocksOf(t, tutorialPage) {
		switch b.language {
		case "go", "diff":
			n++
			require.Less(t, n, len(list), "%s: there is no such stage", b.where())
			list[n].code = b
		case "text":
			require.GreaterOrEqual(t, n, 0, b.where())
			list[n].runs = append(list[n].runs, b)
		}
	}
	require.Len(t, list, n+1, "a stage isn't on the page")
	return list
}

func TestTheTutorialShowsItsFiles(t *testing.T) {
	before := ""
	for i, s := range stages(t) {
		if i == 0 {
			require.Equal(t, s.text, s.code.text, s.code.where())
		} else {
			after, err := patched(before, s.code.text)
			require.NoError(t, err, s.code.where())
			require.Equal(t, s.text, after, "%s isn't what diff -U2 says of the two files, from its third line on",
				s.code.where())
		}
		require.NotEmpty(t, s.runs, "%s: what does the program print?", s.code.where())
		before = s.text
	}
}

// patched applies a unified diff without file names.
func patched(text, diff string) (string, error) {
	lines := strings.SplitAfter(text, "\n")
	var out strings.Builder
	done := 0 // lines of text that were copied or left out
	for line := range strings.Lines(diff) {
		switch kind, rest := line[0], line[1:]; {
		case kind == '@':
			var from int
			if _, err := fmt.Sscanf(line, "@@ -%d", &from); err != nil || from <= done || from > len(lines) {
				return "", fmt.Errorf("%q is out of place", line)
			}
			out.WriteString(strings.Join(lines[done:from-1], ""))
			done = from - 1
		case kind == '+':
			out.WriteString(rest)
		case done == len(lines) || lines[done] != rest:
			return "", fmt.Errorf("the program before has no %q at line %d", rest, done+1)
		default:
			if kind == ' ' {
				out.WriteString(rest)
			}
			done++
		}
	}
	return out.String() + strings.Join(lines[done:], ""), nil
}

// runTutorial runs the stages, which are programs of the binary, and compares what they print.
func runTutorial(t *testing.T, all string) {
	t.Helper()
	for _, s := range stages(t) {
		dir := t.TempDir() // the runs of a stage share its files
		for _, b := range s.runs {
			cmd := exec.CommandContext(t.Context(), all, s.name)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "PAWL_MODEL=standin", "LISTEN=127.0.0.1:0", "GORACE=atexit_sleep_ms=0")
			if strings.Contains(b.text, "\n> ") {
				same(t, &b, served(t, cmd, b.text))
				continue
			}
			if strings.Contains(b.text, "(y/n)") {
				cmd.Stdin = strings.NewReader("y\n")
			}
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s: %s", b.where(), out)
			same(t, &b, string(out))
		}
	}
}

// same compares what a program printed with the page, and goes on: a change concerns several.
func same(t *testing.T, want *block, printed string) {
	t.Helper()
	if want.text != printed {
		t.Errorf("%s says:\n%sThe program prints:\n%s", want.where(), want.text, printed)
	}
}

// served starts a server that prints its address, makes the requests of a transcript, and returns
// the transcript as it was. $PAUSE is the id of the newest pause.
func served(t *testing.T, cmd *exec.Cmd, transcript string) string {
	t.Helper()
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	require.NoError(t, cmd.Start())
	url, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		_ = cmd.Wait() // then stderr is complete
		t.Fatal(err, stderr.String())
	}
	url = strings.TrimSpace(url)
	out, pause := "http://127.0.0.1:8080/\n", ""
	for line := range strings.Lines(transcript) {
		request, ok := strings.CutPrefix(line, "> ")
		if !ok {
			continue
		}
		out += line
		method, path, _ := strings.Cut(strings.TrimSpace(request), " ")
		path, body, _ := strings.Cut(path, " ")
		ctx, cancel := context.WithCancel(t.Context())
		req, err := http.NewRequestWithContext(ctx, method, url+path,
			strings.NewReader(strings.ReplaceAll(body, "$PAUSE", pause)))
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("X-Auth-Request-User", "ann")
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		if strings.HasPrefix(path, "events?") {
			out += told(t, res.Body, &pause)
		} else {
			out += res.Status + "\n"
		}
		cancel()
		require.NoError(t, res.Body.Close())
	}
	http.DefaultClient.CloseIdleConnections()
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	require.NoError(t, cmd.Wait(), stderr.String())
	return out
}

// told returns the facts of a run in short, up to its end.
func told(t *testing.T, body io.Reader, pause *string) (out string) {
	t.Helper()
	for r := sse.NewReader(body, 0); ; {
		ev, err := r.Next()
		require.NoError(t, err)
		one, err := agent.UnmarshalEvent(ev.Data)
		require.NoError(t, err)
		kind, line := "", ""
		switch one := one.(type) {
		case *agent.ToolStarted:
			kind, line = "tool_started", one.Call.Name+" "+string(one.Call.Input)
		case *agent.Replied:
			kind, line = "replied", one.Message.Text()
		case *agent.Suspended:
			*pause, kind, line = one.Pause.ID, "suspended", one.Pause.Title
		case *agent.RunEnded:
			return out + ev.ID + " run_ended " + strings.TrimSpace(string(one.Status)+" "+one.Code) + "\n"
		default:
			continue
		}
		if line != "" {
			out += ev.ID + " " + kind + " " + line + "\n"
		}
	}
}
