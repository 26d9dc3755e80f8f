package agent

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/internal/schema"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// An Input is a prompt that starts a run. Most runs need only Session and Prompt.
type Input struct {
	// What is asked, and where.
	//
	// Session names the conversation that the run is part of. Without a name the run gets a session
	// whose name begins with "unnamed/". That session is deleted when the run ends; if the run is
	// paused, its Result has the name.
	Session string
	Prompt  string
	// Parts come with the prompt: images, files, more text. With Config.Memory, files that don't
	// fit the model's window are refused, and those that are text are cut: see [Memory].
	Parts []provider.Part
	// History starts a new session with an existing conversation. Calls in it that have no result
	// get one that says so, and results without calls are left out.
	History []provider.Message
	// Outside names where text in Prompt, Parts or History comes from, if that is outside of the
	// host's control, such as "a mail": at most 20 names of at most 200 bytes. Policies know them
	// while the model reads that text, or a summary of it: see [tools.Call].Outside. Files in Parts
	// count without being named. If a tool starts the run with its context, what its own
	// conversation has counts, too.
	Outside []string

	// With which tools, model and limits the run works.
	//
	// Tools are tools of this run only, after all others, for example those that a front end
	// executes: see [tools.External]. They are declared by the server, never by a client. External
	// ones are stored with the run. A run with any other tools needs them again when it is resumed:
	// see [Resumption].Tools.
	Tools []tools.Tool
	// Only limits the run to the tools with these names, of those that the mode permits; empty: all
	// of them. Lazy ones that it names needn't be loaded. A name that no tool has is an
	// *[ArgError].
	Only       []string
	ToolChoice provider.ToolChoice // for the first model call, until it is met
	Mode       string              // empty: the session's, else the first of Config.Modes
	// Model is the model that the run asks its provider for, instead of that of the mode or of
	// Config.Params: a name that the provider knows, of at most 256 bytes. It lasts as long as the
	// run, also when it is resumed or its context is reset. The steps use it, and with it their
	// prices, limits and context window, and the model calls of tools ([Generate]) that name none;
	// not those of subagents, critics and compactions, which have models of their own. A failover
	// passes the name on to each of its providers: see guard.Failover. Empty: that of the mode,
	// else Config.Params.Model.
	Model  string
	Limits *Limits // over those of the mode and of the Config

	// For whom it works, and with which precedence.
	//
	// User is the person who asks, and for whom the run works. Budgets and allowances may limit
	// what a user spends. Task and Pipeline are the host's names for what the run is about, and for
	// the job or plan that it is a part of. All three are labels of its model calls. Each has at
	// most 512 bytes.
	User, Task, Pipeline string
	// Labels are labels of the host's choice, such as {"tenant": "acme"}: at most 16, with keys of
	// at most 64 and values of at most 256 bytes, neither of them empty. They are on the events of
	// the run, on its tool and model calls, in the ledger, and on the session until another run
	// sets others; [SessionFilter] finds the session by one of them. Empty: those of the session's
	// last run. The label "tenant" says who pays: budgets limit what a tenant spends
	// (budget.Config.Tenant), with all that the run starts. For that, labels of
	// [Session.SetLabel] don't count.
	Labels map[string]string
	// Interactive says that a person is waiting, so that model calls have precedence over
	// background work.
	Interactive bool
	Priority    int // of background work: see provider.Request

	// What the first input of a session says about the session.
	//
	// Owner is who the session belongs to: a user, or a team whose users share it. The first input
	// of a session sets it; it has at most 256 bytes. A later input that names somebody else, or an
	// owner for a session that has none, is [ErrNotOwner]. Empty: the owner isn't checked.
	Owner string
	// Parent is the session whose work this one is, or the log of another package, such as a run of
	// plans. [Agent.Sessions], [Agent.Recover] and [Agent.Retain] skip a session with a parent: who
	// has started it resumes it, and it is deleted with its parent. The first input of a session
	// sets it; another one in a later input is an *[ArgError]. The sessions of subagents have the
	// session that called them as their parent. Empty: nobody's, or what the first input has said.
	Parent string
	// Title is the title of the session if it has none yet: see [Session.SetTitle].
	Title string

	// What becomes of the same input again, and of the runs before.
	//
	// Key makes a repeated request harmless: if the session had an input or a message
	// ([Session.Steer]) with the same key, nothing is started, and the error is
	// [ErrDuplicate]. It has at most 200 bytes. A session remembers its newest 100 keys.
	Key string
	// Supersede starts a new run in a paused session. Calls that wait for a decision count as
	// rejected. If a decision was accepted and isn't carried out yet, the error is [ErrBusy]:
	// continue the run with [Continue] first.
	Supersede bool
	// Replaces takes the session back to before an earlier run, for a prompt that was edited or is
	// to be answered anew: the run replaces the one that started with the fact of this number, and
	// all runs after it. The number is [Result].Start of that run, or the number of its
	// [RunStarted] (of the first, if its context was reset); numbers are those of one session, so a
	// copy ([Session.Fork]) has its own. 0: nothing is replaced. A number that isn't that of a run,
	// or of one that was replaced or pruned ([Session.Prune]), is an *[ArgError] that says why and
	// which are possible. A run that was replaced doesn't come back; to keep it, fork the session
	// first.
	//
	//   - The conversation is what it was before the replaced run's input, as if no compaction and no
	//     context reset had happened since. The History that a session began with stays. The prompt
	//     follows. [Session.Messages] leaves out what was replaced; the log and Trace have it all.
	//   - If calls of the replaced runs may have had effects that weren't undone, a line before the
	//     prompt tells the model which, with their statuses. It also names effects of earlier calls
	//     that were undone since. Tools that are ReadOnly aren't named; nothing is undone.
	//     [Session.Undo] still undoes a run that was replaced: give its name as Rollback.Run.
	//   - A run that is paused, or that a dead process left open, is superseded: see Supersede. The
	//     runs of its subagents are canceled. A run in progress is [ErrBusy], as for any input.
	//   - The mode, if Mode is empty, and the lazy tools that are loaded are those from before the
	//     replaced run.
	//   - All else stays as it is: spending, standing approvals, labels, the title, the owner, the
	//     keys of inputs, and the numbering of progress notes.
	Replaces uint64

	// How it is observed.
	//
	// Trace continues the trace of the caller: a W3C traceparent, such as
	// "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01". Empty: a trace of its own.
	Trace string
	// Children shows the events of subagents (see [AsTool]) in the stream of the run, too, and
	// those of the nodes of plans that the run submits (agent/plan) while this process drives them.
	// Their envelopes name the run and the session of the subagent or node, and facts among them
	// have the numbers of that session. The setting lasts as long as the run.
	Children bool
}

