package script

import (
	"strings"

	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
	"github.com/pawlkit/pawl/examples/internal/forms"
)

// An Intent is what a request wants.
type Intent string

// The intents. Unknown is that of all other sentences.
const (
	Unknown  Intent = ""
	Help     Intent = "help"
	Topics   Intent = "topics"
	Create   Intent = "create" // a new artifact, and its steps
	List     Intent = "list"
	Sources  Intent = "sources"
	Status   Intent = "status"
	Export   Intent = "export"
	Work     Intent = "work" // steps of an artifact
	Continue Intent = "continue"
	Edit     Intent = "edit"
	Picture  Intent = "picture" // another one
	Accept   Intent = "accept"
	Reject   Intent = "reject"
	Undo     Intent = "undo"
	Restore  Intent = "restore"
	Publish  Intent = "publish"
	Archive  Intent = "archive"
	Reopen   Intent = "reopen"
	Rename   Intent = "rename"
	Tone     Intent = "tone"
	Tags     Intent = "tags"
	Stop     Intent = "stop"
)

// words stand for parts of forms; see package forms.
var words = [][2]string{
	{"GIVE", `(?:give me|find(?: me)?|suggest|show me|i need|i want)`},
	{"COUNT", `(?P<count>\d+|one|two|three|four|five|six|seven|eight|nine|ten|some|a few)`},
	{"KIND", `(?P<type>blog|blog post|article|post|social post|social media post|linkedin post|showcase|case study)`},
	{"SORTS", `(?P<type>linkedin|blogs?|blog posts|articles|posts|social posts|showcases|case studies)`},
	{"ABOUT", `(?:about|on|called|named|titled)`},
	{"TITLE", `(?P<title>VALUE)`},
	{"FOCUS", `(?P<focus>VALUE)`},
	{"WHICH", `(?:(?P<status>draft|published|archived|ready) )?(?:articles|artifacts|posts)`},
	{"PART", `(?:the )?(?P<part>introduction|intro|conclusion|ending|NTH section|section \d+|section “\d+”|“\d+” section)` +
		`(?: of ARTICLE)?`},
	{"NTH", `(?:first|second|third|fourth|fifth|sixth|last)`},
	{"ARTICLE", `(?:the |my |our )?(?:THING (?:called |named |about |on )?)?(?P<article>VALUE)(?: THING)?`},
	{"THING", `(?:article|draft|post|blog post|social post|showcase)`},
	{"IMAGES", `(?:images|pictures|visuals)`},
	{"TONES", `(?P<tone>` + strings.Join(portfolio.Tones, "|") + `)`},
	{"MANNER", `(?:a (?:bit|little) )?(?:shorter|longer|friendlier|simpler|clearer|livelier|funnier|warmer|(?:more|less) \pL+)`},
	{"REVISE", `(?:shorten|lengthen|simplify|tighten|proofread|rewrite|expand|correct)`},
	{"LIST", `(?P<tags>VALUE)`},
	{"SET", `(?:set|change|make)`},
}

// A form is one kind of request.
type form struct {
	intent Intent
	steps  []string // of Work and Create; none: all of them
	says   []string // regular expressions of whole sentences, with the words above
}

