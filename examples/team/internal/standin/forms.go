package standin

import (
	"slices"
	"strings"
	"sync"

	"github.com/pawlkit/pawl/examples/internal/forms"
)

// Where a conversation stands.
const (
	atStart  = "empty"
	atPlan   = "plan"   // a plan waits for approval
	atChange = "change" // in place of a decision on a plan
	atWork   = "work"   // beside a plan that is at work
	atEnd    = "done"   // a plan has ended
)

// What a text asks for, besides the keys of projects.
const (
	wantsList     = "" // it is no request: say what is
	wantsHelp     = "help"
	wantsAnswer   = "answer" // what is said is in the table
	wantsYes      = "yes"
	wantsDrop     = "drop"
	wantsStop     = "stop"
	wantsUndo     = "undo"
	wantsStatus   = "status"
	wantsLibrary  = "library"
	wantsFiles    = "files"
	wantsReadme   = "readme"
	wantsPackages = "packages"
	wantsOne      = "one"
	wantsOnce     = "once"
)

// words stand for parts of forms; see package forms.
var words = [][2]string{
	{"MAKE", `(?:build|make|write|create|code|i'd like|i want|i need|we need)(?: me| us)? (?:an? |the )?` +
		`(?:(?:small|little|simple|new|go) )*`},
	{"TOOL", `(?:command|tool|program|cli|package|library)`},
	{"THAT", `(?:in go )?(?:that|which)`},
	{"INGO", `(?: in go)?`},
	{"WORDS", `(?:the )?words(?: (?:of|in) (?:a |the )?(?:texts?|files?))?`},
	{"SLUGS", `(?:url )?slugs(?: (?:of|from|out of) titles)?`},
	{"TOJSON", `csv(?: files?)? (?:to|into) json`},
	{"ALL", `(?:it|that|this|everything|all(?: of it)?|it all|the (?:work|plan))`},
	{"ROUND", `(?:one|a single) (?:try|round|attempt)`},
}

// A form is one kind of request.
type form struct {
	wants string
	at    string   // where it can be said; empty: everywhere
	like  string   // an example, for the list of what is known; empty: it isn't listed
	says  []string // regular expressions of whole sentences, with the words above
	say   string   // the answer, if that is all
}

