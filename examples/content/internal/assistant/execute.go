package assistant

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/intent"
	"github.com/pawlkit/pawl/agent/screen"
	"github.com/pawlkit/pawl/examples/content/internal/contenttools"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
)

// A Request is a message of a user.
type Request struct {
	User     string     `json:"-"`
	Message  string     `json:"message"`
	Screen   Screen     `json:"screenContext"`
	Session  string     `json:"sessionId,omitempty"` // empty: the user's own
	Progress func(Step) `json:"-"`                   // is called when a tool begins and when it has ended; may be nil
	// Detected is called when it is known what the message wants; may be nil.
	Detected func(intent.Verdict) `json:"-"`
}

// An Option is something that the user can do next.
type Option struct {
	Label   string `json:"label"`
	Message string `json:"message"` // what to send
}

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
	for _, re := range []*regexp.Regexp{trigger, named} {
		if m := re.FindStringSubmatch(message); m != nil {
			return m[1]
		}
	}
	return ""
}

// Refused reports a request that a server refuses, for example because its user has made too many.
func (s *Services) Refused(err error) {
	s.cfg.Observe(Event{Kind: RequestRefused, Category: contenttools.Explain(err).Category})
}

// Execute does what a message asks for. It never fails otherwise than in its answer. The end of ctx
// stops a pipeline, which [Services.Recover] or trying again continues.
func (s *Services) Execute(ctx context.Context, r Request) (answer Answer) {
	a := Answer{TraceID: s.NewTrace(), ToolsUsed: []string{}, SessionID: orElse(r.Session, r.User+"/1"),
		Intent: Clarify}
	began := time.Now()
	defer func() {
		ev := Event{Kind: RequestEnded, Intent: answer.Intent, Took: time.Since(began)}
		if answer.Error != nil {
			ev.Category = answer.Error.Category
		}
		s.cfg.Observe(ev)
	}()
	if err := s.execute(ctx, &r, &a); err != nil {
		if _, known := errors.AsType[*portfolio.Error](err); !known {
			s.cfg.Logger.ErrorContext(ctx, "content: a request failed", "trace", a.TraceID, "error", err)
		}
		if errors.Is(err, agent.ErrBusy) {
			err = portfolio.Errorf(portfolio.Conflict,
				"Another message of this conversation is being answered; wait for its end.")
		}
		return s.failed(a, contenttools.Explain(err), "")
	}
	return a
}

func (s *Services) execute(ctx context.Context, r *Request, a *Answer) error {
	if _, err := s.Store.UserByID(ctx, r.User); err != nil {
		return err
	}
	clean, _, err := s.screen.Check(r.Message)
	if err != nil {
		text := "Invalid input detected. Please rephrase your request."
		if e, ok := errors.AsType[*screen.Error](err); ok && e.Pattern == "" {
			text = "Message too long. Maximum 10,000 characters."
		}
		s.cfg.Logger.WarnContext(ctx, "content: a message was refused", "trace", a.TraceID, "error", err,
			"preview", cut(r.Message, 100))
		return &portfolio.Error{Category: portfolio.InvalidInput, Message: text}
	}
	r.Message = clean
	said := orElse(Named(clean), r.Screen.ArtifactID)
	if said != "" { // it also comes from the client
		if err := contenttools.CheckID(said); err != nil {
			return err
		}
		if _, err := s.Store.Artifact(ctx, r.User, said); err != nil {
			return err
		}
	}
	v, why, err := s.session(ctx, a.SessionID, r.User, clean, said, time.Now())
	if err != nil {
		return err
	}
	var verdict intent.Verdict
	var names []string
	if v.Asked != "" && intent.Yes(clean) {
		verdict, names = s.confirmed(v.Asked)
		_, r.Message, _ = strings.Cut(v.Asked, "\n")
	} else {
		verdict, names = s.detect(ctx, r.User, clean)
	}
	a.Intent = verdict.Intent
	if r.Detected != nil {
		r.Detected(verdict)
	}
	v.Asked = ""
	if err := s.act(ctx, r, a, &v, verdict, names); err != nil {
		return err
	}
	if why == becauseArtifact && a.Success {
		at, err := s.Store.Artifact(ctx, r.User, said)
		if err != nil {
			return err
		}
		a.Message = fmt.Sprintf("Now about “%s”. %s", at.Title, a.Message)
	}
	_, err = s.Store.ChangeSession(ctx, r.User, a.SessionID, func(now *Session) {
		if now.Thread == v.Thread { // and not reset meanwhile
			now.Asked, now.LastTool = v.Asked, v.LastTool
		}
	})
	return err
}

