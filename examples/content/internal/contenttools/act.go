package contenttools

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
	"github.com/pawlkit/pawl/tools"
)

// The names of the tools that change an artifact at once, without a model.
const (
	CreateDraft    = "createDraft"
	RenameArtifact = "renameArtifact"
	SetTone        = "setTone"
	SetTags        = "setTags"
	Publish        = "publish"
	Archive        = "archive"
	Reopen         = "reopen"
	DecideProposal = "decideProposal"
	RestoreVersion = "restoreVersion"
)

// Acts are the names of these tools.
var Acts = []string{CreateDraft, RenameArtifact, SetTone, SetTags, Publish, Archive, Reopen,
	DecideProposal, RestoreVersion}

// A Done is the data of the answer of such a tool.
type Done struct {
	Artifact Listed `json:"artifact"`
	Accepted bool   `json:"accepted,omitempty"` // the proposal
	Version  int    `json:"version,omitempty"`  // that is back
	// Then are the steps that createDraft was told to do afterwards.
	Then []string `json:"then,omitempty"`
}

type draftInput struct {
	Title string   `json:"title"`
	Type  string   `json:"type,omitempty" enum:"blog,social_post,showcase" default:"blog"`
	Tone  string   `json:"tone,omitempty" enum:"formal,casual,professional,conversational,technical,friendly,authoritative,humorous"`
	Tags  []string `json:"tags,omitempty"`
	Idea  *Idea    `json:"idea,omitempty" description:"of the suggested topic that the draft is made from"`
	Then  []string `json:"then,omitempty" description:"steps that follow, for runSteps"`
}

func (k *kit) createDraft() tools.Tool {
	return tools.Func[draftInput, Envelope]{
		Spec: tools.Spec{Name: CreateDraft, Category: "content", NoBreaker: true, Idempotent: true,
			Description: "Makes a new draft with a title. Nothing else is done with it."},
		Title: func(_ context.Context, in draftInput) string { return "Make the draft “" + in.Title + "”" },
		Run: func(ctx context.Context, in draftInput) (Envelope, error) {
			return k.answer(ctx, func(c *tools.Call, e *Envelope) error {
				id := idOf(c.IdempotencyKey)
				a, err := k.Store.Artifact(ctx, c.User, id)
				if err != nil { // it isn't a call that is repeated
					a = portfolio.Artifact{ID: id, User: c.User, Type: in.Type, Title: in.Title, Tone: in.Tone,
						Tags: in.Tags}
					if in.Idea != nil {
						if err := in.Idea.Check(); err != nil {
							return err
						}
						text, err := json.Marshal(in.Idea)
						if err != nil {
							return err
						}
						a.Metadata = map[string]json.RawMessage{"idea": text}
					}
					a, err = k.Store.Create(ctx, a)
				}
				if err == nil {
					e.Data, err = json.Marshal(Done{Artifact: ListedOf(&a), Then: in.Then})
				}
				return err
			})
		},
	}
}

// idOf returns the id of the artifact that a call makes, in the form of the others.
func idOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

// acts returns the tools that change an artifact at once.
func (k *kit) acts() []tools.Tool {
	st := k.Store
	type act = func(context.Context, string, portfolio.Artifact, namedArtifact) (portfolio.Artifact, error)
	to := func(status portfolio.Status) act {
		return func(ctx context.Context, user string, a portfolio.Artifact, _ namedArtifact) (portfolio.Artifact,
			error) {
			return st.Move(ctx, user, a.ID, status, portfolio.ByUser)
		}
	}
	publish := func(ctx context.Context, user string, a portfolio.Artifact, in namedArtifact) (portfolio.Artifact,
		error) {
		if err := CheckPlaceholders(a.Content); err != nil {
			return a, err
		}
		return to(portfolio.Published)(ctx, user, a, in)
	}
	return []tools.Tool{k.createDraft(),
		acting(k, RenameArtifact, "Changes the title of an artifact.",
			func(ctx context.Context, user string, a portfolio.Artifact, in renameInput) (portfolio.Artifact, error) {
				return st.Retitle(ctx, user, a.ID, in.Title)
			}),
		acting(k, SetTone, "Sets the tone in which the next texts of an artifact are written.",
			func(ctx context.Context, user string, a portfolio.Artifact, in toneInput) (portfolio.Artifact, error) {
				return st.Apply(ctx, portfolio.Change{User: user, Artifact: a.ID, By: portfolio.ByUser, From: a.Status,
					To: a.Status, Tone: &in.Tone})
			}),
		acting(k, SetTags, "Replaces the tags of an artifact.",
			func(ctx context.Context, user string, a portfolio.Artifact, in tagsInput) (portfolio.Artifact, error) {
				if err := CheckTags(in.Tags); err != nil {
					return a, err
				}
				return st.Apply(ctx, portfolio.Change{User: user, Artifact: a.ID, By: portfolio.ByUser, From: a.Status,
					To: a.Status, Tags: in.Tags})
			}),
		acting(k, Publish, "Publishes an artifact with the status ready.", publish),
		acting(k, Archive, "Archives an artifact.", to(portfolio.Archived)),
		acting(k, Reopen, "Takes an artifact out of the archive, or back from published.",
			func(ctx context.Context, user string, a portfolio.Artifact, in ofArtifact) (portfolio.Artifact, error) {
				status := a.Status
				if status == portfolio.Published || status == portfolio.Archived {
					status = portfolio.Ready
				}
				if a.Content == "" {
					status = portfolio.Draft
				}
				return st.Move(ctx, user, a.ID, status, portfolio.ByUser)
			}),
		acting(k, DecideProposal, "Accepts or rejects the open proposal.",
			func(ctx context.Context, user string, a portfolio.Artifact, in decideInput) (portfolio.Artifact, error) {
				p, err := st.Proposal(ctx, user, a.ID)
				if err != nil {
					return a, err
				}
				if p == nil {
					return a, portfolio.Errorf(portfolio.MissingContext, "There is no open proposal for “%s”.", a.Title)
				}
				return st.Decide(ctx, user, p.ID, in.Accept)
			}),
		acting(k, RestoreVersion, "Restores a version.",
			func(ctx context.Context, user string, a portfolio.Artifact, in restoreInput) (portfolio.Artifact, error) {
				return st.Restore(ctx, user, a.ID, in.Version)
			}),
	}
}

