package acp

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/display"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/tools"
)

// A Config configures [Run]. Only Hub is required.
type Config struct {
	// Hub returns the hub for the sessions of a folder, which the editor names by its absolute
	// path. It is called for each session that is begun or loaded, also at the same time, and
	// returns the same hub for the same folder. Its error is shown in the editor. Run doesn't close
	// the hubs.
	Hub func(ctx context.Context, cwd string) (*live.Hub, error)
	// Input is what all inputs have besides the session and the prompt, such as User, Owner, Labels
	// and Limits. Only sessions of its Owner can be loaded.
	Input agent.Input
	// In and Out replace the process's standard input and output. A read of In that is in progress
	// when Run returns takes what comes next. Run waits for a write that the editor doesn't read.
	In     io.Reader
	Out    io.Writer
	Logger *slog.Logger // nil: nothing is logged
}

// Run serves an editor until it closes In, or ctx ends; then the error is the cause of that. Runs
// in progress go on in their hubs, and what waits for a decision goes on waiting. Until Run
// returns, a write to standard output or standard error whose reader has died is an error and
// doesn't end the process (SIGPIPE). A program that writes there later, for example a log, has to
// call signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) itself. A message of more than 10
// MiB ends the connection.
func Run(ctx context.Context, cfg Config) error {
	if cfg.Hub == nil {
		return &agent.ArgError{Func: "acp.Run", Field: "Config.Hub",
			Problem: "it is nil; give a function that returns the hub of live.New"}
	}
	ctx = cmp.Or(ctx, context.Background())
	pipe := make(chan os.Signal, 1)
	signal.Notify(pipe, syscall.SIGPIPE)
	defer signal.Stop(pipe)
	own, end := context.WithCancel(ctx)
	in, lines := io.Pipe()
	s := &server{cfg: cfg, ctx: own, sessions: make(map[string]*session)}
	out := &output{to: cmp.Or[io.Writer](cfg.Out, os.Stdout)}
	s.conn = sdk.NewConnection(s.answer, out, in)
	s.conn.SetLogger(cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler)))
	go func() { _, err := io.Copy(lines, cmp.Or[io.Reader](cfg.In, os.Stdin)); lines.CloseWithError(err) }()
	defer context.AfterFunc(ctx, func() { in.Close() })()
	<-s.conn.Done()
	in.Close()
	end()
	s.open.Lock() // for good
	s.work.Wait()
	out.closed.Store(true)
	return context.Cause(ctx)
}

// An output refuses what the connection would write after Run has returned: answers to requests
// that it read before. Run doesn't wait for a write that is blocked because the editor doesn't
// read.
type output struct {
	to     io.Writer
	closed atomic.Bool
}

func (o *output) Write(p []byte) (int, error) {
	if o.closed.Load() {
		return 0, io.ErrClosedPipe
	}
	return o.to.Write(p)
}

// A server is the agent's side of one connection.
type server struct {
	cfg  Config
	ctx  context.Context // of the connection
	conn *sdk.Connection
	open sync.RWMutex   // read locked by requests
	work sync.WaitGroup // what requests have begun

	mu       sync.Mutex // guards what follows
	sessions map[string]*session
}

// A session is one that the editor has open. A goroutine shows what happens in it.
type session struct {
	srv     *server
	hub     *live.Hub
	own     *agent.Session
	id, cwd string
	ctx     context.Context // ends with the connection, or when nothing more is shown
	leave   context.CancelCauseFunc
	follow  sync.Once

	// used by who shows the session
	after    uint64             // the last fact that was shown
	shown    display.Reply      // of the reply in progress
	withdraw context.CancelFunc // withdraws what the editor is asked
	previews map[string]string  // of calls that were asked about, by their ids

	mu    sync.Mutex       // held while a prompt begins; guards what follows
	mode  string           // of the first prompt
	open  string           // the pause that the next prompt answers
	turns map[string]*turn // the prompts that wait for their runs, by the keys of their inputs
}

