package agent

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/internal/schema"
	"github.com/pawlkit/pawl/provider"
)

// An Input is what a run starts with or is resumed with. Prompt or Parts is all that most runs need.
type Input struct {
	// Session names the conversation that the run is part of. A run without one is forgotten when it ends, unless it is
	// paused: its Result then names the session that it was given. Such names, and no others, begin with "unnamed/".
	Session string
	Prompt  string
	// Parts come with the prompt: images, files, more text.
	Parts []provider.Part
	// History begins a new session with a conversation that was held elsewhere. Calls in it without results get one that
	// says so, and results without calls are left out.
	History []provider.Message

	Mode       string              // empty: the session's, else the first of Config.Modes
	ToolChoice provider.ToolChoice // for the first model call, until it is met
	Limits     *Limits             // over those of the mode and of the Config

	// Interactive says that a person is waiting: model calls go before background work.
	Interactive bool
	Priority    int // of background work: see provider.Request
	Task        string
	By          string // who asks

	// Briefing tells the model what earlier attempts came to, behind the prompt: see [BriefingOf].
	Briefing *Briefing

	// Supersede begins anew in a paused session: what waits for a decision counts as rejected.
	Supersede bool
	// AcceptChanges lets Resume and Continue go on though the agent isn't what it was: see [ChangedError].
	AcceptChanges bool

	// output is the schema of a structured answer: see RunFor.
	output    *schema.Schema
	decisions []Decision // of Resume
	kind      inputKind
	parent    *parentCall // of a subagent
	// recovering leaves alone what isn't this agent's own.
	recovering bool
}

// An inputKind says what an input is for.
type inputKind uint8

const (
	startRun inputKind = iota
	resumeRun
	continueRun
)

// resumes reports whether the input resumes a run.
func (in *Input) resumes() bool { return in.kind != startRun }

// Resume returns the input that takes decisions on the pauses of a session and resumes its run: all of them are taken, or, if
// one can't be, none. The run stays what it was started as: of the fields of the input only AcceptChanges may be set, and the
// others change nothing; likewise for [Continue].
func Resume(session string, decisions ...Decision) Input {
	return Input{Session: session, decisions: decisions, kind: resumeRun}
}

// Continue returns the input that resumes a session whose process died, or that its host had paused.
func Continue(session string) Input { return Input{Session: session, kind: continueRun} }

// maxSession bounds a session's name, in bytes: what a journal takes.
const maxSession = 512

// check says what is wrong with an input, regardless of its session.
func (in *Input) check(limits *Limits) error {
	bad := func(field, format string, args ...any) error {
		return &InputError{Field: field, Problem: fmt.Sprintf(format, args...)}
	}
	if len(in.Session) > maxSession || !utf8.ValidString(in.Session) || strings.ContainsFunc(in.Session, unicode.IsControl) {
		return bad("Session", "the name has to be valid UTF-8 of at most %d bytes without control characters", maxSession)
	}
	if strings.HasPrefix(in.Session, childPrefix) && in.parent == nil {
		return bad("Session", "names that begin with %q are those of agents that are tools; decide in the session of the parent, or take another name", childPrefix)
	}
	if in.resumes() {
		switch {
		case in.Session == "":
			return bad("Session", "Resume and Continue need the name of a session; a paused run's is in its Result")
		case in.Prompt != "" || len(in.Parts) > 0 || in.Briefing != nil || len(in.History) > 0 || in.Supersede:
			return bad("Prompt", "Resume and Continue take no prompt; decide first, then ask")
		case in.kind == resumeRun && len(in.decisions) == 0:
			return bad("Session", "Resume needs a decision; Continue resumes without one")
		}
		return nil
	}
	if strings.TrimSpace(in.Prompt) == "" && len(in.Parts) == 0 {
		return bad("Prompt", "it is empty; ask something, or give Parts")
	}
	for _, f := range [][2]string{{"Prompt", in.Prompt}, {"By", in.By}, {"Task", in.Task}} {
		if !utf8.ValidString(f[1]) {
			return bad(f[0], "it is no valid UTF-8")
		}
	}
	text, media := len(in.Prompt), 0
	for i := range in.Parts {
		p := &in.Parts[i]
		switch p.Kind {
		case provider.PartText:
			if text += len(p.Text); !utf8.ValidString(p.Text) {
				return bad("Parts", "the text of part %d is no valid UTF-8", i)
			}
		case provider.PartMedia:
			if p.Media == nil || p.Media.Type == "" || (len(p.Media.Data) == 0 && p.Media.URL == "" && p.Media.FileID == "") {
				return bad("Parts", "the media of part %d need a Type, and Data, a URL or a FileID", i)
			}
			media += len(p.Media.Data)
		default:
			return bad("Parts", "part %d is of kind %q; a person gives text and media", i, p.Kind)
		}
	}
	if limits.PromptBytes >= 0 && text > limits.PromptBytes {
		return &LimitError{Limit: machine.LimitPromptBytes, Max: int64(limits.PromptBytes), Have: int64(text), Note: "shorten the prompt"}
	}
	if limits.MediaBytes >= 0 && media > limits.MediaBytes {
		return &LimitError{Limit: machine.LimitMediaBytes, Max: int64(limits.MediaBytes), Have: int64(media), Note: "give smaller files, or URLs"}
	}
	for i := range in.History {
		switch role := in.History[i].Role; role {
		case provider.RoleUser, provider.RoleAssistant, provider.RoleTool:
		default:
			return bad("History", "message %d has the role %q; use user, assistant or tool. A system text is Config.Instructions", i, role)
		}
		if !machine.Normal(in.History[i].Parts) {
			return bad("History", "message %d holds text that is no valid UTF-8, or arguments that are nested too deep", i)
		}
	}
	switch in.ToolChoice.Mode {
	case provider.ChooseAuto, provider.ChooseNone, provider.ChooseRequired, provider.ChooseTool:
	default:
		return bad("ToolChoice", "mode %q isn't one of the constants", in.ToolChoice.Mode)
	}
	return nil
}

// message returns the input as a message.
func (in *Input) message() provider.Message {
	parts := make([]provider.Part, 0, len(in.Parts)+1)
	if in.Prompt != "" {
		parts = append(parts, provider.TextPart(in.Prompt))
	}
	for _, p := range provider.Normalize(in.Parts) {
		parts = append(parts, p)
	}
	if text := in.Briefing.Text(); text != "" {
		parts = append(parts, provider.TextPart(text))
	}
	return provider.Message{Role: provider.RoleUser, Parts: parts}
}