type renameInput struct {
	ofArtifact
	Title string `json:"title"`
}

type toneInput struct {
	ofArtifact
	Tone string `json:"tone" enum:"formal,casual,professional,conversational,technical,friendly,authoritative,humorous"`
}

type tagsInput struct {
	ofArtifact
	Tags []string `json:"tags"`
}

type decideInput struct {
	ofArtifact
	Accept bool `json:"accept"`
}

type restoreInput struct {
	ofArtifact
	Version int `json:"version"`
}

// A namedArtifact is the input of a tool that a user is asked about.
type namedArtifact struct {
	ofArtifact
	About string `json:"about,omitempty"`
}

// does says what a call of a tool does with an artifact, whose title is in quotation marks.
func does(name string, in any, artifact string) string {
	switch in := in.(type) {
	case renameInput:
		return fmt.Sprintf("Rename %s to “%s”", artifact, in.Title)
	case toneInput:
		return fmt.Sprintf("Set the tone of %s to %s", artifact, in.Tone)
	case tagsInput:
		if len(in.Tags) == 0 {
			return "Remove the tags of " + artifact
		}
		return fmt.Sprintf("Set the tags of %s to %s", artifact, strings.Join(in.Tags, ", "))
	case decideInput:
		if in.Accept {
			return "Accept the proposal for " + artifact
		}
		return "Reject the proposal for " + artifact
	case restoreInput:
		return fmt.Sprintf("Restore version %d of %s", in.Version, artifact)
	}
	return upper(name) + " " + artifact // publish, archive, reopen
}

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// Quoted returns the title of an artifact in quotation marks, as the user of the call that ctx
// belongs to may know it. If nobody knows it, it is "an article".
func Quoted(ctx context.Context, store *portfolio.Store, id string) string {
	if c, ok := tools.CallOf(ctx); ok {
		if a, err := store.Artifact(ctx, c.User, id); err == nil {
			return "“" + a.Title + "”"
		}
	}
	return "an article"
}

// acting makes a tool that changes an artifact at once.
func acting[In interface{ target() string }](k *kit, name, description string,
	run func(ctx context.Context, user string, a portfolio.Artifact, in In) (portfolio.Artifact, error)) tools.Tool {
	return tools.Func[In, Envelope]{
		Spec: tools.Spec{Name: name, Category: "content", Description: description, NoBreaker: true, Idempotent: true},
		Title: func(ctx context.Context, in In) string {
			return does(name, in, Quoted(ctx, k.Store, in.target()))
		},
		Run: func(ctx context.Context, in In) (Envelope, error) {
			return k.answer(ctx, func(c *tools.Call, e *Envelope) error {
				a, err := k.Store.Artifact(ctx, c.User, in.target())
				if err != nil {
					return err
				}
				from := a.Status
				if a, err = run(ctx, c.User, a, in); err != nil {
					return err
				}
				if a.Status != from {
					e.StatusTransition = &Moved{from, a.Status}
				}
				done := Done{Artifact: ListedOf(&a)}
				switch in := any(in).(type) {
				case decideInput:
					done.Accepted = in.Accept
				case restoreInput:
					done.Version = in.Version
				}
				e.Data, err = json.Marshal(done)
				return err
			})
		},
	}
}

// placeholder finds what isn't written or drawn yet.
var placeholder = regexp.MustCompile(`\[(?:WRITE|IMAGE): [^\]\n]*\]`)

// CheckPlaceholders returns an *portfolio.Error if a text has something that isn't written or drawn
// yet.
func CheckPlaceholders(text string) error {
	if left := placeholder.FindString(text); left != "" {
		return portfolio.Errorf(portfolio.InvalidInput, "The text has a placeholder left: %s. Fill it in first.", left)
	}
	return nil
}

// CheckTags returns an *portfolio.Error if there are more than 20 tags, or one is longer than 50
// characters.
func CheckTags(tags []string) error {
	if len(tags) > 20 {
		return portfolio.Errorf(portfolio.InvalidInput, "There are %d tags; there can be 20.", len(tags))
	}
	for _, t := range tags {
		if t == "" {
			return portfolio.Errorf(portfolio.InvalidInput, "A tag is empty.")
		}
		if err := portfolio.CheckLength("tag", t, 50); err != nil {
			return err
		}
	}
	return nil
}
