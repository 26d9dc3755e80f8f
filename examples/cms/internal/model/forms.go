package model

import (
	"strings"

	"github.com/pawlkit/pawl/examples/internal/forms"
)

// A form is one kind of request: the call that it takes, or a function. Values of the sentence are
// $name in an input, and {name} in a text: page, slug, kind, slot, section, text and others.
type form struct {
	says    []string // regular expressions of whole sentences, with the words below
	tool    string
	input   values
	doing   string // as in "I couldn't …"
	done    string // the answer
	instead string // what is offered to somebody who rejects the call and wants something else
	run     func(t *turn, r *request) (string, error)
}

type values = map[string]any

// words stand for parts of forms; see package forms.
var words = [][2]string{
	{"ADD", `(?:create|make|add|put|insert|set up|i'd like|i want|i need|we need)`},
	{"SET", `(?:change|set|update|replace)`},
	{"DELETE", `(?:delete|remove|get rid of)`},
	{"SHOW", `(?:show(?: me)?|open|preview|view|(?:let me )?see|go to)`},
	{"FIELD", `(?:the )?(?:hero )?(?P<field>headline|title|subtitle|button text|text|body|quote)`},
	{"WITH", `(?:,? with (?:a |an )?KIND(?: SAYING)?)?`},
	{"SAYING", `(?:titled|saying|that says|(?:with|that has) the (?:title|headline|text)):? TEXT`},
	{"KIND", `(?:contact )?(?P<kind>hero|text|quote|form|feature|gallery|columns|cta)(?: section)?`},
	{"PAGE", `(?:the |my |our )?(?:page (?:called |named )?)?(?P<page>VALUE)(?: page)?`},
	{"FILE", `(?P<file>“\d+”|\S+\.\w+)`},
	{"TEXT", `(?P<text>VALUE)`},
}

// slots are where the text of a section goes, if it isn't its title. fields are the sections and
// the slots of the texts that can be changed.
var (
	slots  = map[string]string{"text": "body", "quote": "text", "cta": "text", "columns": "left", "gallery": "heading"}
	fields = map[string][2]string{"headline": {"hero", "title"}, "title": {"hero", "title"},
		"subtitle": {"hero", "subtitle"}, "button text": {"hero", "ctaText"}, "text": {"text", "body"},
		"body": {"text", "body"}, "quote": {"quote", "text"}}
)

// known are all forms that the script knows, and sentences reads them.
var (
	known     []form
	sentences *forms.Forms
)

