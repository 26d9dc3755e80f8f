package acp

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"math"
	"slices"
	"sync"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/display"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/machine"
)

// A session is one that the editor has open. One goroutine follows it until the connection ends,
// and shows what happens in it, whoever has begun that.
type session struct {
	// fixed at creation
	srv  *server
	hub  *live.Hub
	own  *agent.Session
	id   string
	ctx  context.Context    // ends when nothing follows the session any more
	end  context.CancelFunc // ends ctx
	set  chan struct{}      // closed when pending has what was open before
	gate chan struct{}      // has room for one prompt
	once sync.Once          // starts the goroutine that follows the session
	view view               // of that goroutine
	asks sync.WaitGroup     // what it has started

	mu      sync.Mutex // guards what follows
	err     error      // why nothing follows it
	mode    string
	turn    *turn           // nil: no prompt is in progress
	ended   *agent.RunEnded // the end of the last run; nil while one is in progress
	pending []*ask          // what it waits for, oldest first
}

// A turn is an input of a prompt that is in progress.
type turn struct {
	key      string // of the input
	from     uint64 // its run ends with a fact after this one
	steered  bool   // it was sent to a run in progress
	read     bool   // a run has read it
	canceled bool
	quit     context.CancelFunc   // cancels the prompt
	done     chan *agent.RunEnded // gets one
}

func newSession(s *server, hub *live.Hub, id, cwd string) *session {
	x := &session{srv: s, hub: hub, own: hub.Agent().Session(id), id: id, set: make(chan struct{}),
		gate: make(chan struct{}, 1)}
	x.ctx, x.end = context.WithCancel(s.ctx)
	x.view = view{put: x.put, tools: hub.Agent().Tools(), cwd: cwd, changes: make(map[string][]sdk.ToolCallContent)}
	return x
}

// put sends an update to the editor.
func (x *session) put(u sdk.SessionUpdate) error {
	return x.srv.conn.SessionUpdate(x.ctx, sdk.SessionNotification{SessionId: sdk.SessionId(x.id), Update: u})
}

// say shows a text that isn't the model's.
func (x *session) say(text string) error {
	return x.put(sdk.UpdateAgentMessageText("\n\n" + text + "\n\n"))
}

// start has the session followed from a fact on; 0: it is new, and has facts since now.
func (x *session) start(after uint64) {
	x.once.Do(func() {
		x.srv.mu.Lock()
		defer x.srv.mu.Unlock()
		if x.srv.closed {
			x.end()
			return
		}
		x.srv.work.Go(func() { x.follow(after) })
	})
}

// follow asks what is open, and shows what happens after a fact, whoever has begun it.
func (x *session) follow(after uint64) {
	var err error
	if after > 0 {
		if info, _ := x.own.Info(x.ctx); info.Status == agent.Paused {
			err = x.pauses(&agent.RunEnded{Status: agent.Paused})
		}
		close(x.set)
	}
	for ev, failed := range x.hub.Watch(x.ctx, x.id, after) {
		if err = cmp.Or(err, failed); err == nil && ev.Envelope().Session() == x.id {
			err = x.event(ev)
		}
		if err != nil {
			break
		}
	}
	x.mu.Lock()
	x.err = err
	x.mu.Unlock()
	x.end()
	x.asks.Wait()
}

// past shows what the session has, if it is to be shown, and returns the number of its newest fact.
func (x *session) past(show bool) (uint64, error) {
	facts, err := x.own.Facts(x.ctx)
	if err != nil || len(facts) == 0 {
		return 0, err
	}
	before, rest := display.Current(facts)
	for i := 0; show && err == nil && i < len(before); i++ {
		err = x.view.message(&before[i])
	}
	for i := 0; show && err == nil && i < len(rest); i++ {
		err = x.view.event(rest[i])
	}
	return facts[len(facts)-1].Envelope().Seq, err
}

