package acp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/coder/acp-go-sdk"
	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/acp"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/memory/recall"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/file"
)

// forever is a model whose reply never ends.
type forever struct{}

func (forever) Stream(ctx context.Context, _ *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		if !yield(provider.Chunk{Kind: provider.KindStart}, nil) {
			return
		}
		for ctx.Err() == nil {
			if !yield(provider.Text("and on "), nil) {
				return
			}
		}
		yield(provider.Chunk{}, context.Cause(ctx))
	}
}

func TestAPromptIsAnsweredWhileTheModelWrites(t *testing.T) {
	model := providertest.Script(
		providertest.Reply(providertest.Think("It is a greeting."), providertest.Say("Hello, Ann.")))
	e, hub := serve(t, agent.Config{Provider: model})
	id := e.begin("/srv/app")
	e.say(id, "Hello!", sdk.StopReasonEndTurn)
	require.Equal(t, "thought: It is a greeting.\nagent: Hello, Ann.", e.screen())
	info, err := hub.Agent().Session(string(id)).Info(t.Context())
	require.NoError(t, err)
	require.Equal(t, "Hello!", info.Title)
}

func TestLinksReachTheModel(t *testing.T) {
	model := providertest.Script(providertest.Say("Seen."))
	e, _ := serve(t, agent.Config{Provider: model})
	r, err := e.conn.Prompt(t.Context(), sdk.PromptRequest{SessionId: e.begin("/srv/app"), Prompt: []sdk.ContentBlock{
		sdk.TextBlock("Look at "), sdk.ResourceLinkBlock("a.go", "file:///srv/app/a.go")}})
	require.NoError(t, err)
	require.Equal(t, sdk.StopReasonEndTurn, r.StopReason)
	require.Equal(t, "Look at [a.go](file:///srv/app/a.go)", model.Requests()[0].Messages[0].Text())
}

func TestAnEditIsShownAsADiffBeforeAndAfter(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.go"), []byte("package a\n\nvar x = 1\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "c.go"), []byte("package c\n\n-- was old\n"), 0o600))
	ws, err := file.Open(dir, file.Config{Overwrite: true})
	require.NoError(t, err)
	defer ws.Close()
	ask := func(_ context.Context, d *tools.Definition, _ *tools.Call) tools.Verdict {
		if d.Spec().ReadOnly {
			return tools.Verdict{}
		}
		return tools.Verdict{Effect: tools.Ask}
	}
	e, _ := serve(t, agent.Config{Tools: ws.Tools(), Policies: []tools.Policy{ask}, Provider: providertest.Script(
		providertest.Call("file.read", map[string]any{"path": "a.go", "offset": 3}),
		providertest.Call("file.edit", map[string]any{"path": "a.go", "old": "x = 1", "new": "x = 2"}),
		providertest.Call("file.write", map[string]any{"path": "b.go", "content": "package b\n"}),
		providertest.Call("file.write", map[string]any{"path": "c.go", "content": "package c\n\n// is new\n"}),
		providertest.Say("Done."))})
	e.choose = func(sdk.RequestPermissionRequest) string { return "Allow once" }
	id := e.begin(dir)
	e.say(id, "Change x.", sdk.StopReasonEndTurn)
	require.Contains(t, e.screen(), "call edit Edit “a.go” pending a.go {x = 1} {x = 2}\n"+
		"result completed a.go {package a//var x = 1/} {package a//var x = 2/}; a.go: replaced at line 3")
	require.Contains(t, e.screen(), "call edit Write “b.go” pending b.go {} {package b/}\n"+
		"result completed b.go {} {package b/}; b.go: created, 1 line")
	r := <-e.asked
	require.Contains(t, contents(r.ToolCall.Content), "a.go {package a//var x = 1/} {package a//var x = 2/}; ")
	over := "c.go {package c//-- was old/} {package c//// is new/}; c.go: replaced"
	require.Contains(t, e.screen(), "result completed "+over)
	e.forget()
	require.NoError(t, e.load(id, dir))
	require.Contains(t, e.screen(), "result completed "+over)
	for _, u := range e.all {
		if u.ToolCall != nil {
			require.True(t, filepath.IsAbs(u.ToolCall.Locations[0].Path))
		}
	}
}