// A turn is a prompt that waits for the end of its run.
type turn struct {
	read bool // by the run in progress, or it will be by the next one
	end  chan *agent.RunEnded
}

// answer answers a request of the editor.
func (s *server) answer(ctx context.Context, method string, params json.RawMessage) (any, *sdk.RequestError) {
	if !s.open.TryRLock() {
		return nil, sdk.NewInternalError("the connection is closed")
	}
	defer s.open.RUnlock()
	out, err := s.handle(ctx, method, params)
	if own, ok := errors.AsType[*sdk.RequestError](err); ok || err == nil {
		return out, own
	}
	return nil, &sdk.RequestError{Code: -32603, Message: err.Error()}
}

func (s *server) handle(ctx context.Context, method string, params json.RawMessage) (any, error) {
	var r struct {
		SessionID, Cwd, ModeID string
		Prompt                 []sdk.ContentBlock
	}
	if err := json.Unmarshal(params, &r); err != nil {
		return nil, sdk.NewInvalidParams(err.Error())
	}
	s.mu.Lock()
	x := s.sessions[r.SessionID]
	s.mu.Unlock()
	switch {
	case method == sdk.AgentMethodInitialize:
		return sdk.InitializeResponse{ProtocolVersion: sdk.ProtocolVersionNumber, AuthMethods: []sdk.AuthMethod{},
			AgentCapabilities: sdk.AgentCapabilities{LoadSession: true}}, nil
	case method == sdk.AgentMethodSessionNew:
		id := "s-" + strings.ToLower(rand.Text())
		modes, err := s.begin(ctx, id, r.Cwd, false)
		return sdk.NewSessionResponse{SessionId: sdk.SessionId(id), Modes: modes}, err
	case method == sdk.AgentMethodSessionLoad:
		modes, err := s.begin(ctx, r.SessionID, r.Cwd, true)
		return sdk.LoadSessionResponse{Modes: modes}, err
	case (x == nil || x.ctx.Err() != nil) && strings.HasPrefix(method, "session/"):
		return nil, sdk.NewInvalidParams("this session isn't open; begin one, or load it")
	case method == sdk.AgentMethodSessionPrompt:
		reason, err := x.prompt(context.WithoutCancel(ctx), r.Prompt)
		return sdk.PromptResponse{StopReason: reason}, err
	case method == sdk.AgentMethodSessionCancel:
		x.mu.Lock()
		defer x.mu.Unlock()
		return nil, x.hub.Cancel(ctx, x.id)
	case method == sdk.AgentMethodSessionSetMode:
		x.mu.Lock()
		defer x.mu.Unlock()
		err := x.own.SetMode(ctx, r.ModeID)
		if errors.Is(err, agent.ErrNothingOpen) { // nothing was said yet
			x.mode, err = r.ModeID, nil
		}
		return sdk.SetSessionModeResponse{}, err
	}
	return nil, sdk.NewMethodNotFound(method)
}

// begin makes a session one of the connection: a new one, or one that exists, which it shows.
func (s *server) begin(ctx context.Context, id, cwd string, load bool) (*sdk.SessionModeState, error) {
	hub, err := s.cfg.Hub(ctx, cwd)
	info := agent.SessionInfo{Mode: s.cfg.Input.Mode}
	if load && err == nil {
		info, err = hub.Owned(ctx, id, s.cfg.Input.Owner)
	}
	if err != nil {
		return nil, err
	}
	x := &session{srv: s, hub: hub, own: hub.Agent().Session(id), id: id, cwd: cwd, mode: s.cfg.Input.Mode,
		withdraw: func() {}, previews: make(map[string]string), turns: make(map[string]*turn)}
	x.ctx, x.leave = context.WithCancelCause(s.ctx)
	s.mu.Lock()
	cmp.Or(s.sessions[id], &session{leave: func(error) {}}).leave(nil)
	s.sessions[id] = x
	s.mu.Unlock()
	var modes *sdk.SessionModeState
	for _, name := range hub.Agent().Modes() {
		modes = cmp.Or(modes, &sdk.SessionModeState{CurrentModeId: sdk.SessionModeId(cmp.Or(info.Mode, name))})
		modes.AvailableModes = append(modes.AvailableModes, sdk.SessionMode{Id: sdk.SessionModeId(name), Name: name})
	}
	if !load {
		return modes, nil
	}
	x.mode = "" // the session's
	defer x.follow.Do(func() { s.work.Go(x.watch) })
	facts, err := x.own.Facts(ctx)
	_, facts = display.Current(facts)
	for _, f := range facts {
		x.show(f)
	}
	info, _ = x.own.Info(ctx) // not older than the facts
	x.rests(&agent.RunEnded{Status: info.Status})
	return modes, err
}

