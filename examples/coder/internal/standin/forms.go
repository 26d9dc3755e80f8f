package standin

import (
	"slices"
	"strings"
	"sync"

	"github.com/pawlkit/pawl/examples/internal/forms"
)

// What a text asks for.
const (
	doesHelp    = "help"
	doesMend    = "mend"
	doesPropose = "propose"
	doesAdd     = "add"
	doesComment = "comment"
	doesRename  = "rename"
	doesAppend  = "append"
	doesReplace = "replace"
	doesFind    = "find"
	doesCheck   = "check"
	doesReview  = "review"
	doesCommit  = "commit"
	doesGoOn    = "go on"
	doesYes     = "yes"
	doesNo      = "no"
	doesUndo    = "undo"
	doesLimit   = "limit" // it only forbids something, as the reason of a rejection does
	doesOffer   = ""      // it isn't known: say what is
)

// A limit is something that a request forbids.
const (
	noCommit = "commit"
	noRun    = "run"
	keepName = "name"
)

// words stand for parts of forms; see package forms.
var words = [][2]string{
	{"MEND", `(?:fix|mend|repair)`},
	{"WRONG", `(?:it|the bugs?|the (?:failing |broken )?tests?)`},
	{"LIMITS", `(?P<limits>(?:(?:,|,? but|,? and)? LIMIT)+)?`},
	{"LIMIT", `(?:NOT commit(?: (?:it|anything|yet))?|without committing(?: it| anything)?|` +
		`NOT run (?:it|the tests|anything)|without running (?:it|the tests|anything)|keep (?:the|its) (?:variable )?names?)`},
	{"NOT", `(?:don't|do not|not)`},
	{"TEST", `(?:(?:,| and)? (?:with|and) (?:a |its )?tests?)?`},
	{"NAME", `(?:the )?(?:function |type )?(?P<name>“\d+”|[\w.]+)`},
	{"FILE", `(?:the )?(?:file )?(?P<file>[\w./-]*\.(?:go|md|mod|sum|txt|json|ya?ml|toml|html|css|js|ts|py|sh))`},
	{"SHOW", `(?:show(?: me)?|read|open|print)`},
}

// A form is one kind of request.
type form struct {
	act  string
	says []string // regular expressions of whole sentences, with the words above
	like []string // examples of it, for the list of what is known
}

// known are all forms. The first one that fits a sentence counts.
var known = []form{
	{doesMend, []string{`MEND WRONG(?: and commit(?: it)?)?LIMITS`, `make the tests? (?:pass|green)LIMITS`},
		[]string{"Fix the failing test", "Fix the failing test, but don't commit"}},
	{doesPropose, []string{`what would you change(?: to make the tests? pass)?\??`, `how would you MEND WRONG\??`,
		`(?:suggest|propose) a fix(?: for WRONG)?(?:,? (?:but )?(?:don't change|do not change|without changing) anything)?`},
		[]string{"What would you change?"}},
	{doesAdd, []string{`(?:add|write) a (?:new )?functionTESTLIMITS`,
		`(?:add|write) a (?:new )?function (?:that|which) (?P<name>indents|shortens)(?: (?:lines|a text|texts))?TESTLIMITS`,
		`(?:add|write) (?:an? |the )?(?:function )?(?P<name>indent|shorten)(?: function)?TESTLIMITS`},
		[]string{"Add a function with a test", "Add a function that shortens a text, with a test"}},
	{doesReplace, []string{`(?:replace|change) (?P<old>“\d+”) (?:by|with|to) (?P<new>“\d+”) in FILELIMITS`},
		[]string{"Replace “at spaces” by “between words” in wrap.go"}},
	{doesRename, []string{`rename (?P<old>\w+) (?:to|as|into) (?P<new>\w+)(?: in FILE)?LIMITS`},
		[]string{"Rename Longest to Widest"}},
	{doesAppend, []string{`(?:append|add) (?:the line )?(?P<new>“\d+”) to (?:the end of )?FILELIMITS`},
		[]string{"Append “More to come.” to README.md"}},
	{doesComment, []string{`add a (?:doc |documentation )?comment (?:to|for) (?:the )?(?:function |type )?(?P<old>\w+)` +
		`(?: in FILE)?(?: (?:that says|saying) (?P<new>“\d+”))?LIMITS`}, []string{"Add a doc comment to Longest"}},
	{doesFind, []string{`where is NAME(?: defined)?\??`, `(?:find|list|show(?: me)?) (?:all |the )?uses of NAME`,
		`(?:SHOW|explain) FILE`, `(?:search for|grep|find|explain) NAME`, `(?:what|how) does NAME (?:do|work)\??`,
		`(?P<list>(?:list|show(?: me)?)(?: all)?(?: the)? files|(?:what|which) files are (?:there|here)\??|` +
			`what(?:'s| is) in this (?:repository|folder|directory)\??)`},
		[]string{"Where is Lines defined?", "Explain Lines", "Show me wrap.go", "List the files"}},
	{doesCheck, []string{`(?:run|rerun) (?:all )?the tests(?: again)?(?: and say what fails)?`, `go test(?: \./\.*)?`,
		`(?:which|what) tests? (?:fail|fails|failed)\??`, `do (?:all )?the tests pass(?: now)?\??`,
		`are the tests green(?: now)?\??`, `why does the test fail\??`,
		`(?P<vet>(?:run )?go vet(?: \./\.*)?|vet (?:it|the code))`},
		[]string{"Run the tests and say what fails", "Run go vet"}},
	{doesReview, []string{`what (?:has )?changed\??`, `what did you change\??`, `review (?:my|the|your) changes`,
		`review what changed`, `show(?: me)? the (?:diff|changes)`, `git (?:status|diff)`}, []string{"What changed?"}},
	{doesCommit, []string{`review what changed and commit it`, `commit (?:it|them|everything|(?:the|my|your) changes?)`},
		[]string{"Review what changed and commit it"}},
	{doesGoOn, []string{`(?:go on|continue|carry on|resume|try again)LIMITS`}, []string{"Go on"}},
	{doesYes, []string{`yes(?:,? please)?LIMITS`, `(?:(?:yes|ok|okay|sure),? )?(?:do it|go ahead)LIMITS`}, nil},
	{doesNo, []string{`no|not yet|never ?mind|stop|cancel`}, nil},
	{doesLimit, []string{`(?:no,? )?(?:but )?(?:please )?(?P<first>LIMIT)LIMITS`}, nil},
	{doesUndo, []string{`(?:undo|revert)(?: (?:it|that|this|everything|the last (?:run|change)))?`}, []string{"Undo that"}},
	{doesHelp, []string{`help(?: me)?`, `what can you do\??`, `who are you\??`, `hi|hello`}, []string{"Help"}},
}