func TestAProgramThatHasFailedIsAFailedCall(t *testing.T) {
	run := tools.New(tools.Spec{Name: "run"}, func(_ context.Context, in struct {
		Code int `json:"code"`
	}) (tools.Result, error) {
		exit := &tools.Exit{Code: in.Code, Answer: in.Code == 1}
		return tools.Result{Parts: tools.Text(exit.String() + "\nFAIL").Parts, Exit: exit}, nil
	})
	e, _ := serve(t, agent.Config{Tools: []tools.Tool{run}, Provider: providertest.Script(
		providertest.Call("run", map[string]int{"code": 0}), providertest.Call("run", map[string]int{"code": 1}),
		providertest.Call("run", map[string]int{"code": 2}), providertest.Say("It fails."))})
	e.say(e.begin("/srv/app"), "Test it.", sdk.StopReasonEndTurn)
	require.Contains(t, e.screen(), "result completed exit code 0")
	require.Contains(t, e.screen(), "result completed exit code 1")
	require.Contains(t, e.screen(), "result failed exit code 2")
}

func TestAPatchIsShownAsADiffOfEachFile(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.go"), []byte("package a\r\n\r\nvar x = 1\r\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "b.go"), []byte("package b\n-- y"), 0o600))
	ws, err := file.Open(dir, file.Config{Patch: true})
	require.NoError(t, err)
	defer ws.Close()
	ask := func(context.Context, *tools.Definition, *tools.Call) tools.Verdict {
		return tools.Verdict{Effect: tools.Ask}
	}
	text := "--- a/a.go\n+++ b/a.go\n@@\n-var x = 1\n+var x = 2\n--- a/b.go\n+++ b/b.go\n@@\n package b\n" +
		"--- y\n+// y\n--- /dev/null\n+++ b/c.go\n@@\n+package c\n"
	input := map[string]any{"paths": []string{"a.go", "b.go", "c.go"}, "patch": text}
	e, _ := serve(t, agent.Config{Tools: ws.Tools(), Policies: []tools.Policy{ask}, Provider: providertest.Script(
		providertest.Call("file.patch", input), providertest.Say("Done."))})
	e.choose = func(sdk.RequestPermissionRequest) string { return "Allow once" }
	e.say(e.begin(dir), "Change x.", sdk.StopReasonEndTurn)
	first := "a.go {var x = 1/} {var x = 2/}; b.go {package b/-- y/} {package b/// y/}; c.go {} {package c/}"
	require.Contains(t, e.screen(), "call edit Patch a.go, b.go, c.go pending "+first)
	whole := "a.go {package a//var x = 1/} {package a//var x = 2/}; b.go {package b/-- y/} {package b/// y/}; " +
		"c.go {} {package c/}; "
	require.Contains(t, contents((<-e.asked).ToolCall.Content), whole)
	require.Contains(t, e.screen(), "result completed "+whole+"a.go: changed at line 3")
	for _, u := range e.all {
		if u.ToolCall != nil {
			require.Len(t, u.ToolCall.Locations, 3)
			require.Equal(t, filepath.Join(dir, "b.go"), u.ToolCall.Locations[1].Path)
		}
	}
}

func TestWhatIsAroundTheDiffsOfAPatchIsNoTextOfAFile(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.go", "b.go"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("one\n\ntwo\n"), 0o600))
	}
	ws, err := file.Open(dir, file.Config{Patch: true})
	require.NoError(t, err)
	defer ws.Close()
	of := func(name string) string {
		return "diff --git a/" + name + " b/" + name + "\nindex 1..2 100644\n--- a/" + name + "\n+++ b/" + name +
			"\n@@ -1,3 +1,3 @@\n one\n\n-two\n+2\n"
	}
	for _, after := range []string{"```\nThat is all.\n", "*** End Patch\n- It changes two.\n", "-- \n2.39.0\n\n"} {
		input := map[string]any{"paths": []string{"a.go", "b.go"}, "patch": of("a.go") + of("b.go") + after}
		e, _ := serve(t, agent.Config{Tools: ws.Tools(), Provider: providertest.Script(
			providertest.Call("file.patch", input), providertest.Say("Done."))})
		e.say(e.begin(dir), "Change both.", sdk.StopReasonEndTurn)
		require.Contains(t, e.screen(), "result completed a.go {one//two/} {one//2/}; b.go {one//two/} {one//2/}; "+
			"a.go: changed at line 3")
		for _, name := range []string{"a.go", "b.go"} {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("one\n\ntwo\n"), 0o600))
		}
	}
}

