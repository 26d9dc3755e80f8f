package assistant

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/intent"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/screen"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/examples/content/internal/contenttools"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
	"github.com/pawlkit/pawl/provider"
)

// A Screen is what the user has in front of them.
type Screen struct {
	CurrentPage    string `json:"currentPage,omitempty"` // portfolio, artifact, dashboard or chat
	ArtifactID     string `json:"artifactId,omitempty"`
	ArtifactType   string `json:"artifactType,omitempty"`
	ArtifactTitle  string `json:"artifactTitle,omitempty"`
	ArtifactStatus string `json:"artifactStatus,omitempty"`
}

// Terminal is the CurrentPage of a terminal.
const Terminal = "terminal"

// A Request is a message of a user.
type Request struct {
	User     string       `json:"-"`
	Message  string       `json:"message"`
	Screen   Screen       `json:"screenContext"`
	Session  string       `json:"sessionId,omitempty"` // the name of a conversation; empty: that of the pages
	Progress func(string) `json:"-"`                   // is called with what goes on; may be nil
}

// An Option is something that the user can do next.
type Option = contenttools.Option

// An Answer is what the user gets.
type Answer struct {
	Success             bool                `json:"success"`
	Message             string              `json:"message"`
	Data                any                 `json:"data,omitempty"`
	ToolsUsed           []string            `json:"toolsUsed"`
	StatusTransition    *contenttools.Moved `json:"statusTransition,omitempty"`
	ClarificationNeeded bool                `json:"clarificationNeeded,omitempty"`
	Options             []Option            `json:"options,omitempty"`
	Intent              string              `json:"intent"`
	SessionID           string              `json:"sessionId"`
	TraceID             string              `json:"traceId"`
	Error               *ErrorBody          `json:"error,omitempty"`
}

// An ErrorBody is the error of an Answer.
type ErrorBody struct {
	Category        portfolio.Category `json:"category"`
	Message         string             `json:"message"`
	TraceID         string             `json:"traceId"`
	RecoveryOptions []Option           `json:"recoveryOptions,omitempty"`
	RetryAfter      int                `json:"retryAfter,omitempty"` // s
}

var named = regexp.MustCompile(`(?i)\bartifact ([0-9a-f]{8}-[0-9a-f-]{27})\b`)

// Named returns the id of the artifact that a message names; empty if it names none.
func Named(message string) string {
	if m := named.FindStringSubmatch(message); m != nil {
		return m[1]
	}
	return ""
}

// Refused reports a request that a server refuses, for example because its user has made too many.
func (s *Services) Refused(err error) {
	s.cfg.Observe(Event{Kind: RequestRefused, Category: contenttools.Explain(err).Category})
}

// Execute sends a message to a conversation, waits until it is answered, and returns the answer. It
// never fails otherwise than in its answer. The end of ctx ends the wait, and nothing else.
func (s *Services) Execute(ctx context.Context, r Request) (answer Answer) {
	a := Answer{TraceID: s.NewTrace(), ToolsUsed: []string{}, SessionID: orElse(r.Session, Main), Intent: Clarify}
	began := time.Now()
	defer func() {
		ev := Event{Kind: RequestEnded, Intent: answer.Intent, Took: time.Since(began)}
		if answer.Error != nil {
			ev.Category = answer.Error.Category
		}
		s.cfg.Observe(ev)
	}()
	err := s.execute(ctx, &r, &a)
	if err == nil {
		return a
	}
	if _, known := errors.AsType[*portfolio.Error](err); !known {
		s.cfg.Logger.ErrorContext(ctx, "content: a request failed", "trace", a.TraceID, "error", err)
	}
	if errors.Is(err, agent.ErrBusy) {
		err = portfolio.Errorf(portfolio.Conflict,
			"Another message of this conversation is being answered; wait for its end.")
	}
	p := contenttools.Explain(err)
	a.Success, a.Message, a.Error = false, p.Message, &ErrorBody{Category: p.Category, Message: p.Message,
		TraceID: a.TraceID, RecoveryOptions: Recoveries(p), RetryAfter: p.RetryAfter}
	return a
}

