package contenttools

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent/prompt"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/mock"
	"github.com/pawlkit/pawl/tools/web"
)

// The names of the tools that change no status; the others are in package portfolio.
const (
	TopicsResearch      = "topicsResearch"
	FetchArtifactTopics = "fetchArtifactTopics"
	FetchArtifact       = "fetchArtifact"
	FetchResearch       = "fetchResearch"
	ListDraftArtifacts  = "listDraftArtifacts"
	StructuredResponse  = "structuredResponse"
)

// PipelinePrefix begins the names of the runs of plans whose calls share the lock of an artifact:
// content/<artifact>/<number>.
const PipelinePrefix = "content/"

// lease is how long a lock lasts if nobody renews it. The writer renews it with each section.
const lease = 60 * time.Second

// A Config has what the tools work with. Store and Images are required.
type Config struct {
	Store     *portfolio.Store
	Sources   []web.Searcher    // none: nothing is searched, and the research says so
	Images    provider.Provider // answers requests with Images
	ImageSize string            // in the terms of its provider; "": what that usually makes
	Mocks     *mock.Set         // nil: nothing is mocked
	Logger    *slog.Logger      // gets why tools failed; nil: nothing is logged
}

// A kit is what the tools share.
type kit struct {
	Config
	prompts *prompt.Set
}

// All returns the eleven tools and structuredResponse.
func All(cfg Config) ([]tools.Tool, error) {
	switch {
	case cfg.Store == nil:
		return nil, errors.New("contenttools: Config.Store is nil; open one with portfolio.Open")
	case cfg.Images == nil:
		return nil, errors.New("contenttools: Config.Images is nil; providertest.Draw needs no key")
	}
	prompts, err := loadPrompts()
	if err != nil {
		return nil, err
	}
	k := &kit{cfg, prompts}
	return append([]tools.Tool{k.topics(), k.research(), k.skeleton(), k.writer(), k.humanizer(), k.visuals(),
		k.proposeEdit(),
		k.lists(FetchArtifactTopics, "topics", "Lists the user's artifacts with titles, types and statuses."),
		k.lists(ListDraftArtifacts, "artifacts", "Lists the user's artifacts with the status draft.", portfolio.Draft),
		k.fetchArtifact(), k.fetchResearch(), structured()}, k.acts()...), nil
}

// A job is one call of a tool that writes.
type job struct {
	kit      *kit
	tool     string
	user     string
	holder   string // of the lock
	key      string
	artifact portfolio.Artifact
}

// holderOf returns who holds the lock for a call: its pipeline, or the call itself.
func holderOf(c *tools.Call) string {
	if pipeline := pipelineName.FindString(c.Session); pipeline != "" {
		return strings.TrimSuffix(pipeline, "/")
	}
	return c.IdempotencyKey
}

var pipelineName = regexp.MustCompile("^" + PipelinePrefix + "[^/]*/[^/]*/")

// An ofArtifact begins the inputs of tools that are about an artifact.
type ofArtifact struct {
	ArtifactID string `json:"artifactId"`
}

func (in ofArtifact) target() string { return in.ArtifactID }

// A repeat is a part of the inputs of steps.
type repeat struct {
	Again bool `json:"again,omitempty" description:"do it again, although it was done before: see portfolio.Again"`
}

func (r repeat) again() bool { return r.Again }

// makes say what the tools of steps do with an artifact.
var makes = map[string]string{portfolio.TopicResearch: "Research", portfolio.SkeletonCreator: "Outline",
	portfolio.ContentWriter: "Write the text of", portfolio.Humanizer: "Revise",
	portfolio.VisualsCreator: "Make the images of"}

// writing makes a tool that changes an artifact. run does the work and returns the change and the
// data of the answer.
func writing[In interface{ target() string }](k *kit, spec tools.Spec,
	run func(context.Context, *job, In) (portfolio.Change, any, error)) tools.Tool {
	spec.Category, spec.Risk, spec.Idempotent, spec.Progress, spec.UndoFailed, spec.NoBreaker = "content", tools.Medium,
		true, true, true, true
	return tools.Func[In, Envelope]{
		Spec: spec,
		Title: func(ctx context.Context, in In) string {
			return makes[spec.Name] + " " + Quoted(ctx, k.Store, in.target())
		},
		Run: func(ctx context.Context, in In) (Envelope, error) {
			return k.answer(ctx, func(c *tools.Call, e *Envelope) error {
				again, _ := any(in).(interface{ again() bool })
				return k.perform(ctx, c, e, in.target(), spec.Name, again != nil && again.again(),
					func(j *job) (portfolio.Change,
						any, error) {
						return run(ctx, j, in)
					})
			})
		},
		Verify: func(ctx context.Context, in In, out Envelope) error {
			c, _ := tools.CallOf(ctx)
			a, err := k.Store.Artifact(ctx, c.User, in.target())
			if err != nil {
				return err
			}
			if portfolio.Hash(a.Content, "") != out.ContentHash {
				return tools.Mismatch{Expected: "the text that the tool wrote", Actual: "another text",
					Suggestion: "Look at the artifact again with fetchArtifact."}
			}
			return nil
		},
		Undo: func(ctx context.Context, _ In, _ Envelope) error {
			c, _ := tools.CallOf(ctx)
			_, err := k.Store.Undo(ctx, "", c.IdempotencyKey, holderOf(c))
			return err
		},
	}
}

