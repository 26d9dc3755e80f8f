package assistant

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/agent/intent"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
)

// The intents.
const (
	GenerateTopics  = "GENERATE_TOPICS"
	ResearchTopic   = "RESEARCH_TOPIC"
	CreateSkeleton  = "CREATE_SKELETON"
	WriteContent    = "WRITE_CONTENT"
	HumanizeContent = "HUMANIZE_CONTENT"
	CreateVisuals   = "CREATE_VISUALS"
	FullPipeline    = "FULL_PIPELINE"
	PartialPipeline = "PARTIAL_PIPELINE"
	SkipVisuals     = "SKIP_VISUALS"
	QueryStatus     = "QUERY_STATUS"
	ModifyContent   = "MODIFY_CONTENT"
	TryAgain        = "TRY_AGAIN"
	Clarify         = "CLARIFY"
)

func patterns(weight float64, all ...string) (list []intent.Pattern) {
	for _, p := range all {
		list = append(list, intent.Pattern{Text: p, Weight: weight})
	}
	return list
}

// sure and bare are the weights of a pattern with a verb in front, and of a bare word.
const (
	sure = 0.95
	bare = 0.75
)

// some stands for the words before a noun.
const some = `(?:(?:a|an|the|some|my|this|that|its|new|good|few|more|five|three|me|us) )*`

var intents = []intent.Intent{
	{Name: GenerateTopics, Description: "suggest topics",
		Patterns: append(patterns(sure, `research (?:\w+ ){0,3}ideas?`,
			`(?:suggest|give|find|propose|need|want|get|show|brainstorm)s? `+some+`(?:\w+ ){0,2}(?:topics?|ideas?)`,
			`what (?:should|could|can) i (?:write|post|blog)(?: about)?`,
			`ideas? for (?:\w+ ){0,3}(?:posts?|articles?|blogs?)`, `research `+some+`topics`),
			patterns(bare, `ideas?`, `topics`)...)},
	{Name: ResearchTopic, Description: "research the topic of an artifact",
		Patterns: append(patterns(sure, `research (?:about|on|for|into)`, `research (?:this|the|that|it|my)(?: \w+)?`,
			`(?:do|start|run|begin) `+some+`research`,
			`deep dive (?:on|into)`, `gather `+some+`(?:information|research|sources)`,
			`(?:find|collect|look for) `+some+`sources`), patterns(bare, `research`)...)},
	{Name: CreateSkeleton, Description: "make the outline",
		Patterns: append(patterns(sure,
			`(?:create|make|build|generate|draft|write|give me) `+some+`(?:skeleton|outline|structure)`,
			`outline (?:for|the|this|it)`, `structure (?:this|the|my)`),
			patterns(bare, `skeleton`, `outline`)...)},
	{Name: WriteContent, Description: "write the text",
		Patterns: patterns(sure,
			`(?:write|draft) `+some+`(?:content|article|post|text|blog|sections?|showcase|it|this)`, `just write`,
			`fill in `+some+`sections`, `expand `+some+`(?:skeleton|outline)`)},
	{Name: HumanizeContent, Description: "make the text sound human",
		Patterns: append(patterns(sure, `humani[sz]e`,
			`(?:sounds?|more|read) (?:more |less )?(?:human|natural|like a (?:person|human)|robotic|like a machine)`,
			`remove (?:the )?ai (?:patterns|writing|tone|phrases)`), patterns(bare, `natural(?:ize)?`)...)},
	{Name: CreateVisuals, Description: "add the images",
		Patterns: append(patterns(sure,
			`(?:create|generate|add|make|draw|need|insert) `+some+`(?:\w+ )?(?:images?|visuals?|pictures?|illustrations?)`, `illustrate`), patterns(bare, `images?`, `visuals?`)...)},
	{Name: FullPipeline, Description: "create everything",
		Patterns: append(patterns(1, `create content for artifact`),
			patterns(sure, `(?:create|generate|produce) (?:the |all |full |complete )*content`,
				`full (?:content )?(?:creation|pipeline|workflow)`,
				`(?:complete|whole|entire) (?:the )?(?:workflow|pipeline|process)`,
				`(?:from )?start to finish`, `do everything`)...)},
	{Name: SkipVisuals, Description: "finish without images",
		Patterns: patterns(1, `skip (?:the )?(?:visuals?|images?|pictures?)`,
			`(?:without|no) (?:any )?(?:visuals?|images?|pictures?)`,
			`i(?:'ll| will) add (?:the )?(?:images|pictures) myself`)},
	{Name: QueryStatus, Description: "say where it stands",
		Patterns: append(patterns(sure, `(?:what's|what is|show|tell me|check) `+some+`(?:status|progress)`,
			`where are we`, `how far`, `is it (?:done|ready|finished)`), patterns(bare, `progress`, `status`)...)},
	{Name: ModifyContent, Description: "change the text",
		Patterns: patterns(sure,
			`(?:change|edit|modify|update|shorten|tighten|trim|cut|rewrite|rephrase|reword|fix|delete|remove|drop|take out|`+
				`replace|improve|translate|condense) `+some+`(?:\w+ )?(?:title|headline|paragraph|section|introduction|`+
				`intro|conclusion|ending|tone|text|content|article|artifact|heading|hook|grammar)s?`,
			`(?:shorten|tighten|trim|translate|rewrite|rephrase|reword) (?:it|this|that)`,
			`(?:make|keep) (?:it|this|the (?:\w+ )?(?:text|article|introduction|intro|conclusion|section|ending)) `+
				`(?:(?:much|a bit|a little|more|less|sound|read) )*(?:shorter|longer|funnier|clearer|friendlier|warmer|`+
				`simpler|punchier|formal|casual|friendly|serious|salesy|stiff)`,
			`(?:friendlier|warmer|simpler|clearer) (?:tone|style|text)`, `(?:more|less) (?:formal|casual|friendly|stiff|salesy)`,
			`(?:rename|call) (?:it|this)`)},
	{Name: TryAgain, Description: "go on where it failed or was stopped",
		Patterns: patterns(sure, `try (?:it |that )?again`, `retry`, `continue(?: (?:it|this|that))?`, `go on`,
			`resume`, `carry on`)},
}