// Check returns the text of a message as the agent may have it, or why it is refused.
func (s *Services) Check(ctx context.Context, message, trace string) (string, error) {
	clean, _, err := s.screen.Check(message)
	if err == nil {
		return clean, nil
	}
	text := "Invalid input detected. Please rephrase your request."
	if e, ok := errors.AsType[*screen.Error](err); ok && e.Pattern == "" {
		text = "Message too long. Maximum 10,000 characters."
	}
	s.cfg.Logger.WarnContext(ctx, "content: a message was refused", "trace", trace, "error", err,
		"preview", cut(message, 100))
	return "", &portfolio.Error{Category: portfolio.InvalidInput, Message: text}
}

func (s *Services) execute(ctx context.Context, r *Request, a *Answer) error {
	if _, err := s.Store.UserByID(ctx, r.User); err != nil {
		return err
	}
	clean, err := s.Check(ctx, r.Message, a.TraceID)
	if err != nil {
		return err
	}
	for _, id := range []string{Named(clean), r.Screen.ArtifactID} { // they also come from the client
		if id == "" {
			continue
		}
		if _, err := s.Store.Artifact(ctx, r.User, id); err != nil {
			return err
		}
	}
	session, err := s.Conversation(ctx, r.User, r.Session, false)
	if err != nil {
		return err
	}
	labels := s.Labels(r.Screen, clean)
	labels[labelTrace] = a.TraceID
	a.Intent = detect(clean).Intent
	decided, err := s.Decision(ctx, r.User, session, clean)
	if err != nil {
		return err
	}
	var started live.Started
	if decided != nil {
		started, err = s.Hub.Decide(ctx, session, *decided)
	} else {
		started, err = s.Hub.Start(ctx, agent.Input{Session: session, Prompt: clean, User: r.User, Owner: r.User,
			Only: ChatTools, Interactive: true, Supersede: true, Labels: labels})
	}
	if err != nil {
		return err
	}
	if err := s.wait(ctx, started, r.Progress); err != nil {
		return err
	}
	res, err := s.Agent.Session(session).Result(ctx)
	if err != nil {
		return err
	}
	return s.fill(a, res)
}

// Decision returns what a message decides about what a conversation asks: yes approves it, and no,
// or a few words that take back, reject it. nil: it decides nothing, because nothing is asked, or
// the message says more: it is a request of its own, and what is asked is dropped.
func (s *Services) Decision(ctx context.Context, user, session, message string) (*agent.Decision, error) {
	pending, err := s.Agent.Session(session).Pending(ctx)
	if fault.Of(err) == fault.NotFound || err == nil && len(pending) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	d := agent.Reject(pending[0].ID, message).By(user)
	switch {
	case intent.Yes(message) && !strings.HasPrefix(message, "Yes:"): // that is a wish
		d = agent.Approve(pending[0].ID).By(user)
	case !refusal.MatchString(message) || len(strings.Fields(message)) > fewWords:
		return nil, nil
	}
	return &d, nil
}

// fewWords is how many words a no has at most.
const fewWords = 6

// refusal finds a no: "no", "ok, wait, don't do that", "lieber nicht".
var refusal = regexp.MustCompile(`(?i)^\W*(?:no|nope|nein|cancel|never ?mind|leave it|stop|wait|hold on)\b|` +
	`\b(?:do ?n[o'’]t|not now|wait|leave it|rather not|lass(?: es)?|nicht)\b`)

// wait waits for the end of a run, or until it asks something.
func (s *Services) wait(ctx context.Context, run live.Started, report func(string)) error {
	if run.Done == nil { // a decision that the run in progress takes
		return s.over(ctx, run.Session)
	}
	if report != nil {
		watch, stop := context.WithCancel(ctx)
		defer stop()
		go func() {
			select {
			case <-run.Done:
				stop()
			case <-watch.Done():
			}
		}()
		var one sync.Mutex // report isn't called from two goroutines at a time
		over := false
		say := func(text string) {
			one.Lock()
			defer one.Unlock()
			if !over {
				report(text)
			}
		}
		defer func() {
			one.Lock()
			defer one.Unlock()
			over = true
		}()
		quiet := time.AfterFunc(silence, func() { say(upper(silent)) })
		defer quiet.Stop()
		for ev, err := range s.Hub.Watch(watch, run.Session, run.After) {
			if err != nil {
				break
			}
			quiet.Stop()
			switch ev := ev.(type) {
			case *agent.Progress:
				text, _, _ := strings.Cut(ev.Text, "\n")
				say(text)
			case *agent.StepStarted:
				quiet.Reset(silence)
			}
		}
	}
	select {
	case <-run.Done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-s.Hub.Closing():
		return portfolio.Errorf(portfolio.ToolExecutionFailed,
			"The server is closing. It continues this when it is back.")
	}
}

