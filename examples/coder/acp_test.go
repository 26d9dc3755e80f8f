package main

import (
	"bufio"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// edit starts the program for an editor, as a process, and begins as Zed does. kill ends it with
// SIGKILL.
func (w *world) edit() (e *editor, kill func()) {
	w.t.Helper()
	cmd := exec.Command(executable(w.t), "-acp")
	cmd.Env = w.env()
	in, err := cmd.StdinPipe()
	require.NoError(w.t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(w.t, err)
	require.NoError(w.t, cmd.Start())
	kill = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	w.t.Cleanup(kill)
	e = &editor{t: w.t, out: in, in: bufio.NewScanner(out)}
	e.call("initialize", m{"protocolVersion": 1, "_meta": m{"zed": true}, "clientCapabilities": m{
		"fs": m{"readTextFile": true, "writeTextFile": true}, "terminal": true, "_meta": m{"terminal_output": true}},
		"clientInfo": m{"name": "zed", "title": "Zed", "version": "0.300.0"}}, nil)
	e.send(m{"method": "_zed/unheard_of", "params": m{}}) // a notification
	return e, kill
}

func (w *world) setup() m {
	server := m{"name": "docs", "command": "/bin/false", "args": []string{}, "env": []m{{"name": "A", "value": "b"}}}
	return m{"cwd": w.dir, "mcpServers": []m{server}, "_meta": m{"tab": 1}}
}

func prompt(session, text string) m {
	return m{"sessionId": session, "prompt": []m{{"type": "text", "text": text, "annotations": nil}}, "_meta": nil}
}

// asked waits until the program asks for permission.
func (e *editor) asked() message {
	e.t.Helper()
	for e.in.Scan() {
		var msg message
		require.NoError(e.t, json.Unmarshal(e.in.Bytes(), &msg))
		if msg.Method == "session/request_permission" {
			return msg
		}
	}
	require.Fail(e.t, "the program has ended")
	return message{}
}

// allow answers a request with its first option.
func (e *editor) allow(msg message) {
	e.send(m{"id": msg.ID, "result": m{"outcome": m{"outcome": "selected", "optionId": "0"}}})
}

// says waits until the model has said a text.
func (e *editor) says(text string) {
	e.t.Helper()
	said := ""
	for !strings.Contains(said, text) && e.in.Scan() {
		var msg struct {
			Params struct {
				Update struct{ Content json.RawMessage }
			}
		}
		require.NoError(e.t, json.Unmarshal(e.in.Bytes(), &msg))
		var block struct{ Text string }
		_ = json.Unmarshal(msg.Params.Update.Content, &block) // that of a call is a list
		said += block.Text
	}
	require.Contains(e.t, said, text)
}

// The program is killed while an editor is asked. Started again, it asks again; so it does about
// what was asked in a terminal.
func TestAnApprovalInAnEditorOutlivesTheProgram(t *testing.T) {
	w := newWorld(t, shop(), script(map[string][]turn{"Change": {change, say1("It is two.")},
		"Create": {create, say1("It is there.")}, "Commit": {commit, say1("It is done.")}}))
	e, kill := w.edit()
	var made struct {
		SessionID string
		Modes     struct{ CurrentModeID string }
	}
	require.NoError(t, json.Unmarshal(e.call("session/new", w.setup(), nil), &made))
	require.Equal(t, "ask", made.Modes.CurrentModeID)
	e.id++
	e.send(m{"id": e.id, "method": "session/prompt", "params": prompt(made.SessionID, "Change a.go.")})
	require.Contains(t, string(e.asked().Params), `// A is one.\nconst A = 1\n","path"`)
	kill()
	require.Equal(t, a1, w.read("a.go"))

	e, kill = w.edit()
	load := w.setup()
	load["sessionId"] = made.SessionID
	var again *message
	e.call("session/load", load, func(msg message) { again = &msg })
	if again == nil {
		msg := e.asked()
		again = &msg
	}
	e.allow(*again)
	e.says("It is two.")
	require.Equal(t, a2, w.read("a.go"))

	var ended struct{ StopReason string }
	require.NoError(t, json.Unmarshal(e.call("session/new", w.setup(), nil), &made))
	require.NoError(t, json.Unmarshal(e.call("session/prompt", prompt(made.SessionID, "Commit."), func(msg message) {
		e.send(m{"method": "session/cancel", "params": m{"sessionId": made.SessionID}})
		e.send(m{"id": msg.ID, "result": m{"outcome": m{"outcome": "cancelled"}}})
	}), &ended))
	require.Equal(t, "cancelled", ended.StopReason)
	kill()

	// In a terminal, without -db, the conversations of the folder are the same ones.
	cmd := exec.Command(executable(t), "-dir", w.dir, "-session", "s-2", "-mode", "ask", "-p", "Create b.go.")
	cmd.Env = w.env()
	out, err := cmd.CombinedOutput()
	require.Equal(t, 3, cmd.ProcessState.ExitCode(), "%v %s", err, out)
	e, kill = w.edit()
	load["sessionId"], again = "s-2", nil
	e.call("session/load", load, func(msg message) { again = &msg })
	if again == nil {
		msg := e.asked()
		again = &msg
	}
	e.allow(*again)
	e.says("It is there.")
	kill()
	require.Equal(t, b1, w.read("b.go"))
	found, err := filepath.Glob(filepath.Join(w.at, "home", "*", "*", "*", "runs.db"))
	require.NoError(t, err)
	require.Len(t, found, 1)
	w.db = found[0]
	w.once(map[string]int{"file.edit": 1, "file.write": 1})
	require.Equal(t, "first", w.git("log", "--format=%s"))
}