// watch shows what happens in the session.
func (x *session) watch() {
	for ev, err := range x.hub.Watch(x.ctx, x.id, x.after) {
		if err != nil {
			x.leave(err)
		} else if ev.Envelope().Session() == x.id {
			x.show(ev)
			if end, ok := ev.(*agent.RunEnded); ok {
				x.rests(end)
			}
		}
	}
}

// stopReason returns the reason of the protocol for a run that was stopped; "" if it knows none, so
// that the prompt ends with an error. A stop by the host is a cancellation to the editor, as it is
// to other front ends.
func stopReason(code string) sdk.StopReason {
	switch {
	case code == machine.CodeLength:
		return "max_tokens"
	case code == machine.CodeLimit:
		return "max_turn_requests"
	case machine.StoppedByPerson(code):
		return sdk.StopReasonCancelled
	}
	return ""
}

// prompt gives an input to the session, and waits for its run. The end of the connection ends the
// wait alone.
func (x *session) prompt(ctx context.Context, blocks []sdk.ContentBlock) (sdk.StopReason, error) {
	in := x.srv.cfg.Input
	in.Session, in.Interactive, in.Supersede, in.Key = x.id, true, true, rand.Text()
	for _, b := range blocks {
		switch {
		case b.Text != nil:
			in.Prompt += b.Text.Text
		case b.ResourceLink != nil:
			in.Prompt += fmt.Sprintf("[%s](%s)", b.ResourceLink.Name, b.ResourceLink.Uri)
		default:
			return "", sdk.NewInvalidParams("the prompt has content that this agent doesn't read; leave it out")
		}
	}
	in.Title = cmp.Or(in.Title, tools.CleanTitle(in.Prompt))
	var err error
	x.mu.Lock() // show waits for that
	if x.open != "" {
		_, err = x.hub.Decide(ctx, x.id, agent.Answer(x.open, in.Prompt).By(in.User))
	}
	t := &turn{read: x.open != "" && err == nil, end: make(chan *agent.RunEnded, 1)}
	if in.Mode = x.mode; !t.read { // it ends what waits for another answer
		_, err = x.hub.Send(ctx, in)
	}
	if err == nil {
		x.mode, x.open, x.turns[in.Key] = "", "", t
		x.follow.Do(func() { x.srv.work.Go(x.watch) })
	}
	x.mu.Unlock()
	if err != nil {
		return "", err
	}
	select {
	case end := <-t.end:
		reason := stopReason(end.Code)
		switch {
		case end.Status == agent.Completed, end.Status == agent.Paused:
			return sdk.StopReasonEndTurn, nil
		case reason == "":
			return "", fmt.Errorf("the run has %s: %s; another prompt goes on from here", end.Status,
				strings.TrimSuffix(cmp.Or(end.Words(), end.Reason), "."))
		case reason != sdk.StopReasonCancelled:
			x.text(sdk.UpdateAgentMessageText, "\n\n"+cmp.Or(end.Words(), end.Reason)+"\n\n")
		}
		return reason, nil
	case <-x.ctx.Done():
		return "", fmt.Errorf("the session isn't shown any more: %w", context.Cause(x.ctx))
	}
}

