package acp

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// A Config configures [Run]. Only Hub is required.
type Config struct {
	// Hub returns the hub for the sessions of a folder, which the editor names by its absolute
	// path; cwd is empty when the editor lists the sessions of all folders. It is called for each
	// session that is begun or loaded and for each list, also at the same time, and returns the
	// same hub for the same folder. Its error is shown in the editor. Run doesn't close the hubs.
	Hub func(ctx context.Context, cwd string) (*live.Hub, error)
	// Input is what all inputs have besides the session and the prompt: User, Owner, Limits, and at
	// most 15 Labels. The label "cwd" is added. Only sessions of its Owner can be loaded.
	Input agent.Input
	// Images says that the model reads images; otherwise prompts with images are refused.
	Images bool
	// In and Out replace the process's standard input and output. A read of In that is in progress
	// when Run returns takes what comes next. Run waits for a write that the editor doesn't read.
	In     io.Reader
	Out    io.Writer
	Logger *slog.Logger // nil: nothing is logged
}

// Run serves an editor until it closes In, or ctx ends; then the error is the cause of that. Runs
// in progress go on in their hubs, and what waits for a decision goes on waiting. From then on, a
// write to an editor that has died is an error and doesn't end the process (SIGPIPE). A message of
// more than 10 MiB ends the connection.
func Run(ctx context.Context, cfg Config) error {
	if cfg.Hub == nil {
		return &agent.ArgError{Func: "acp.Run", Field: "Config.Hub",
			Problem: "it is nil; give a function that returns the hub of live.New"}
	}
	if ctx == nil {
		ctx = context.Background()
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	catch()
	own, end := context.WithCancel(ctx)
	defer end()
	in, lines := io.Pipe()
	s := &server{cfg: cfg, ctx: own, sessions: make(map[string]*session)}
	s.conn = sdk.NewAgentSideConnection(s, cmp.Or[io.Writer](cfg.Out, os.Stdout), in)
	s.conn.SetLogger(cfg.Logger)
	go func() { // after SetLogger
		_, err := io.Copy(lines, cmp.Or[io.Reader](cfg.In, os.Stdin))
		lines.CloseWithError(err)
	}()
	select {
	case <-ctx.Done():
	case <-s.conn.Done():
	}
	in.Close()
	<-s.conn.Done()
	end()
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.work.Wait()
	return context.Cause(ctx)
}

// catch keeps writes to a standard output that is closed from ending the process, also those that
// are late.
var catch = sync.OnceFunc(func() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) })

var errGone = fault.New(fault.Transient, "acp: the connection or the session is closed; load the session again")

// A server is the agent's side of one connection.
type server struct {
	// fixed at creation
	cfg  Config
	ctx  context.Context // of the connection
	conn *sdk.AgentSideConnection

	work sync.WaitGroup // what follows the sessions

	mu       sync.Mutex // guards what follows
	sessions map[string]*session
	closed   bool
}

func (s *server) Initialize(context.Context, sdk.InitializeRequest) (sdk.InitializeResponse, error) {
	able := sdk.AgentCapabilities{LoadSession: true,
		PromptCapabilities: sdk.PromptCapabilities{Image: s.cfg.Images, EmbeddedContext: true},
		SessionCapabilities: sdk.SessionCapabilities{List: &sdk.SessionListCapabilities{},
			Resume: &sdk.SessionResumeCapabilities{}}}
	return sdk.InitializeResponse{ProtocolVersion: sdk.ProtocolVersionNumber, AgentCapabilities: able,
		AuthMethods: []sdk.AuthMethod{}}, nil
}

func (s *server) NewSession(ctx context.Context, r sdk.NewSessionRequest) (sdk.NewSessionResponse, error) {
	id := "s-" + strings.ToLower(rand.Text())
	modes, err := s.open(ctx, id, r.Cwd, len(r.McpServers), false, false)
	return sdk.NewSessionResponse{SessionId: sdk.SessionId(id), Modes: modes}, problem(err)
}