// known are all forms. The first one that fits a sentence counts.
var known = []form{
	{wants: "count", at: "empty plan done", like: "Build a command that counts words", says: []string{
		`MAKETOOL THAT counts WORDSINGO`, `MAKETOOLINGO (?:to count|for counting) WORDSINGO`,
		`MAKEword count(?:er|ing)?(?: TOOL)?INGO`}},
	{wants: "slug", at: "empty plan done", like: "Build a package that makes slugs", says: []string{
		`MAKETOOL THAT makes SLUGSINGO`, `MAKETOOL THAT turns titles into slugs`,
		`MAKETOOLINGO (?:to make|for making|for) SLUGSINGO`, `MAKE(?:url )?slug (?:TOOL|maker|generator)INGO`}},
	{wants: "csv", at: "empty plan done", like: "Turn CSV into JSON", says: []string{`(?:turn|convert) TOJSON`,
		`MAKETOOL THAT (?:turns|converts) TOJSON`, `MAKETOOL THAT reads csv and prints json`,
		`MAKETOJSON (?:converter|TOOL)INGO`, `MAKETOOLINGO (?:to turn|to convert) TOJSON`}},
	{wants: wantsReadme, at: "plan change", like: "Add a README", says: []string{
		`(?:also )?(?:add|write|include) (?:a |the )?readme(?: (?:at the end|to the plan|too))?`}},
	{wants: wantsPackages, at: "plan change", like: "Only the packages", says: []string{
		`(?:build )?(?:only|just) the (?:packages?|library)`, `(?:leave out|skip|remove) the (?:command|cli)`,
		`without the command(?:,? only the packages?)?`}},
	{wants: wantsOne, at: "plan change", like: "One engineer", says: []string{
		`(?:use )?(?:only )?one engineer(?: is enough)?`, `have one engineer do (?:all of it|everything)`}},
	{wants: wantsOnce, at: "plan change", like: "Only one try", says: []string{
		`(?:allow )?(?:only|just) ROUND(?: for each step)?(?:,? and ask me if the checks fail)?`}},
	{wants: wantsDrop, at: "plan change", like: "Drop the plan", says: []string{`(?:drop|reject|forget) ALL`,
		`never ?mind`, `no(?:, thank you)?`}},
	{wants: wantsYes, at: "plan change", says: []string{`yes|ok|okay|go ahead|(?:looks )?good|approve(?: ALL)?`},
		say: "Approve it with its button, or with a key in the terminal: so it is sure what you have approved."},
	{wants: wantsStop, at: "plan change work", like: "Stop", says: []string{`(?:stop|cancel|abort)(?: ALL)?`}},
	{wants: wantsUndo, at: "done", like: "Undo everything", says: []string{`(?:undo|revert)(?: ALL)?`,
		`take (?:ALL back|back everything)`}},
	{wants: wantsStatus, at: "empty plan work done", like: "How far is it?", says: []string{`(?:what(?:'s| is) the )?(?:status|progress)\??`,
		`how far (?:is it|are you|are they|is the team)\??`, `is it (?:done|ready|finished)(?: yet)?\??`}},
	{wants: wantsLibrary, at: "empty plan work done", like: "Look up how other tools count words",
		says: []string{`(?:look up|find out|research) (?P<topic>VALUE)`}},
	{wants: wantsFiles, at: "empty plan done", like: "List the files", says: []string{
		`(?:list|show(?: me)?)(?: all)?(?: the)? files`, `(?:what|which) files (?:are there|did you write)\??`,
		`what(?:'s| is) in (?:the|this) (?:directory|folder)\??`}},
	{wants: wantsAnswer, like: "Which skills do you have?",
		says: []string{`(?:which|what) skills do you have\??`, `(?:list|show(?: me)?) the skills`},
		say:  "The project has two skills: go-style and cli-tools, in .agents/skills. Put more of them there."},
	{wants: wantsAnswer, like: "Are you a model?",
		says: []string{`are you a (?:real )?model\??`, `(?:what|who) are you\??`, `are the tests real\??`},
		say: "I am a stand-in: a script, no language model. Everything else is real: the files are written, `go vet` and " +
			"`go test` run, and a test that fails is a test that fails. With a key of a provider in the environment, that " +
			"model answers instead of me."},
	{wants: wantsAnswer, like: "Who writes the tests?",
		says: []string{`who writes (?:the )?tests\??`, `what does the tester do\??`},
		say: "The tester writes the tests, and only those: files that end with _test.go. Engineers can't change them. So a " +
			"green test means that the code is right, not that the test was bent."},
	{wants: wantsAnswer, like: "Why two engineers?",
		says: []string{`why (?:are there )?two engineers\??`},
		say: "Two parts of the plan don't need each other, so two engineers write them at once, each in a copy of the " +
			"directory. What passes its checks is merged."},
	{wants: wantsAnswer, like: "What happens when I approve?",
		says: []string{`what happens (?:when|if) i approve(?: (?:it|the plan))?\??`},
		say: "Nothing is written before you approve. Then exactly this plan runs: the tester writes the tests, engineers " +
			"write in copies of the directory, and what passes `go vet` and `go test` is merged. You can undo all of it " +
			"afterwards."},
	{wants: wantsAnswer, like: "What does undo do?",
		says: []string{`what (?:does|would) undo do\??`},
		say: "Undo puts each file back as it was before the plan. A file that was changed since stays as it is, and you " +
			"are told so."},
	{wants: wantsAnswer, like: "What is a slug?",
		says: []string{`what(?:'s| is) a slug\??`},
		say:  "A slug is the readable end of an address, made of a title: *Hello, World!* becomes `hello-world`."},
	{wants: wantsAnswer, like: "How do I run it?",
		says: []string{`how (?:do|can) i run it\??`},
		say: "Run it with the go command in the directory, for example `go run ./cmd/words FILE`. The card at the end of " +
			"the plan shows a call that worked."},
	{wants: wantsHelp, like: "Help",
		says: []string{`help(?: me)?`, `what can you (?:do|build|change)\??`, `hi|hello`}},
}

// sentences reads the forms. It is made at the first use, because programs with another model need
// none of it.
var sentences = sync.OnceValue(func() *forms.Forms {
	return forms.New(forms.Config{Words: words, Says: says(), Fit: fit})
})

func says() (all [][]string) {
	for _, f := range known {
		all = append(all, f.says)
	}
	return all
}

// fit reports whether a topic can be one.
func fit(_ int, values map[string]string, quoted map[string]bool) bool {
	topic := strings.NewReplacer(" to ", " of ", " with ", " of ").Replace(values["topic"])
	return topic == "" || quoted["topic"] || forms.Plain(topic, false)
}

// can reports whether a form can be said somewhere.
func (f *form) can(where string) bool {
	return f.at == "" || slices.Contains(strings.Fields(f.at), where)
}

// want returns the form that a text is where a conversation stands. That of wantsList is none.
func want(where, text string) *form {
	read := sentences().Read(text)
	if len(read) != 1 || !known[read[0].Form].can(where) {
		return &form{}
	}
	return &known[read[0].Form]
}

// list returns what can be said where a conversation stands.
func list(where string) string {
	text := "This stand-in is a script, not a model. With ANTHROPIC_API_KEY and ANTHROPIC_MODEL, or the variables of " +
		"another provider (examples/team/README.md has them), a model understands any sentence. These requests it knows " +
		"here, also in a few other words:\n"
	for _, f := range known {
		if f.like != "" && f.can(where) {
			text += "\n- `" + f.like + "`"
		}
	}
	return text
}
