package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// An editor speaks the protocol with the program.
type editor struct {
	t   *testing.T
	out io.Writer
	in  *bufio.Scanner
	id  int
}

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

func (e *editor) send(msg m) {
	e.t.Helper()
	msg["jsonrpc"] = "2.0"
	raw, err := json.Marshal(msg)
	require.NoError(e.t, err)
	_, err = e.out.Write(append(raw, '\n'))
	require.NoError(e.t, err)
}

// call calls a method. Requests of the agent are passed to asked.
func (e *editor) call(method string, params m, asked func(message)) json.RawMessage {
	e.t.Helper()
	e.id++
	e.send(m{"id": e.id, "method": method, "params": params})
	for e.in.Scan() {
		var msg message
		require.NoError(e.t, json.Unmarshal(e.in.Bytes(), &msg), "%s", e.in.Bytes())
		switch {
		case msg.Method != "" && msg.ID != nil:
			asked(msg)
		case msg.Method == "":
			require.Nil(e.t, msg.Error, "%s", msg.Error)
			return msg.Result
		}
	}
	require.Fail(e.t, "the program has ended")
	return nil
}

// An editor works in a folder of its own, gives the approval, and the page shows the same session.
func TestAnEditorAndThePageShareASession(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", "")
	p := newProgram(t, say(write("a.go"), "Done.", write("b.go"), "Done, too."))
	o, err := readOptions([]string{"-acp", "-web", "-addr", "127.0.0.1:0"}, io.Discard)
	require.NoError(t, err)
	o.scripted = p.model
	in, toProgram := io.Pipe()
	fromProgram, out := io.Pipe()
	errs := newScreen()
	var working sync.WaitGroup
	working.Go(func() {
		code, err := o.start(t.Context(), func(string) string { return "" }, in, out, errs)
		require.NoError(t, err)
		require.Zero(t, code)
		out.Close()
	})
	defer working.Wait()
	defer http.DefaultClient.CloseIdleConnections()
	defer toProgram.Close()
	e := &editor{t: t, out: toProgram, in: bufio.NewScanner(fromProgram)}
	e.call("initialize", m{"protocolVersion": 1}, nil)
	var made struct{ SessionID string }
	require.NoError(t, json.Unmarshal(e.call("session/new", m{"cwd": p.dir, "mcpServers": []m{}}, nil), &made))
	prompt := m{"sessionId": made.SessionID, "prompt": []m{{"type": "text", "text": "Do it."}}}
	e.call("session/prompt", prompt, func(msg message) {
		require.Equal(t, "session/request_permission", msg.Method)
		var asked struct {
			Options []struct{ OptionID, Kind string }
		}
		require.NoError(t, json.Unmarshal(msg.Params, &asked))
		require.Equal(t, "allow_once", asked.Options[0].Kind)
		e.send(m{"id": msg.ID, "result": m{"outcome": m{"outcome": "selected", "optionId": asked.Options[0].OptionID}}})
	})
	require.FileExists(t, filepath.Join(p.dir, "a.go"))

	page := site{t, errs.shows(t, address)}
	e.call("session/prompt", prompt, func(msg message) { // the page is quicker
		if msg.Method == "session/request_permission" {
			decision := m{"id": page.pending(made.SessionID)[0], "decision": "approve"}
			require.Equal(t, http.StatusAccepted, page.post("sessions/decide", "", m{"session": made.SessionID,
				"decisions": []m{decision}}))
			e.send(m{"id": msg.ID, "result": m{"outcome": m{"outcome": "cancelled"}}})
		}
	})
	require.FileExists(t, filepath.Join(p.dir, "b.go"))
}