// tools are those of the intents that change an artifact.
var steps = map[string][]string{
	ResearchTopic: {portfolio.TopicResearch}, CreateSkeleton: {portfolio.SkeletonCreator},
	WriteContent: {portfolio.ContentWriter}, HumanizeContent: {portfolio.Humanizer},
	CreateVisuals: {portfolio.VisualsCreator}, FullPipeline: Full,
}

// trigger is the message of the button.
var trigger = regexp.MustCompile(`^Create content for artifact ([A-Za-z0-9-]+):`)

// between separates steps that are named one after the other.
var between = regexp.MustCompile(`(?i),? (?:and )?then |, and |, | and |; `)

// detect returns what a message of a user wants, and the tools for it in their order. The model is
// asked where the rules aren't sure; if that fails, the rules decide.
func (s *Services) detect(ctx context.Context, user, message string) (v intent.Verdict, names []string) {
	v, names = detect(s.detector, message)
	if !s.cfg.Classify || v.Band() == intent.Act {
		return v, names
	}
	asked, err := s.detector.Detect(context.WithValue(ctx, userKey{}, user), message)
	if err != nil {
		s.cfg.Logger.WarnContext(ctx, "content: the model can't say what a message wants", "error", err)
		return v, names
	}
	if asked.Intent == "" {
		asked.Intent = Clarify
	}
	return asked, steps[asked.Intent]
}

// confirmed returns what the user has confirmed, and the tools for it: asked is the intent and the
// message.
func (s *Services) confirmed(asked string) (v intent.Verdict, names []string) {
	name, message, _ := strings.Cut(asked, "\n")
	names = steps[name]
	if name == PartialPipeline {
		_, names = detect(s.detector, message)
	}
	return intent.Verdict{Intent: name, Confidence: 1, From: intent.FromPerson}, names
}

// detect returns what a message wants by the rules. Several steps that are named one after the
// other are a partial pipeline, unless the message forbids or asks something.
func detect(d *intent.Detector, message string) (v intent.Verdict, names []string) {
	v = d.Match(message)
	if v.Intent == SkipVisuals || trigger.MatchString(message) {
		return v, steps[v.Intent]
	}
	for _, part := range between.Split(message, -1) {
		if one := d.Match(strings.TrimSpace(part)); one.Confidence >= 0.7 && len(steps[one.Intent]) == 1 &&
			!slices.Contains(names, steps[one.Intent][0]) {
			names = append(names, steps[one.Intent][0])
		}
	}
	if len(names) > 1 && intent.Plain(message) {
		slices.SortFunc(names, func(a, b string) int { return slices.Index(Full, a) - slices.Index(Full, b) })
		return intent.Verdict{Intent: PartialPipeline, Confidence: sure, From: intent.FromRules}, names
	}
	if v.Intent == "" {
		v.Intent = Clarify
	}
	return v, steps[v.Intent]
}