func (s *server) LoadSession(ctx context.Context, r sdk.LoadSessionRequest) (sdk.LoadSessionResponse, error) {
	modes, err := s.open(ctx, string(r.SessionId), r.Cwd, len(r.McpServers), true, true)
	return sdk.LoadSessionResponse{Modes: modes}, problem(err)
}

func (s *server) ResumeSession(ctx context.Context, r sdk.ResumeSessionRequest) (sdk.ResumeSessionResponse, error) {
	modes, err := s.open(ctx, string(r.SessionId), r.Cwd, len(r.McpServers), true, false)
	return sdk.ResumeSessionResponse{Modes: modes}, problem(err)
}

// open makes a session one of the connection: a new one, or one that exists, which replay shows.
func (s *server) open(ctx context.Context, id, cwd string, mcp int, exists, replay bool) (
	*sdk.SessionModeState, error) {
	if cwd = filepath.Clean(cwd); !filepath.IsAbs(cwd) {
		return nil, refuse(codeInvalid, "cwd is %q; give the absolute path of a folder", cwd)
	}
	if mcp > 0 {
		s.cfg.Logger.WarnContext(ctx, "acp: the editor's MCP servers aren't used", "servers", mcp)
	}
	hub, err := s.hub(ctx, cwd)
	if err != nil {
		return nil, err
	}
	x, after := newSession(s, hub, id, cwd), uint64(0)
	if exists {
		info, err := hub.Owned(ctx, id, s.cfg.Input.Owner)
		if err == nil {
			x.mode = info.Mode
			after, err = x.past(replay)
		}
		if err != nil {
			return nil, err
		}
	} else {
		close(x.set)
	}
	modes := x.modes()
	s.mu.Lock()
	if before := s.sessions[id]; before != nil {
		before.end()
	}
	s.sessions[id] = x
	s.mu.Unlock()
	if exists {
		x.start(after)
	}
	return modes, nil
}

// hub returns the hub of a folder.
func (s *server) hub(ctx context.Context, cwd string) (*live.Hub, error) {
	hub, err := s.cfg.Hub(ctx, cwd)
	if err == nil && hub.Agent() == nil {
		err = &agent.ArgError{Func: "acp.Run", Field: "Config.Hub", Problem: "it has returned neither a hub nor an error"}
	}
	return hub, err
}

const (
	label    = "cwd" // of sessions: their folder
	mostList = 100   // sessions in a list
)

func (s *server) ListSessions(ctx context.Context, r sdk.ListSessionsRequest) (sdk.ListSessionsResponse, error) {
	out := sdk.ListSessionsResponse{Sessions: []sdk.SessionInfo{}}
	filter, cwd := agent.SessionFilter{Owner: s.cfg.Input.Owner}, ""
	if r.Cwd != nil {
		cwd = filepath.Clean(*r.Cwd)
		filter.Label = agent.Label(label, cwd)
	}
	hub, err := s.hub(ctx, cwd)
	if err != nil {
		return out, problem(err)
	}
	for info, err := range hub.Agent().Sessions(ctx, filter) {
		if err != nil || len(out.Sessions) == mostList {
			return out, problem(err)
		}
		if cwd := info.Labels[label]; cwd != "" {
			out.Sessions = append(out.Sessions, sdk.SessionInfo{SessionId: sdk.SessionId(info.Session), Cwd: cwd,
				Title: &info.Title, UpdatedAt: sdk.Ptr(info.Updated.UTC().Format(time.RFC3339))})
		}
	}
	return out, nil
}

func (s *server) Prompt(ctx context.Context, r sdk.PromptRequest) (out sdk.PromptResponse, err error) {
	x, err := s.session(r.SessionId)
	if err == nil {
		var in agent.Input
		if in, err = s.input(x, r.Prompt); err == nil {
			out.StopReason, err = x.prompt(ctx, in)
		}
	}
	return out, problem(err)
}

func (s *server) Cancel(ctx context.Context, r sdk.CancelNotification) error {
	x, err := s.session(r.SessionId)
	if err == nil {
		err = x.cancel(ctx)
	}
	return err
}