// act does what a verdict says.
func (s *Services) act(ctx context.Context, r *Request, a *Answer, v *Session, verdict intent.Verdict,
	names []string) error {
	changes := len(names) > 0 || verdict.Intent == SkipVisuals || verdict.Intent == TryAgain
	switch {
	case verdict.Band() == intent.Offer:
		return s.offer(a, verdict)
	case verdict.Band() == intent.Confirm && changes:
		a.Success, a.ClarificationNeeded = true, true
		a.Message = fmt.Sprintf("Shall I %s?", describe(verdict.Intent))
		a.Options = []Option{{"Yes", "Yes"}, {"Something else", "What can you do?"}}
		v.Asked = verdict.Intent + "\n" + r.Message
		return nil
	case verdict.Intent == ModifyContent:
		return s.modify(ctx, r, a, v)
	case !changes:
		return s.turn(ctx, r, a, v)
	case v.Artifact == "":
		return s.whichOne(ctx, r, a, verdict)
	case verdict.Intent == TryAgain:
		out, err := s.Retry(ctx, r.User, v.Artifact, r.Progress)
		return s.report(a, v, out, err)
	case verdict.Intent == SkipVisuals:
		return s.skip(ctx, r, a, v)
	}
	if verdict.Intent == FullPipeline {
		at, err := s.Store.Artifact(ctx, r.User, v.Artifact)
		if err != nil {
			return err
		}
		names = rest(at.Status)
	}
	out, err := s.Start(ctx, r.User, v.Artifact, a.TraceID, names, r.Progress)
	return s.report(a, v, out, err)
}

// rest returns the tools of the full pipeline that an artifact with this status still needs.
func rest(status portfolio.Status) []string {
	if slices.Contains([]portfolio.Status{portfolio.Research, portfolio.Skeleton, portfolio.CreatingVisuals}, status) {
		for i, name := range Full {
			if slices.Contains(portfolio.Allowed[name], status) {
				return Full[i:]
			}
		}
	}
	return Full
}

// skip writes the text if need be, and leaves the images to the user.
func (s *Services) skip(ctx context.Context, r *Request, a *Answer, v *Session) error {
	id := v.Artifact
	at, err := s.Store.Artifact(ctx, r.User, id)
	if err != nil {
		return err
	}
	from := at.Status
	if wants := s.detector.Match(strings.NewReplacer("visual", "", "image", "").Replace(r.Message)); at.Status ==
		portfolio.Skeleton && wants.Intent == WriteContent {
		out, err := s.Start(ctx, r.User, id, a.TraceID, steps[WriteContent], r.Progress)
		if err := s.report(a, v, out, err); err != nil || out.Problem != nil {
			return err
		}
	}
	if _, err := s.Store.Move(ctx, r.User, id, portfolio.Ready, portfolio.BySystem); err != nil {
		return err
	}
	a.Success, a.Message, a.StatusTransition = true,
		"The text is ready. I have skipped the images; you can add them later.",
		&contenttools.Moved{From: from, To: portfolio.Ready}
	return nil
}

// report puts the outcome of a pipeline into the answer.
func (s *Services) report(a *Answer, v *Session, out Outcome, err error) error {
	if err != nil {
		return err
	}
	a.ToolsUsed = append(a.ToolsUsed, out.Used...) // never null in JSON
	a.TraceID = out.Pipeline.Trace                 // a retry keeps the trace of its pipeline
	if out.From != out.To {
		a.StatusTransition = &contenttools.Moved{From: out.From, To: out.To}
	}
	if out.Problem != nil {
		*a = s.failed(*a, out.Problem, out.Pipeline.Failed)
		return nil
	}
	a.Success, a.Message = true, fmt.Sprintf("Done: %s. The artifact is %s.", resultsOf(out.Used),
		strings.ReplaceAll(string(out.To), "_", " "))
	if out.Note != "" {
		a.Message += " " + out.Note
	}
	v.LastTool = out.Used[len(out.Used)-1]
	return nil
}

// Reads are the tools of the chat. None of them changes an artifact.
var Reads = []string{contenttools.ProposeEdit, contenttools.TopicsResearch, contenttools.FetchArtifact,
	contenttools.FetchArtifactTopics, contenttools.FetchResearch, contenttools.ListDraftArtifacts,
	contenttools.StructuredResponse}