// SessionName implements [Work].
func (in Input) SessionName() string { return in.Session }

func (in Input) work() *job { return newJob("Input", &in, nil) }

// A start is what starts a run: an Input, or a HostCall with what it shares with one.
type start struct {
	Input
	call   *hostCall      // in place of a prompt
	output *schema.Schema // of a structured answer: see RunFor
}

// check returns what is wrong with what starts a run, regardless of its session.
func (in *start) check(limits *Limits) error {
	if in.call != nil {
		if err := in.call.check(limits); err != nil {
			return err
		}
	} else if strings.TrimSpace(in.Prompt) == "" && len(in.Parts) == 0 {
		return badInput("Prompt", "it is empty; ask something, or give Parts")
	}
	if int64(in.Priority) != int64(int32(in.Priority)) {
		return badInput("Priority", "it is %d; give a number of 32 bits", in.Priority)
	}
	if !utf8.ValidString(in.Prompt) {
		return badInput("Prompt", "it is no valid UTF-8")
	}
	if err := in.checkCaller(); err != nil {
		return err
	}
	if err := in.checkParts(limits); err != nil {
		return err
	}
	if err := in.checkOutside(); err != nil {
		return err
	}
	for i := range in.History {
		switch role := in.History[i].Role; role {
		case provider.RoleUser, provider.RoleAssistant, provider.RoleTool:
		default:
			return badInput("History",
				"message %d has the role %q; use user, assistant or tool. A system text is Config.Instructions", i,
				role)
		}
		if !machine.Normal(in.History[i].Parts) {
			return badInput("History",
				"message %d holds text that is no valid UTF-8, or arguments that are nested too deep", i)
		}
	}
	switch in.ToolChoice.Mode {
	case provider.ChooseAuto, provider.ChooseNone, provider.ChooseRequired, provider.ChooseTool:
	default:
		return badInput("ToolChoice", "mode %q isn't one of the constants", in.ToolChoice.Mode)
	}
	return nil
}

// checkParts returns what is wrong with the prompt's parts and with its size.
func (in *Input) checkParts(limits *Limits) error {
	text, media := len(in.Prompt), 0
	for i := range in.Parts {
		p := &in.Parts[i]
		switch p.Kind {
		case provider.PartText:
			if text += len(p.Text); !utf8.ValidString(p.Text) {
				return badInput("Parts", "the text of part %d is no valid UTF-8", i)
			}
		case provider.PartMedia:
			if p.Media == nil || p.Media.Type == "" ||
				(len(p.Media.Data) == 0 && p.Media.URL == "" && p.Media.FileID == "") {
				return badInput("Parts", "the media of part %d need a Type, and Data, a URL or a FileID", i)
			}
			media += len(p.Media.Data)
		default:
			return badInput("Parts", "part %d is of kind %q; a person gives text and media", i, p.Kind)
		}
	}
	if err := checkSize(machine.LimitPromptBytes, limits.PromptBytes, text, "shorten the prompt"); err != nil {
		return err
	}
	return checkSize(machine.LimitMediaBytes, limits.MediaBytes, media, "give smaller files, or URLs")
}

// checkSize returns a *[LimitError] if there are more bytes than a limit allows.
func checkSize(limit string, most, have int, note string) error {
	if most < 0 || have <= most {
		return nil
	}
	return &LimitError{Limit: limit, Max: int64(most), Have: int64(have), Note: note}
}

func badInput(field, format string, args ...any) error {
	return &ArgError{Field: "Input." + field, Problem: fmt.Sprintf(format, args...)}
}

// message returns the input as a message.
func (in *Input) message() provider.Message {
	parts := make([]provider.Part, 0, len(in.Parts)+1)
	if in.Prompt != "" {
		parts = append(parts, provider.TextPart(in.Prompt))
	}
	parts = append(parts, provider.Normalize(in.Parts)...)
	return provider.Message{Role: provider.RoleUser, Parts: parts}
}

// checkTitle returns what is wrong with a title.
func checkTitle(title string) error {
	head := journal.HeadUpdate{Title: title}
	if err := head.Validate(); err != nil {
		return &ArgError{Field: "Input.Title", Problem: "it " +
			strings.TrimPrefix(err.Error(), "journal: HeadUpdate.Title "), Err: err}
	}
	return nil
}

func checkNewTitle(title string) error {
	if title == "" {
		return &ArgError{Field: "Input.Title", Problem: "it is empty; a title can be replaced, but not removed"}
	}
	return checkTitle(title)
}