// reading makes a tool that changes nothing.
func reading[In any](k *kit, spec tools.Spec,
	run func(ctx context.Context, user string, in In) (any, error)) tools.Tool {
	spec.Category, spec.ReadOnly, spec.NoBreaker = "content", true, true
	return tools.Func[In, Envelope]{Spec: spec, Run: func(ctx context.Context, in In) (Envelope, error) {
		return k.answer(ctx, func(c *tools.Call, e *Envelope) error {
			data, err := run(ctx, c.User, in)
			if err == nil {
				e.Data, err = json.Marshal(data)
			}
			return err
		})
	}}
}

// answer makes the envelope of a call.
func (k *kit) answer(ctx context.Context, f func(*tools.Call, *Envelope) error) (Envelope, error) {
	began := time.Now()
	c, ok := tools.CallOf(ctx)
	if !ok || c.User == "" {
		err := portfolio.Errorf(portfolio.Unauthorized, "The tool needs a user; set agent.Input.User.")
		return Envelope{}, &Failure{Envelope{Error: Explain(err)}, err}
	}
	e := Envelope{}
	err := f(c, &e)
	if errors.Is(ctx.Err(), context.Canceled) { // it isn't the step that has failed
		return Envelope{}, context.Cause(ctx)
	}
	if err != nil {
		e = Envelope{Error: Explain(err)}
	}
	e.Success, e.TraceID = err == nil, cmp.Or(c.Labels.Get("trace"), c.Session)
	e.Duration = time.Since(began).Milliseconds()
	if err == nil {
		return e, nil
	}
	if k.Logger != nil {
		k.Logger.WarnContext(ctx, "tool failed", "component", c.Name, "trace", e.TraceID,
			"category", e.Error.Category, "error", err, "cause", errors.Unwrap(err))
	}
	return Envelope{}, &Failure{e, err}
}

// perform runs a tool on an artifact that it has locked, and makes the change.
func (k *kit) perform(ctx context.Context, c *tools.Call, e *Envelope, id, tool string, again bool,
	run func(*job) (portfolio.Change, any, error)) error {
	j := &job{kit: k, tool: tool, user: c.User, holder: holderOf(c), key: c.IdempotencyKey}
	if old, ok, err := k.Store.Done(ctx, j.key); err != nil {
		return err
	} else if ok {
		return json.Unmarshal(old, e)
	}
	if err := cmp.Or(CheckID(id), k.Store.Lock(ctx, j.user, id, j.holder, lease)); err != nil {
		return err
	}
	if j.holder == j.key {
		defer k.Store.Unlock(context.WithoutCancel(ctx), id, j.holder) // it ends by itself otherwise
	}
	var err error
	if j.artifact, err = k.Store.Artifact(ctx, j.user, id); err != nil {
		return err
	}
	if allowed := portfolio.Allowed[tool]; !slices.Contains(allowed, j.artifact.Status) &&
		!(again && portfolio.Again(tool, j.artifact.Status)) {
		var needed []string
		for _, s := range allowed {
			needed = append(needed, s.Words())
		}
		return &portfolio.Error{Category: portfolio.InvalidStatus, Status: j.artifact.Status,
			Message: fmt.Sprintf("“%s” is %s. For this step it has to be %s.", j.artifact.Title,
				j.artifact.Status.Words(), strings.Join(needed, " or "))}
	}
	before := j.artifact.Status
	change, data, err := run(j)
	if err != nil {
		return err
	}
	change.User, change.Artifact, change.Holder, change.By, change.Tool, change.Key = j.user, id, j.holder,
		portfolio.ByTool, tool, j.key
	if e.Data, err = json.Marshal(data); err != nil {
		return err
	}
	content := j.artifact.Content
	if change.Content != nil {
		content = *change.Content
	}
	e.ContentHash = portfolio.Hash(content, "")
	if before != change.To {
		e.StatusTransition = &Moved{before, change.To}
	}
	change.Output = *e
	_, err = k.Store.Apply(ctx, change)
	return err
}

// artifact returns an artifact of a user.
func (k *kit) artifact(ctx context.Context, user, id string) (portfolio.Artifact, error) {
	if err := CheckID(id); err != nil {
		return portfolio.Artifact{}, err
	}
	return k.Store.Artifact(ctx, user, id)
}

var idForm = regexp.MustCompile(`^[A-Za-z0-9-]{1,64}$`)

// CheckID returns an error if an id has none of the forms of ids.
func CheckID(id string) error {
	if !idForm.MatchString(id) {
		return portfolio.Errorf(portfolio.InvalidArtifactID,
			"The artifactId isn't valid; it has letters, digits and hyphens, at most 64.")
	}
	return nil
}

// excerpt returns at most n characters of a text.
func excerpt(text string, n int) string {
	if r := []rune(text); len(r) > n {
		return string(r[:n]) + "…"
	}
	return text
}

// tail returns the last n characters of a text.
func tail(text string, n int) string {
	if r := []rune(text); len(r) > n {
		return "…" + string(r[len(r)-n:])
	}
	return text
}