// event shows an event of the session.
func (x *session) event(ev agent.Event) error {
	x.mu.Lock()
	switch ev := ev.(type) {
	case *agent.RunStarted:
		x.ended = nil
		x.view.mine = x.reads(ev.Key)
	case *machine.Steered:
		x.view.mine = x.reads(ev.Key)
	case *machine.Continued:
		x.ended = nil
	case *machine.Decided:
		x.ended = nil
		x.withdraw(func(a *ask) bool { return a.ID == ev.Decision.ID })
	case *agent.ToolFinished:
		x.withdraw(func(a *ask) bool { return a.outer() == ev.Result.CallID })
	case *agent.Suspended:
		flat := ev.Pause.Flat()
		x.withdraw(func(a *ask) bool { // of a subagent, and decided elsewhere
			open := slices.ContainsFunc(flat, func(p agent.Pause) bool { return p.ID == a.ID })
			return a.outer() == ev.Pause.Call.ID && !open
		})
	case *machine.ModeChanged:
		x.mode = ev.To
	case *agent.RunEnded:
		x.withdraw(func(*ask) bool { return ev.Status != agent.Paused })
	}
	x.mu.Unlock()
	if err := x.view.event(ev); err != nil {
		return err
	}
	end, ended := ev.(*agent.RunEnded)
	if !ended || end.Code == machine.CodeContextReset || display.Interrupted(end.Code) {
		return nil
	}
	return x.pauses(end)
}

// pauses notes that the run has ended or paused, and asks what it waits for. It isn't asked before,
// because a decision that comes while the run pauses would be read late.
func (x *session) pauses(end *agent.RunEnded) error {
	x.mu.Lock()
	x.ended = end
	x.mu.Unlock()
	if end.Status == agent.Paused {
		pending, err := x.own.Pending(x.ctx)
		if err != nil {
			return err
		}
		for i := range pending {
			x.ask(&pending[i])
		}
	}
	return x.rests()
}

// rests ends the prompt in progress if its run has ended, or has paused and the editor isn't asked.
func (x *session) rests() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	asking := slices.ContainsFunc(x.pending, func(a *ask) bool { return a.cancel != nil })
	t := x.turn
	if x.ended == nil || asking && (t == nil || !t.canceled) {
		return nil
	}
	if len(x.pending) > 0 && !asking {
		if err := x.say(x.pending[0].text()); err != nil {
			return err
		}
	}
	if t == nil || x.ended.Seq <= t.from {
		return nil
	}
	if t.read || !t.steered || x.ended.Status != agent.Completed { // else the hub starts a run with the input
		x.turn = nil
		t.done <- x.ended
	}
	return nil
}

// reads notes that a run has read an input, and reports whether the editor has sent it. The caller
// holds mu.
func (x *session) reads(key string) bool {
	if x.turn == nil || x.turn.key != key {
		return false
	}
	x.turn.read = true
	return true
}

// prompt gives an input to the session and waits until what it has begun has ended, or waits for
// something that the editor isn't asked. The end of the connection ends the wait alone; any other
// end of ctx ends the run, too.
func (x *session) prompt(ctx context.Context, in agent.Input) (sdk.StopReason, error) {
	own, quit := context.WithCancel(context.WithoutCancel(ctx))
	defer quit()
	defer context.AfterFunc(ctx, func() {
		select {
		case <-x.srv.conn.Done():
		default:
			quit()
		}
	})()
	select {
	case x.gate <- struct{}{}: // the connection cancels the prompt before, if it is in progress
		defer func() { <-x.gate }()
	case <-own.Done():
		return sdk.StopReasonCancelled, nil
	case <-x.ctx.Done():
		return "", errGone
	}
	select {
	case <-x.set:
	case <-x.ctx.Done():
		return "", errGone
	}
	x.mu.Lock()
	in.Mode = cmp.Or(x.mode, in.Mode)
	x.mu.Unlock()
	for {
		in.Key = rand.Text()
		end, err := x.take(own, quit, in)
		switch {
		case own.Err() != nil:
			return sdk.StopReasonCancelled, nil
		case err != nil:
			return "", err
		case end != nil:
			return stopReason(end)
		}
	}
}