func TestATodoListAndAPlanAreShown(t *testing.T) {
	mem, err := recall.New(recall.Config{Store: &recall.MapStore{}, Scope: recall.OfCall("acme")})
	require.NoError(t, err)
	report := tools.New(tools.Spec{Name: "report"}, func(ctx context.Context, _ struct{}) (string, error) {
		return "ok", agent.Emit(ctx, "plan", map[string]any{"title": "T", "steps": []map[string]string{
			{"id": "a", "work": "build", "status": "done"},
			{"id": "b", "work": "test", "status": "failed", "text": "red"},
			{"id": "c", "work": "ship", "status": "pending"}}})
	})
	e, _ := serve(t, agent.Config{Tools: append(mem.Todo(), report), Provider: providertest.Script(
		providertest.Call("todo.add", map[string]any{"texts": []string{"read", "write"}}),
		providertest.Call("todo.set", map[string]any{"id": 1, "status": "doing"}),
		providertest.Call("todo.set", map[string]any{"id": 2, "status": "dropped"}),
		providertest.Call("report", struct{}{}),
		providertest.Say("Done."))})
	e.say(e.begin("/srv/app"), "Go.", sdk.StopReasonEndTurn)
	require.Contains(t, e.screen(), "\nplan pending read, pending write\n")
	require.Contains(t, e.screen(), "\nplan in_progress read, pending write\n")
	require.Contains(t, e.screen(), "\nplan in_progress read, completed write\n")
	require.Contains(t, e.screen(), "\nplan completed build, pending ✗ test red, pending ship\n")
}

func TestWhatTheHostTellsPeopleIsShown(t *testing.T) {
	report := tools.New(tools.Spec{Name: "report"}, func(ctx context.Context, _ struct{}) (string, error) {
		return "ok", errors.Join(agent.Emit(ctx, agent.NoticeKind, 7),
			agent.Emit(ctx, agent.NoticeKind, "books is completed"))
	})
	e, _ := serve(t, agent.Config{Tools: []tools.Tool{report}, Provider: providertest.Script(
		providertest.Call("report", struct{}{}), providertest.Say("Done."))})
	e.say(e.begin("/srv/app"), "Go.", sdk.StopReasonEndTurn)
	require.Contains(t, e.screen(), "◦ books is completed")
	require.NotContains(t, e.screen(), "◦ 7")
}

func TestModesAreSwitchedByTheEditorAndByTheAgent(t *testing.T) {
	write := tools.New(tools.Spec{Name: "write", Modes: []string{"work"}},
		func(ctx context.Context, _ struct{}) (string, error) {
			return "ok", agent.SwitchMode(ctx, "look", "done")
		})
	model := providertest.Script(providertest.Call("write", struct{}{}), providertest.Say("Written."),
		providertest.Say("Seen."))
	e, _ := serve(t, agent.Config{Provider: model, Tools: []tools.Tool{write},
		Modes: []agent.Mode{{Name: "look"}, {Name: "work"}}})
	s, err := e.conn.NewSession(t.Context(), sdk.NewSessionRequest{Cwd: "/srv/app", McpServers: []sdk.McpServer{}})
	require.NoError(t, err)
	require.Equal(t, sdk.SessionModeId("look"), s.Modes.CurrentModeId)
	require.Len(t, s.Modes.AvailableModes, 2)
	_, err = e.conn.SetSessionMode(t.Context(), sdk.SetSessionModeRequest{SessionId: s.SessionId, ModeId: "work"})
	require.NoError(t, err)
	e.say(s.SessionId, "Write.", sdk.StopReasonEndTurn)
	require.Contains(t, e.screen(), "mode look")
	e.say(s.SessionId, "Look.", sdk.StopReasonEndTurn)
	model.AssertTools(t, 0, "write")
	model.AssertTools(t, 2)
	_, err = e.conn.SetSessionMode(t.Context(), sdk.SetSessionModeRequest{SessionId: s.SessionId, ModeId: "fly"})
	require.Contains(t, messageOf(t, err, -32603), `there is no mode "fly"; the modes are look, work`)
}