// sentences reads the forms. It is made at the first use, because programs with another model need
// none of it.
var sentences = sync.OnceValue(func() *forms.Forms {
	return forms.New(forms.Config{Words: words, Says: says(), Fit: fit, Spaces: true})
})

func says() (all [][]string) {
	for _, f := range known {
		all = append(all, f.says)
	}
	return all
}

// fit reports whether the values of a sentence can be what they stand for.
func fit(_ int, values map[string]string, quoted map[string]bool) bool {
	for _, name := range []string{"old", "new", "name"} {
		if v := values[name]; v != "" && !quoted[name] && !forms.Plain(v, false) {
			return false
		}
	}
	return true
}

// A wish is what a text asks for.
type wish struct {
	act    string
	text   string            // of the person
	values map[string]string // of the sentence
	limits map[string]bool   // what is forbidden
}

// reads reports whether an act changes nothing.
func reads(act string) bool {
	return slices.Contains([]string{doesFind, doesCheck, doesReview, doesPropose}, act)
}

// edits reports whether an act changes files.
func edits(act string) bool {
	return slices.Contains([]string{doesMend, doesAdd, doesComment, doesRename, doesAppend, doesReplace}, act)
}

// understand returns what a text asks for. Limits may be a paragraph of their own, as in the steps
// of plans.
func understand(text string) wish {
	w := wish{act: doesOffer, text: text, limits: make(map[string]bool)}
	said, orders, two := strings.Cut(strings.TrimSpace(text), "\n\n")
	read := sentences().Read(strings.ReplaceAll(said, "`", `"`))
	if len(read) != 1 {
		return w
	}
	w.values = read[0].Values
	forbidden := w.values["first"] + w.values["limits"]
	if two {
		also := understand(orders)
		if also.act != doesLimit {
			return w
		}
		forbidden += also.values["first"] + also.values["limits"]
	}
	w.act = known[read[0].Form].act
	for _, limit := range []string{noCommit, noRun, keepName} {
		if strings.Contains(strings.ToLower(forbidden), limit) {
			w.limits[limit] = true
		}
	}
	return w
}

// order returns what a step of a plan is told. Steps commit nothing.
func (w *wish) order() string {
	text, _, _ := strings.Cut(w.text, "\n\n")
	text += "\n\nDon't commit"
	if w.limits[noRun] {
		text += ", don't run the tests"
	}
	if w.limits[keepName] {
		text += ", keep the names"
	}
	return text + "."
}

// list returns what is known, as it can be said.
func list() string {
	text := ""
	for _, f := range known {
		for _, like := range f.like {
			text += "\n- `" + like + "`"
		}
	}
	return text
}