func (s *server) SetSessionMode(ctx context.Context, r sdk.SetSessionModeRequest) (out sdk.SetSessionModeResponse,
	err error) {
	x, err := s.session(r.SessionId)
	if err == nil {
		err = x.setMode(ctx, string(r.ModeId))
	}
	return out, problem(err)
}

func (s *server) Authenticate(context.Context, sdk.AuthenticateRequest) (out sdk.AuthenticateResponse, err error) {
	return out, sdk.NewMethodNotFound(sdk.AgentMethodAuthenticate)
}

func (s *server) CloseSession(context.Context, sdk.CloseSessionRequest) (out sdk.CloseSessionResponse, err error) {
	return out, sdk.NewMethodNotFound(sdk.AgentMethodSessionClose)
}

func (s *server) SetSessionConfigOption(context.Context, sdk.SetSessionConfigOptionRequest) (
	out sdk.SetSessionConfigOptionResponse, err error) {
	return out, sdk.NewMethodNotFound(sdk.AgentMethodSessionSetConfigOption)
}

// session returns a session of the connection.
func (s *server) session(id sdk.SessionId) (*session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x := s.sessions[string(id)]; x != nil {
		return x, nil
	}
	return nil, refuse(codeUnknown, "the session %q isn't open; begin one with session/new, or use session/load", id)
}

// input returns the input that a prompt makes: its texts and resources as one text, and its images.
func (s *server) input(x *session, blocks []sdk.ContentBlock) (agent.Input, error) {
	in := s.cfg.Input
	in.Parts = nil
	var text []string
	for _, b := range blocks {
		switch {
		case b.Text != nil:
			text = append(text, b.Text.Text)
		case b.ResourceLink != nil:
			text = append(text, fmt.Sprintf("[%s](%s)", b.ResourceLink.Name, b.ResourceLink.Uri))
		case b.Resource != nil && b.Resource.Resource.TextResourceContents != nil:
			r := b.Resource.Resource.TextResourceContents
			text = append(text, fmt.Sprintf("<resource uri=%q>\n%s\n</resource>", r.Uri, r.Text))
		case b.Image != nil && s.cfg.Images:
			data, err := base64.StdEncoding.DecodeString(b.Image.Data)
			if err != nil {
				return in, refuse(codeInvalid, "the data of an image isn't base64: %v", err)
			}
			in.Parts = append(in.Parts, provider.MediaPart(provider.Media{Type: b.Image.MimeType, Data: data}))
		default:
			return in, refuse(codeInvalid, "the prompt has content that this agent doesn't read; leave it out")
		}
	}
	in.Prompt = strings.TrimSpace(strings.Join(text, "\n"))
	if in.Prompt == "" && len(in.Parts) == 0 {
		return in, refuse(codeInvalid, "the prompt is empty; write what is to be done")
	}
	in.Session, in.Interactive, in.Supersede = x.id, true, true
	in.Title = cmp.Or(in.Title, tools.CleanTitle(in.Prompt))
	in.Labels = map[string]string{label: x.view.cwd}
	maps.Copy(in.Labels, s.cfg.Input.Labels)
	return in, nil
}

const (
	codeUnknown  = -32002 // the protocol's "resource not found"
	codeInvalid  = -32602
	codeInternal = -32603
)

func refuse(code int, format string, args ...any) error {
	return &sdk.RequestError{Code: code, Message: fmt.Sprintf(format, args...)}
}

// problem returns an error as the editor shows it.
func problem(err error) error {
	switch {
	case err == nil, errors.As(err, new(*sdk.RequestError)):
		return err
	case errors.Is(err, live.ErrClosed), errors.Is(err, agent.ErrDraining):
		return refuse(codeInternal, "the agent is ending; start it again and load the session, whose work then goes on")
	case errors.Is(err, agent.ErrNothingOpen), errors.Is(err, agent.ErrNotOwner):
		return refuse(codeUnknown, "there is no such session; session/list names those that there are")
	case fault.Of(err) == fault.Invalid:
		return refuse(codeInvalid, "%v", err)
	}
	return refuse(codeInternal, "%v", err)
}