// messageOf returns the message of an error with a code.
func messageOf(t testing.TB, err error, code int) string {
	t.Helper()
	e, ok := errors.AsType[*sdk.RequestError](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, code, e.Code, e.Message)
	return e.Message
}

func TestAPromptSaysWhyItsRunFailsOrStops(t *testing.T) {
	noop := tools.New(tools.Spec{Name: "noop"}, func(context.Context, struct{}) (string, error) { return "", nil })
	for want, c := range map[string]struct {
		model  providertest.Step
		limits agent.Limits
		reason sdk.StopReason // empty: an error
	}{
		"became too long": {providertest.Stop(provider.StopLength, providertest.Say("Do")), agent.Limits{},
			"max_tokens"},
		"reached the limit of tokens": {providertest.Call("noop", struct{}{}), agent.Limits{Tokens: 1},
			"max_turn_requests"},
		"has failed: Scripted doesn't accept the request. Use another model; another": {
			model: providertest.Fail(fault.Permanent, providertest.Message("no such model"))},
	} {
		e, _ := serve(t, agent.Config{Tools: []tools.Tool{noop}, Provider: providertest.Script(c.model),
			Limits: c.limits})
		reason, err := e.prompt(e.begin("/srv/app"), "Go.")
		require.Equal(t, c.reason, reason)
		if reason == "" {
			require.Contains(t, messageOf(t, err, -32603), want)
		} else {
			require.Contains(t, e.screen(), want)
		}
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	fails := errors.New("there is no workspace here; open a folder of the project")
	hub := newHub(t, agent.Config{Provider: providertest.Script()})
	e := connect(t, acp.Config{Hub: func(_ context.Context, cwd string) (*live.Hub, error) {
		if cwd == "/nowhere" {
			return nil, fails
		}
		return hub, nil
	}, Input: agent.Input{Owner: "ann"}})
	id := e.begin("/srv/app")
	session := func(cwd string) error {
		_, err := e.conn.NewSession(t.Context(), sdk.NewSessionRequest{Cwd: cwd, McpServers: []sdk.McpServer{}})
		return err
	}
	prompt := func(id sdk.SessionId, b ...sdk.ContentBlock) error {
		_, err := e.conn.Prompt(t.Context(), sdk.PromptRequest{SessionId: id, Prompt: b})
		return err
	}
	require.Equal(t, fails.Error(), messageOf(t, session("/nowhere"), -32603))
	messageOf(t, prompt("s-9", sdk.TextBlock("x")), -32602)
	require.Contains(t, messageOf(t, e.load("s-9", "/srv/app"), -32603), "s-9")
	require.Contains(t, messageOf(t, prompt(id, sdk.TextBlock(" ")), -32603), "Prompt")
	messageOf(t, prompt(id, sdk.ImageBlock("aGk=", "image/png")), -32602)
	_, err := e.conn.CloseSession(t.Context(), sdk.CloseSessionRequest{SessionId: id})
	messageOf(t, err, -32601)

	_, err = hub.Start(t.Context(), agent.Input{Session: "bob's", Prompt: "x", Owner: "bob"})
	require.NoError(t, err)
	require.Contains(t, messageOf(t, e.load("bob's", "/srv/app"), -32603), "bob's")
}

func TestBadJSONIsLeftOut(t *testing.T) {
	e, _ := serve(t, agent.Config{Provider: providertest.Script(providertest.Say("Fine."))})
	id := e.begin("/srv/app")
	for _, line := range []string{"{", "nonsense", `{"jsonrpc":"2.0"}`, "", `[1]`,
		`{"jsonrpc":"2.0","method":"session/cancel","params":7}`,
		`{"jsonrpc":"2.0","id":99,"result":{}}`} {
		_, err := io.WriteString(e.lines, line+"\n")
		require.NoError(t, err)
	}
	e.say(id, "Still there?", sdk.StopReasonEndTurn)
}

func TestAMessageThatIsTooLongEndsTheConnection(t *testing.T) {
	hub := newHub(t, agent.Config{Provider: providertest.Script()})
	in, out := io.Pipe()
	cfg := with(hub)
	cfg.In, cfg.Out = in, io.Discard
	wrote := make(chan error)
	go func() {
		_, err := out.Write([]byte(strings.Repeat("x", 20<<20)))
		wrote <- err
	}()
	require.NoError(t, acp.Run(t.Context(), cfg))
	in.Close()
	require.ErrorIs(t, <-wrote, io.ErrClosedPipe)
}

func TestAnEditorThatDoesNotReadHoldsNoRun(t *testing.T) {
	hub := newHub(t, agent.Config{Provider: providertest.Script(providertest.Say("One, two, three."))})
	e := connect(t, with(hub))
	stuck, goOn := make(chan bool), make(chan bool)
	e.update = func(n int, _ sdk.SessionUpdate) {
		if n == 1 {
			close(stuck)
			<-goOn
		}
	}
	id := e.begin("/srv/app")
	ended := make(chan sdk.StopReason)
	go func() {
		r, _ := e.prompt(id, "Count.")
		ended <- r
	}()
	<-stuck
	for ev := range hub.Watch(t.Context(), string(id), 0) {
		if end, ok := ev.(*agent.RunEnded); ok {
			require.Equal(t, agent.Completed, end.Status)
			break
		}
	}
	close(goOn)
	require.Equal(t, sdk.StopReasonEndTurn, <-ended)
}

func TestTwoPromptsAtOnceAreBothAnswered(t *testing.T) {
	e, _ := serve(t, agent.Config{Provider: providertest.Func(
		func(_ context.Context, r *provider.Request) (*provider.Response, error) {
			return providertest.Say("You said " + r.LastUserText()).Response(), nil
		})})
	id := e.begin("/srv/app")
	ended := make(chan error)
	for range 2 {
		go func() {
			_, err := e.prompt(id, "Hello.")
			ended <- err
		}()
	}
	require.NoError(t, <-ended)
	require.NoError(t, <-ended)
}

func TestTwoSessionsAnswerAtOnce(t *testing.T) {
	e, _ := serve(t, agent.Config{Provider: providertest.Func(
		func(_ context.Context, r *provider.Request) (*provider.Response, error) {
			return providertest.Say("You said " + r.LastUserText()).Response(), nil
		})})
	one, two := e.begin("/srv/one"), e.begin("/two")
	done := make(chan sdk.StopReason, 2)
	for _, id := range []sdk.SessionId{one, two} {
		go func() {
			r, err := e.prompt(id, "I am "+string(id))
			done <- r + sdk.StopReason(fmt.Sprint(err))
		}()
	}
	for range 2 {
		require.Equal(t, sdk.StopReason("end_turn<nil>"), <-done)
	}
	for _, id := range []sdk.SessionId{one, two} {
		e.forget()
		require.NoError(t, e.load(id, "/srv/app"))
		require.Equal(t, fmt.Sprintf("user: I am %s\nagent: You said I am %s", id, id), e.screen())
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	require.ErrorContains(t, acp.Run(t.Context(), acp.Config{}), "Config.Hub")
	in, out := io.Pipe()
	defer out.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	cfg := with(newHub(t, agent.Config{Provider: providertest.Script()}))
	cfg.In, cfg.Out = in, io.Discard
	require.ErrorIs(t, acp.Run(ctx, cfg), why)
}