// take gives an input to the session and returns the end of its run. It returns nil if the run was
// stopped before it has read the input.
func (x *session) take(ctx context.Context, quit context.CancelFunc, in agent.Input) (*agent.RunEnded, error) {
	keep := context.WithoutCancel(ctx)
	t := &turn{key: in.Key, from: math.MaxUint64, quit: quit, done: make(chan *agent.RunEnded, 1)}
	info, _ := x.own.Info(keep) // a new session has none
	sent, err := x.send(ctx, t, in)
	x.mu.Lock()
	t.from, t.steered = cmp.Or(sent.After, info.Facts), sent.Steered
	x.mu.Unlock()
	defer func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.turn = nil
	}()
	if err = cmp.Or(err, x.rests()); err == nil {
		x.start(0)
	}
	canceled := ctx.Done()
	for err == nil {
		select {
		case end := <-t.done:
			switch {
			case ctx.Err() != nil && end.Status == agent.Paused:
				return end, x.stop(keep)
			case t.steered && !t.read && end.Status == agent.Stopped:
				return nil, nil
			}
			return end, nil
		case <-canceled:
			canceled = nil
			x.mu.Lock()
			t.canceled = true
			x.mu.Unlock()
			err = cmp.Or(x.stop(keep), x.rests())
		case <-x.ctx.Done():
			x.mu.Lock()
			err = cmp.Or(x.err, errGone)
			x.mu.Unlock()
		}
	}
	return nil, err
}

// send makes t the turn, and answers a question with its input, or gives the input to a run.
func (x *session) send(ctx context.Context, t *turn, in agent.Input) (live.Sent, error) {
	x.mu.Lock()
	x.turn = t
	i := slices.IndexFunc(x.pending, func(a *ask) bool { return len(a.choices) == 0 && a.For == "" })
	if i < 0 || len(in.Parts) > 0 {
		x.mu.Unlock()
		return x.hub.Send(ctx, in)
	}
	d := x.pending[i].answer(in.Prompt).By(in.User)
	x.mu.Unlock()
	started, err := x.hub.Decide(ctx, x.id, d)
	return live.Sent{Started: started}, err
}

// stop ends the open run. One that pauses at the same moment may miss that, so it is said again.
func (x *session) stop(ctx context.Context) error {
	return x.hub.WhenReleased(ctx, x.id, func() error {
		if err := x.hub.Cancel(ctx, x.id); err != nil && !errors.Is(err, agent.ErrNothingOpen) {
			return err
		}
		if info, _ := x.own.Info(ctx); info.Status == agent.Paused {
			return agent.ErrBusy
		}
		return nil
	})
}

// cancel ends what the session does, whoever has begun it.
func (x *session) cancel(ctx context.Context) error {
	x.mu.Lock()
	t := x.turn
	x.mu.Unlock()
	if t == nil {
		return x.stop(ctx)
	}
	t.quit()
	return nil
}

// stopReason says why a prompt has ended.
func stopReason(end *agent.RunEnded) (sdk.StopReason, error) {
	switch {
	case end.Status == agent.Completed, end.Status == agent.Paused:
		return sdk.StopReasonEndTurn, nil
	case end.Code == machine.CodeCanceled, end.Code == machine.CodeSuperseded, end.Code == machine.CodeHost:
		return sdk.StopReasonCancelled, nil
	case end.Code == machine.CodeFiltered:
		return sdk.StopReasonRefusal, nil
	case end.Code == machine.CodeLength:
		return sdk.StopReasonMaxTokens, nil
	case end.Code == machine.CodeLimit:
		return sdk.StopReasonMaxTurnRequests, nil
	}
	return "", refuse(codeInternal, "the run has %s: %s; another prompt goes on from here", end.Status, end.Reason)
}

// modes returns the modes of the agent; nil if it has none.
func (x *session) modes() *sdk.SessionModeState {
	names := x.hub.Agent().Modes()
	if len(names) == 0 {
		return nil
	}
	out := &sdk.SessionModeState{CurrentModeId: sdk.SessionModeId(cmp.Or(x.mode, x.srv.cfg.Input.Mode, names[0]))}
	for _, name := range names {
		out.AvailableModes = append(out.AvailableModes, sdk.SessionMode{Id: sdk.SessionModeId(name), Name: name})
	}
	return out
}

// setMode sets the mode of the run in progress and of the next ones.
func (x *session) setMode(ctx context.Context, mode string) error {
	if all := x.hub.Agent().Modes(); !slices.Contains(all, mode) {
		return refuse(codeInvalid, "there is no mode %q; give one of %q", mode, all)
	}
	x.mu.Lock()
	x.mode = mode
	x.mu.Unlock()
	if err := x.own.SetMode(ctx, mode); !errors.Is(err, agent.ErrNothingOpen) {
		return err
	}
	return nil
}