// turn is a turn of the model, which changes nothing. So it takes the place of one whose process
// has died.
func (s *Services) turn(ctx context.Context, r *Request, a *Answer, v *Session) error {
	ctx = context.WithValue(ctx, turnKey{}, turn{r.User, r.Screen.CurrentPage, v.Artifact})
	res, err := s.Agent.Run(ctx, agent.Input{Session: fmt.Sprintf("chat/%s/%s/%d",
		portfolio.Hash(r.User, s.cfg.Salt), strings.TrimPrefix(a.SessionID, r.User+"/"), v.Thread),
		Prompt: r.Message, User: r.User, Owner: r.User, Only: Reads, Interactive: true, Supersede: true,
		Labels: map[string]string{"trace": a.TraceID}})
	if err != nil {
		return err
	}
	a.Success, a.Message = true, res.Text()
	for i := range res.Messages {
		for _, p := range res.Messages[i].Parts {
			if p.Call == nil {
				continue
			}
			if p.Call.Name != contenttools.StructuredResponse {
				a.ToolsUsed = append(a.ToolsUsed, p.Call.Name)
				continue
			}
			var said contenttools.Answer
			if err := json.Unmarshal([]byte(p.Call.Input), &said); err != nil {
				return err
			}
			a.Message, a.Data, a.ClarificationNeeded = said.Message, said.Data, said.ClarificationNeeded
			for _, o := range said.Options {
				a.Options = append(a.Options, Option{o, o})
			}
		}
	}
	return nil
}

// whichOne asks for an artifact, with those that the request can be about as buttons.
func (s *Services) whichOne(ctx context.Context, r *Request, a *Answer, v intent.Verdict) error {
	all, err := s.Store.Artifacts(ctx, r.User)
	if err != nil {
		return err
	}
	var allowed []portfolio.Status
	if names := steps[v.Intent]; len(names) > 0 {
		allowed = portfolio.Allowed[names[0]]
	}
	for _, one := range all {
		if len(a.Options) < 5 && (allowed == nil || slices.Contains(allowed, one.Status)) {
			a.Options = append(a.Options, Option{one.Title, fmt.Sprintf("%s (artifact %s)", r.Message, one.ID)})
		}
	}
	a.Success, a.ClarificationNeeded, a.Message = true, true, "Which artifact do you mean?"
	if len(a.Options) == 0 {
		a.Message = "You have no artifact that this can be done with. Create a draft first."
	}
	return nil
}

func (s *Services) offer(a *Answer, v intent.Verdict) error {
	a.Success, a.ClarificationNeeded, a.Message = true, true,
		"I'm not sure what you mean: one of these, or something else?"
	a.Options = append(a.Options, Option{upper(describe(v.Intent)), upper(describe(v.Intent))})
	for _, alt := range v.Alternatives[:min(2, len(v.Alternatives))] {
		a.Options = append(a.Options, Option{upper(describe(alt.Intent)), upper(describe(alt.Intent))})
	}
	return nil
}

// describe returns an intent in plain words.
func describe(name string) string {
	for _, i := range intents {
		if i.Name == name {
			return i.Description
		}
	}
	return "run these steps"
}

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// failed puts an error into the answer, with what the user can do about it.
func (s *Services) failed(a Answer, p *contenttools.Problem, tool string) Answer {
	a.Success, a.Message = false, p.Message
	a.Error = &ErrorBody{Category: p.Category, Message: p.Message, TraceID: a.TraceID,
		RecoveryOptions: Recoveries(p, tool), RetryAfter: p.RetryAfter}
	return a
}

// recoveries are what a user can do about problems, besides trying again.
var recoveries = map[portfolio.Category]Option{
	portfolio.AIContentFilter:    {"Put it in other words", "Edit the text"},
	portfolio.ArtifactNotFound:   {"Show my drafts", "Show my drafts"},
	portfolio.MissingContext:     {"Show my drafts", "Show my drafts"},
	portfolio.InvalidArtifactID:  {"Show my drafts", "Show my drafts"},
	portfolio.ResearchNotFound:   {"Research it", "Research this topic"},
	portfolio.InvalidInput:       {"See what I can do", "What can you do?"},
	portfolio.UnclearIntent:      {"See what I can do", "What can you do?"},
	portfolio.InvalidTone:        {"Edit it by hand", "Edit the text"},
	portfolio.InvalidContentType: {"Edit it by hand", "Edit the text"},
	portfolio.Conflict:           {"See its status", "What's the status of this?"},
}

// Recoveries returns what the user can do about a problem of a tool, or of none.
func Recoveries(p *contenttools.Problem, tool string) (all []Option) {
	switch {
	case p.Category == portfolio.Unauthorized:
		return nil
	case p.Category == portfolio.InvalidStatus && p.Status == portfolio.Published:
		return []Option{{"Edit it (it becomes ready again)", "Edit this artifact"},
			{"Create a new one based on it", "Suggest topics"}, {"View it", "What's the status of this?"}}
	case p.Category == portfolio.InvalidStatus:
		return []Option{{"See its status", "What's the status of this?"}, {"Create all of it", "Create the content"}}
	case tool != "":
		all = append(all, Option{"Try again from " + Result(tool), "Try again"})
	}
	if o, ok := recoveries[p.Category]; ok {
		all = append(all, o)
	}
	return all
}