// over waits until nothing is in progress in a session.
func (s *Services) over(ctx context.Context, session string) error {
	for ev, err := range s.Hub.Watch(ctx, session, 0) {
		if err != nil {
			return err
		}
		if _, ended := ev.(*agent.RunEnded); !ended {
			continue
		}
		info, err := s.Agent.Session(session).Info(ctx)
		if err != nil || info.Status != agent.Running && (info.Status != agent.Paused || info.Pending > 0) {
			return err
		}
	}
	return context.Cause(ctx)
}

// fill puts what a run has done into the answer.
func (s *Services) fill(a *Answer, res *agent.Result) error {
	for _, p := range res.Pending {
		a.Success, a.ClarificationNeeded = true, true
		a.Message = p.Title + "? " + p.Reason
		a.Options = []Option{{Label: "Yes", Message: "Yes"}, {Label: "No", Message: "No"}}
		return nil
	}
	if err := res.Err(); err != nil {
		return err
	}
	a.Success, a.Message = true, res.Text()
	for i := range res.Messages {
		for _, p := range res.Messages[i].Parts {
			switch {
			case p.Result != nil && !rejected(p.Result):
				s.used(a, p.Result.Name, p.Result.Text())
			case p.Call != nil && p.Call.Name == contenttools.StructuredResponse:
				var said contenttools.Answer
				if err := json.Unmarshal(p.Call.Input, &said); err != nil {
					return err
				}
				a.Message, a.Options, a.ClarificationNeeded = said.Message, said.Options, said.ClarificationNeeded
				if len(said.Data) > 0 {
					a.Data = said.Data
				}
				if failed, ok := said.Data["error"]; ok {
					text, _ := json.Marshal(failed)
					a.Error = &ErrorBody{}
					if err := json.Unmarshal(text, a.Error); err != nil {
						return err
					}
					a.Success, a.Error.TraceID, a.Error.RecoveryOptions = false, a.TraceID, said.Options
				}
			}
		}
	}
	return nil
}

// rejected reports whether a person has rejected a call.
func rejected(r *provider.ToolResult) bool { return strings.HasPrefix(r.Text(), "A person rejected") }

// used notes a tool that was used, or the steps that it has run.
func (s *Services) used(a *Answer, name, text string) {
	if name == contenttools.StructuredResponse {
		return
	}
	if i := strings.IndexByte(text, '{'); i >= 0 {
		var e contenttools.Envelope
		var w Work
		if json.NewDecoder(strings.NewReader(text[i:])).Decode(&e) == nil {
			if e.StatusTransition != nil {
				a.StatusTransition = e.StatusTransition
			}
			a.TraceID = orElse(e.TraceID, a.TraceID)
			if (name == RunSteps || name == ContinueWork) && json.Unmarshal(orEmpty(e.Data), &w) == nil {
				a.ToolsUsed = append(a.ToolsUsed, w.Done...)
				var data map[string]any
				if json.Unmarshal(orEmpty(e.Data), &data) == nil { // unless the answer says more
					a.Data = data
				}
				return
			}
		}
	}
	if !slices.Contains(a.ToolsUsed, name) {
		a.ToolsUsed = append(a.ToolsUsed, name)
	}
}

// IsStop reports whether a message says nothing but stop.
func IsStop(message string) bool { return stopWord.MatchString(message) }

var stopWord = regexp.MustCompile(`(?i)^\W*(?:please )?(?:stop|cancel|halt|abort|stopp)(?: (?:it|that|this|now|please))*\W*$`)