// rests asks what a run waits for that has ended or paused, and ends the prompts that it has read,
// or that nobody is going to read. It doesn't ask before, because a decision that comes while the
// run pauses would be read late.
func (x *session) rests(end *agent.RunEnded) {
	var open []agent.Pause
	if end.Status == agent.Paused {
		open, _ = x.own.Pending(x.ctx)
	}
	x.withdraw()
	ctx, withdraw := context.WithCancel(x.ctx)
	x.withdraw = withdraw
	goesOn := end.Code == machine.CodeContextReset ||
		end.Status == agent.Paused && len(open) == 0 && end.Code != machine.CodeHost
	question := ""
	for i := range open {
		if x.ask(ctx, &open[i]) {
			goesOn = true
		} else if open[i].For == "" && open[i].Kind != machine.PauseSecret {
			question = open[i].ID
		}
	}
	// what a run that has ended well or failed hasn't read, another one reads
	another := end.Status == agent.Completed || end.Status == agent.Failed || end.Code == machine.CodeSuperseded
	x.mu.Lock()
	defer x.mu.Unlock()
	x.open = question
	for key, t := range x.turns {
		switch {
		case goesOn:
		case !t.read && another:
			t.read = true // by that one
		default:
			t.end <- end
			delete(x.turns, key)
		}
	}
}

// ask asks the editor about a pause, or says what it waits for if there is nothing to choose.
func (x *session) ask(ctx context.Context, p *agent.Pause) bool {
	var options []sdk.PermissionOption
	decisions := make(map[sdk.PermissionOptionId]agent.Decision)
	add := func(kind sdk.PermissionOptionKind, name string, d agent.Decision) {
		id := sdk.PermissionOptionId(fmt.Sprint(len(options)))
		options = append(options, sdk.PermissionOption{OptionId: id, Kind: kind, Name: name})
		decisions[id] = d.By(x.srv.cfg.Input.User)
	}
	var schema struct{ Enum []any }
	_ = json.Unmarshal(p.Schema, &schema) // of the answer to a question
	for _, v := range schema.Enum {
		add("allow_once", fmt.Sprint(v), agent.Answer(p.ID, v))
	}
	if p.Kind == agent.PauseApproval || p.Kind == agent.PauseInDoubt {
		add("allow_once", "Allow once", agent.Approve(p.ID))
	}
	for _, s := range p.Scopes {
		add("allow_always", "Always allow: "+cmp.Or(s.Text, s.Name), agent.Approve(p.ID).For(s.Name))
	}
	text := cmp.Or(p.Reason, p.Title)
	if p.Kind == machine.PauseSecret {
		text += "\n\nEditors keep what is written here, so answer it on the page or in a terminal. " +
			"A prompt ends the question."
	}
	if p.For != "" || len(options) == 0 {
		x.text(sdk.UpdateAgentMessageText, "\n\n"+text+"\n\n")
		return false
	}
	add("reject_once", "Reject", agent.Reject(p.ID, ""))
	call := x.call(&p.Call)
	if p.Preview != "" && (len(call.Content) == 0 || !strings.Contains(p.Preview, "\n@@")) {
		text += "\n```diff\n" + p.Preview + "```"
	}
	r := sdk.RequestPermissionRequest{SessionId: sdk.SessionId(x.id), Options: options,
		ToolCall: sdk.ToolCallUpdate{ToolCallId: sdk.ToolCallId(p.Call.ID), Title: &p.Title,
			Content: append(call.Content, sdk.ToolContent(sdk.TextBlock(text)))}}
	x.srv.work.Go(func() {
		res, err := sdk.SendRequest[sdk.RequestPermissionResponse](x.srv.conn, ctx,
			sdk.ClientMethodSessionRequestPermission, r)
		if ctx.Err() != nil || err == nil && res.Outcome.Selected == nil { // or session/cancel comes next
			return
		}
		if err == nil {
			_, err = x.hub.Decide(ctx, x.id, decisions[res.Outcome.Selected.OptionId])
		}
		if err != nil { // it still waits, or somebody else was quicker
			x.text(sdk.UpdateAgentMessageText, "\n\n"+p.Title+": the decision wasn't taken: "+err.Error()+"\n\n")
		}
	})
	return true
}