// known are all forms. The first one that fits a sentence counts.
var known = []form{
	{Help, nil, []string{`help(?: me)?`, `what can you (?:do|change)\??`, `hi|hello`,
		`what can i (?:do|ask|say)(?: here)?\??`, `are you (?:an? )?(?:ai|model|script|bot|robot)\??`,
		`(?:how|where) (?:do|can) i (?:set|enter|use) (?:an? |the |my )(?:api )?(?:key|model)\??`}},
	{Stop, nil, []string{`stop(?: (?:it|this|that))?`, `cancel(?: (?:it|this|that))?`}},
	{Topics, nil, []string{`GIVE (?:COUNT )?(?:new )?(?:topics|topic ideas|ideas) about FOCUS for (?:my |our )?SORTS`,
		`GIVE (?:COUNT )?(?:new )?(?:topics|topic ideas|ideas)(?: for (?:my |our )?SORTS)?(?: about FOCUS)?`,
		`what should (?:i|we) write(?: about)?\??`}},
	{Create, nil, []string{`(?:write|create|make|i'd like|i want|i need)(?: me)? an? (?:new )?KIND ABOUT TITLE`,
		`create (?:the )?content for an? (?:new )?KIND ABOUT TITLE`}},
	{Create, []string{}, []string{`(?:create|start|begin|add|make)(?: a)? (?:new )?draft(?: (?:of|for) an? KIND)?` +
		`(?: ABOUT TITLE| (?P<quoted>“\d+”))`}},
	{Work, nil, []string{`create (?:the |all (?:of )?(?:the )?)?content(?: (?:of|for) ARTICLE)?`,
		`(?:create|do|make|write) all of ARTICLE`, `finish ARTICLE`}},
	{List, nil, []string{`(?:show|list)(?: me)?(?: all)?(?: my| the| our)? (?:(?P<status>drafts)|WHICH)`,
		`(?:what|which) (?:(?P<status>drafts)|WHICH) do i have\??`}},
	{Sources, nil, []string{`(?:show|list|what are)(?: me)?(?: the| its| all)? sources(?: (?:of|for) ARTICLE)?\??`}},
	{Export, nil, []string{`(?:export|print) ARTICLE`, `show(?: me)? ARTICLE as markdown`}},
	{Status, nil, []string{`what(?:'s| is) the status(?: of ARTICLE)?\??`, `how far is ARTICLE\??`,
		`(?:show|open|view|see)(?: me)? ARTICLE`}},
	{Work, steps[:1], []string{`research ARTICLE(?: again)?`}},
	{Work, steps[1:2], []string{`(?:make|create|write)(?: me)? (?:an|the|a|a new) (?:outline|skeleton)` +
		`(?: (?:of|for) ARTICLE)?(?: again)?`, `outline ARTICLE(?: again)?`}},
	{Work, steps[2:3], []string{`(?:just )?write (?:the )?(?:text|content|article|post)(?: of ARTICLE)?(?: again)?` +
		`(?P<bare>,? (?:but )?(?:without|skip) (?:the |any )?IMAGES)?`,
		`(?:just )?write (?:it|this)(?: again)?(?P<bare>,? (?:but )?(?:without|skip) (?:the |any )?IMAGES)?`}},
	{Work, steps[4:4], []string{`(?P<bare>(?:skip (?:the )?|without )IMAGES)`}},
	{Work, steps[3:4], []string{`humanize(?: ARTICLE)?`, `make ARTICLE sound (?:more )?(?:human|like a (?:person|human))`}},
	{Work, steps[4:], []string{`(?:now )?(?:add|create|make|draw|generate)(?: the| some)? IMAGES(?: (?:to|for) ARTICLE)?`,
		`illustrate ARTICLE`}},
	{Continue, nil, []string{`(?:continue|go on)(?: with ARTICLE)?`, `try again`}},
	{Accept, nil, []string{`accept(?: (?:it|this|that|(?:the|this) (?:proposal|change)))?`}},
	{Reject, nil, []string{`(?:reject|discard)(?: (?:it|this|that|(?:the|this) (?:proposal|change)))?`}},
	{Undo, nil, []string{`(?:undo|revert)(?: (?:it|that|this|the last (?:change|edit)))?`}},
	{Restore, nil, []string{`(?:restore|go back to) version (?P<version>\d+)(?: of ARTICLE)?`,
		`(?:restore|go back to) the (?:previous|last) version(?: of ARTICLE)?`}},
	{Picture, nil, []string{`(?:replace|redraw) the (?:(?P<nth>NTH) )?(?:picture|image)(?: (?:of|in) ARTICLE)?`}},
	{Reopen, nil, []string{`(?:unpublish|unarchive) ARTICLE`, `take ARTICLE (?:offline|back to ready)`,
		`(?:take|get|restore) ARTICLE (?:out of|from) the archive`}},
	{Publish, nil, []string{`publish(?: ARTICLE)?`, `put ARTICLE online`, `make ARTICLE public`}},
	{Archive, nil, []string{`archive(?: ARTICLE)?`, `(?:move|put) ARTICLE (?:to|into|in) the archive`}},
	{Tone, nil, []string{`SET (?:the |its )?tone(?: of ARTICLE)?(?: to)? TONES`}},
	{Tags, nil, []string{`tag ARTICLE (?:with|as) LIST`, `SET (?:the |its )?tags(?: of ARTICLE)? to LIST`,
		`(?P<add>add) (?:the )?tags? LIST to ARTICLE`}},
	{Rename, nil, []string{`rename ARTICLE (?:to|as) TITLE`, `SET (?:the |its )?title(?: of ARTICLE)? to TITLE`,
		`(?:call|name) (?:it|this) TITLE`}},
	{Edit, nil, []string{`make PART MANNER`, `REVISE PART`, `translate PART (?:in)?to \pL+`,
		`write PART (?P<again>again)`, `(?P<remove>remove|delete|cut) PART`,
		`make ARTICLE MANNER`, `REVISE ARTICLE`, `translate ARTICLE (?:in)?to \pL+`,
		`add (?:a|an|another) (?:paragraph|section|example)(?: (?:about|on) FOCUS)?(?: to ARTICLE)?`}},
}

// steps are the steps of an artifact, in their order.
var steps = []string{portfolio.TopicResearch, portfolio.SkeletonCreator, portfolio.ContentWriter, portfolio.Humanizer,
	portfolio.VisualsCreator}

// sentences reads the forms.
var sentences = forms.New(forms.Config{Words: words, Says: says(), Fit: fit})

func says() (all [][]string) {
	for _, f := range known {
		all = append(all, f.says)
	}
	return all
}