func init() {
	update := func(property, value string) values { return values{"page": "$slug", property: value} }
	known = []form{
		{says: []string{`(?:list|show(?: me)?) (?:all )?(?:the |my |our )?pages`,
			`(?:what|which) pages (?:exist|are there|do (?:we|i) have)\??`}, run: listPages},
		{says: []string{`SHOW (?:the )?KIND (?:on|of|from) PAGE`}, run: showSection},
		{says: []string{`SHOW PAGE`}, run: showPage},
		{says: []string{`ADD (?:a |an |another )?KIND (?:to|on) PAGE(?: SAYING)?`,
			`ADD (?:a |an |another )?KIND (?P<text>“\d+”) (?:to|on) PAGE`,
			`ADD (?:a |an |another )?(?P<kind>[\w-]+) section (?:to|on) PAGE(?: SAYING)?`},
			tool: "cms.addSectionToPage", doing: "add the section {kind} to the page {page}",
			input: values{"page": "$slug", "section": "$kind", "content": values{"$slot": "$text"}},
			done:  "The page {page} has a section {kind} now: “{text}”"},
		{says: []string{`ADD (?:a )?(?:new )?page (?:called|named|titled) (?P<name>VALUE)WITH`,
			`ADD (?:a )?(?:new )?page (?P<name>“\d+”)WITH`,
			`ADD an? (?:new )?(?P<name>“\d+”|[^\s“”]+) pageWITH`}, run: createPage},
		{says: []string{`rename PAGE (?:to|as) TEXT`, `SET the name of PAGE to TEXT`,
			`call (?:the )?(?P<page>VALUE) page TEXT`}, tool: "cms.updatePage", input: update("name", "$text"),
			doing: "rename the page {page}", done: "The page {page} is called “{text}” now."},
		{says: []string{`SET FIELD (?:of|on) PAGE (?:to|by|with) TEXT`}, tool: "cms.syncPageContents",
			input: values{"page": "$slug", "contents": values{"$section": values{"$slot": "$text"}}},
			doing: "change the {field} of the page {page}",
			done:  "The {field} of the page {page} is “{text}” now."},
		{says: []string{`publish PAGE`, `put PAGE (?:back )?(?:online|live)`, `make PAGE (?:public|live|visible)`},
			tool: "cms.updatePage", input: update("status", "published"), doing: "publish the page {page}",
			done: "The page {page} is published."},
		{says: []string{`unpublish PAGE`, `take PAGE offline`, `(?:make|set) PAGE (?:to )?(?:a )?draft`},
			tool: "cms.updatePage", input: update("status", "draft"), doing: "take the page {page} offline",
			done: "The page {page} is offline: it is a draft now."},
		{says: []string{`DELETE (?:the )?KIND (?:from|on|of) PAGE`, `take (?:the )?KIND off PAGE`},
			tool: "cms.removeSection", input: values{"sectionId": "$section"},
			doing: "remove the {kind} from the page {page}", done: "I removed the {kind} from the page {page}."},
		{says: []string{`DELETE PAGE`}, tool: "cms.deletePage", input: values{"page": "$slug"},
			doing: "delete the page {page}", done: "I deleted the page {page}.", instead: `Take "{slug}" offline`},
		{says: []string{`SET the (?:address|slug|url) of PAGE to /?(?P<to>“\d+”|[a-z0-9-]+)`,
			`move PAGE to /(?P<to>[a-z0-9-]+)`}, tool: "cms.updatePage", input: update("newSlug", "$to"),
			doing: "change the address of the page {page}", done: "The page {page} is at /{to} now."},
		{says: []string{`describe PAGE as (?P<list>VALUE)`, `SET the description of PAGE to (?P<list>VALUE)`},
			tool: "cms.updatePage", input: update("description", "$list"), doing: "describe the page {page}",
			done: "The page {page} is described as “{list}” now."},
		{says: []string{`(?:undo|revert)(?: (?:that|it|this|(?:the|my|your) last change))?`, `take (?:that|it) back`}, run: undo},
		{says: []string{`(?:find|search(?: for)?|look for) (?:the )?(?P<query>VALUE)`,
			`where is (?P<query>VALUE)\?`}, run: find},
		{says: []string{`(?:put|use) FILE (?:on|for) PAGE(?: as the (?:hero )?picture)?`,
			`use FILE as the (?:hero )?picture (?:on|of|for) PAGE`}, tool: "cms.addPicture",
			input: values{"page": "$slug", "section": "hero", "media": "$file"},
			doing: "put {file} on the page {page}", done: "The hero of the page {page} shows {file} now."},
		{says: []string{`(?:fetch|read) (?P<url>https?://\S+)`}, tool: "http.fetch", input: values{"url": "$url"},
			doing: "read {url}", done: "{url} says:\n\n{result}"},
		{says: []string{`replace the slots of the hero by headline`}, tool: "cms.syncSectionElements",
			input: values{"definition": "hero", "elements_structure": textSlot("headline")},
			doing: "change the slots of the section hero",
			done:  "The section hero has the slot headline now. Texts of its other slots are kept, and hidden."},
		{says: []string{`read the kinds of sections a hundred times`}, run: hundred},
		{says: []string{`help(?: me)?`, `what (?:can|do) you (?:do|know)\??`, `hi|hello`,
			`what can i (?:do|ask|say)(?: here)?\??`, `are you (?:an? )?(?:ai|model|script|bot|robot)\??`}, run: (*turn).help},
		{says: []string{`(?:how|where) (?:do|can) i (?:set|enter|use) (?:an? |the |my )(?:api )?(?:key|model)\??`},
			run: func(*turn, *request) (string, error) { return key, nil }},
	}
	c := forms.Config{Words: words, Fit: fit}
	for i := range known {
		c.Says = append(c.Says, known[i].says)
	}
	sentences = forms.New(c)
}

// textSlot returns the slots of a section that has one text.
func textSlot(key string) values {
	return values{"rows": []any{values{"slots": []any{values{"key": key, "type": "text"}}}}}
}

// NobodyAnswers is a host that the scenario "broken tool" reads from: there is no server at this
// port, with or without a network.
const NobodyAnswers = "127.0.0.1:9"

// scenarios are requests that nobody would make, by the names that start them.
var scenarios = map[string]string{
	"broken tool": "Fetch http://" + NobodyAnswers + "/1, then fetch http://" + NobodyAnswers +
		"/2, then fetch http://" + NobodyAnswers + "/3",
	"definition in use": "Replace the slots of the hero by headline",
	"hundred calls":     "Read the kinds of sections a hundred times",
	"ten steps": "Create a page called Step 1" + strings.Join(strings.Split("@2@3@4@5@6@7@8@9@10", "@"),
		", then create a page called Step "),
}
