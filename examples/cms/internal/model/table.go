package model

// A scenario is one kind of request: how it is said, which calls it takes, and what is answered.
//
// Patterns are regular expressions of a whole request, one a line, in which {slot} is the text that
// the request has there, and "the" stands for any articles or none. Inputs, replies and the other
// texts are templates of package text/template over these slots. After a look-up they also have
// .name and .slug of what was found, and after a call .result, its decoded answer, and .text, the
// answer as it is. Empty values of an input are left out.
type scenario struct {
	says  string
	find  string // page or entry: the slot of that name is looked up first
	guess bool   // an uncertain match will do, because nothing is changed, or a person is asked anyway
	calls []step
	reply string
}

// A step is a call of a scenario.
type step struct {
	tool, input string
	doing       string // what it does, as in "I couldn't …"
	free        string // the key of the input that takes another slug if the one of the call is taken
	without     []step // what is done in a mode that doesn't have the tool
	stop        string // if this isn't empty after the call, it is the answer
	lacks       string // if the answer has this text, the call otherwise is made instead
	otherwise   *step
	instead     string // what is proposed if a person asks for something else
}

// The parts of sentences and templates that several scenarios have.
const (
	making   = `(create|make|build|add|write)`
	setting  = `(set|change|update|edit)`
	options  = `( with the (?P<section>[\w-]+)( section)?( (titled|called) {title})?( saying {body})?)?( with the slug (?P<slug>\S+))?( with the description {description})?`
	part     = `the (?P<section>[\w-]+)( section)?`
	contents = `{{if eq .section "text"}}{"heading":{{json .title}},"body":{{json (or .body .title .name)}}}{{else if eq .section "hero"}}` +
		`{"title":{{json (or .title .body .name)}},"subtitle":{{if .title}}{{json .body}}{{else}}""{{end}}}{{else}}{"title":{{json .title}},"body":{{json .body}}}{{end}}`
	described = `a {{lower .name}} section{{with or .content.title .content.heading}} titled {{q .}}{{end}}`
	onePart   = `{{$all := parts .result.sections .section}}{{if ne (len $all) 1}}The page {{q .name}} has {{len $all}} {{.section}} sections, so I can't tell which one you mean.`
	partID    = `"sectionId":{{json (index (parts .result.sections .section) 0).id}}`
	shown     = `{{if eq (lower .status) "publish"}}published{{else}}unpublished{{end}}`
	values    = `{{range $key, $value := .}}{{"\n"}}   {{$key}}: {{plain $value}}{{end}}`
	onPage    = `{"page":{{json .slug}},"locale":{{json .locale}}`
)

var (
	read   = step{tool: "cms.getPage", input: onPage + `}`, doing: `read the page {{q .name}}`}
	lookUp = step{tool: "cms.findResource", input: `{"query":{{json .query}},"kind":{{json .kind}}}`,
		doing: `look up the {{.kind}} {{q .query}}`}
	readEntry = step{tool: "cms.getEntry", input: `{"entry":{{json .slug}},"locale":{{json .locale}}}`,
		doing: `read the entry {{q .name}}`}
	// checking is what becomes of the calls that a mode doesn't have which only plans.
	checking = scenario{
		calls: []step{{tool: "cms.validatePlan", input: `{"operations":{{json .planned}}}`, doing: "check the plan"}},
		reply: `The plan:{{"\n"}}{{.plan}}I tried it on a copy of the site, and it {{if .result.valid}}works.{{else}}doesn't work:{{range .result.issues}}{{"\n"}}- {{.}}{{end}}{{end}}` +
			`{{range .result.suggestions}}{{"\n"}}Note: {{.}}{{end}}{{"\n"}}Nothing was changed. In the mode cms-crud I carry it out.`}
)

// plans are the ways to a page with a section that may not exist yet.
const (
	reuse, anew, clone = "Reuse what exists", "Create new", "Clone a template"
	threePlans         = `{"goal":"the page {{.name}} with a {{.section}}","plans":[` +
		`{"title":"` + reuse + `","why":"What exists is the fastest way.","nodes":[` + withSection + `}]},` +
		`{"title":"` + anew + `","why":"It fits exactly, and is one more definition to look after.","nodes":[` +
		`{"id":"define","tool":"cms.createSectionDef","input":{{json (printf "{\"name\":%s,\"key\":%s,\"elements_structure\":{\"rows\":[{\"slots\":[{\"key\":\"title\",\"type\":\"text\"}]}]}}" (json .section) (json .section))}}},` +
		withSection + `,"after":["define"]}]},` +
		`{"title":"` + clone + `","why":"It looks like the others, and has no {{.section}}.","nodes":[` +
		`{"id":"create","tool":"cms.clonePage","input":{{json (printf "{\"source\":\"home\",\"name\":%s,\"newSlug\":%s}" (json .name) (json (lower .name)))}}},` +
		`{"id":"add","tool":"cms.addSectionToPage","after":["create"],"input":{{json (printf "{\"page\":{\"$from\":\"create.slug\"},\"section\":\"text\",\"content\":{\"body\":%s}}" (json .name))}}}]}]}`
	// withSection is the step that creates the page, without the closing brace.
	withSection = `{"id":"create","tool":"cms.createPage","input":{{json (printf "{\"name\":%s,\"sections\":[{\"section\":%s,\"content\":{\"title\":%s}}]}" (json .name) (json .section) (json .name))}}`
)

// listing lists the things of a kind, each as the template item says.
func listing(tool, input, one, many, says, item string) scenario {
	return scenario{says: `(list|show|what|which) the ` + says,
		calls: []step{{tool: tool, input: input, doing: "list them"}},
		reply: `{{if eq .result.total 1.0}}There is 1 ` + one + `{{else}}There are {{.result.total}} ` + many +
			`{{end}}:{{range .result.items}}{{"\n"}}- ` + item +
			`{{end}}{{if gt .result.total 50.0}}{{"\n"}}and more{{end}}`}
}

// update changes one field of a page to what the slot "to" says.
func update(says, key, doing string, guess bool, reply string) scenario {
	return scenario{says: says, find: "page", guess: guess, reply: reply,
		calls: []step{{tool: "cms.updatePage", input: `{"page":{{json .slug}},"` + key + `":{{json .to}}}`,
			doing: doing + ` the page {{q .name}}`}}}
}

// set sets a slot of a section. If the page has no such section, it gets one, in which another slot
// has the page's name.
func set(word, section, slot, other string) scenario {
	content := `{"` + other + `":{{json .name}},"` + slot + `":{{json .value}}}`
	the := `the ` + slot + ` of the ` + section + ` on the page {{q .name}}`
	return scenario{says: setting + ` the ` + word + ` (of|on) (the ` + section +
		`( section)? (of|on|in) )?{page} to {value}`, find: "page",
		reply: `{{if .otherwise}}The page had no ` + section + ` section, so I added one. {{end}}T` + the[1:] +
			` is {{q .value}} now.`,
		calls: []step{{tool: "cms.syncPageContents", doing: `set ` + the, input: onPage + `,"contents":{"` + section +
			`":{"` + slot + `":{{json .value}}}}}`,
			lacks: "has no section", otherwise: &step{tool: "cms.addSectionToPage", doing: `add a section with ` + the,
				input: onPage + `,"section":"` + section + `","content":` + content + `}`}}}}
}

// scenarios are tried in order.
var scenarios = []scenario{
	{says: `help|what can you do|who are you|hello|hi`, reply: help},
	{says: `thanks|no`, reply: `All right.`},
	{says: `fetch {url}`, reply: `It says:{{"\n\n"}}{{.text}}`,
		calls: []step{{tool: "http.fetch", input: `{"url":{{json .url}}}`, doing: `read {{.url}}`}}},

	listing("cms.listPages", `{}`, "page", "pages", `pages( exist| are there)?`,
		`{{.name}} ({{path .slug}}), {{.sections}} section{{if ne .sections 1.0}}s{{end}}`),
	listing("cms.listSections", `{}`, "section definition", "section definitions", `sections?( definitions)?`,
		`{{.name}} ({{.key}}): {{.description}}`),
	listing("cms.listCollections", `{}`, "collection", "collections", `collections`,
		`{{.name}} ({{.slug}}), entries: {{.entries}}`),
	listing("cms.listEntries", `{"collection":{{json (or .collection "blog")}}}`, "entry", "entries",
		`(blog )?(entries|posts)( (of|in) the {collection})?`, `{{.title}} ({{.slug}})`),

	{says: `show the (blog )?(entry|post) {entry}`, find: "entry", guess: true, calls: []step{readEntry},
		reply: `The entry {{q .name}} is in the collection {{.result.collection}}, at /{{.result.collection}}/{{.slug}}.{{with .result.content}}` + values + `{{end}}`},
	{says: `(show|get|open) {page}`, find: "page", guess: true, calls: []step{read},
		reply: `The page {{q .result.name}} is at {{path .result.slug}}.{{with .result.description}} It is described as {{q .}}.{{end}}` +
			`{{range .result.sections}}{{"\n"}}{{.name}} ({{.id}}, {{.status}}){{with .content}}` + values +
			`{{end}}{{else}} It has no sections.{{end}}`},
	{says: `preview {page}`, find: "page", guess: true, reply: `Visitors see this:{{"\n\n"}}{{.text}}`,
		calls: []step{{tool: "cms.previewPage", input: read.input, doing: `preview the page {{q .name}}`}}},
	{says: `(find|where is|search for) the {what}`,
		calls: []step{{tool: "cms.findResource", input: `{"query":{{json .what}}}`, doing: `look for {{q .what}}`}},
		reply: `{{with found .text}}I found:{{range .}}{{"\n"}}- the {{.Kind}} {{q .Name}} ({{.Slug}}), {{.Match}}: {{.Why}}{{end}}{{else}}I found nothing like {{q .what}}.{{end}}`},

	{says: making + ` the {name} page with the (?P<section>form|gallery|map)`, calls: []step{
		{tool: "plan.choose", input: threePlans, doing: `propose three plans`, without: []step{
			{tool: "cms.createSectionDef", doing: `create the section {{.section}}`,
				input: `{"name":{{json .section}},"key":{{json .section}},"elements_structure":{"rows":[{"slots":[{"key":"title","type":"text"}]}]}}`},
			{tool: "cms.createPage", free: "slug", doing: `create the page {{q .name}}`,
				input: `{"name":{{json .name}},"sections":[{"section":{{json .section}},"content":{"title":{{json .name}}}}]}`}}}},
		reply: `I followed the plan {{q .plan}}{{if .was}}, a backup: the plan {{q .was}} failed{{end}}. The page {{q .name}} is at {{path .result.slug}}.`},
	{says: making + ` the page (called|named|titled) {name}` + options + "\n" + making + ` the {name} page` + options,
		calls: []step{{tool: "cms.createPage", free: "slug", doing: `create the page {{q .name}}`,
			input: `{"name":{{json .name}},"slug":{{json .slug}},` +
				`"description":{{json .description}},"locale":{{json .locale}}{{if .section}},"sections":[{"section":{{json .section}},"content":` + contents + `}]{{end}}}`}},
		reply: `{{if .was}}The slug {{q .was}} was taken, so I created the page as {{q .result.slug}}. {{end}}The page {{q .name}} is at {{path .result.slug}}` +
			`{{range .result.sections}}, with ` + described + `{{end}}.`},
	{says: making + ` the (blog )?(entry|post) (titled|called) {title}( saying {body})?`,
		calls: []step{{tool: "cms.upsertEntry", free: "entry", doing: `write the entry {{q .title}}`,
			input: `{"collection":"blog","entry":{{json .entry}},"title":{{json .title}},"locale":{{json .locale}},"content":{"body":{{json (or .body .title)}}}}`}},
		reply: `{{if .was}}The slug {{q .was}} was taken, so I wrote the entry as {{q .result.slug}}. {{end}}The entry {{q .title}} is in the collection blog, at /blog/{{.result.slug}}.`},

	{says: `rename the (blog )?(entry|post) {entry} to {title}`, find: "entry",
		reply: `The title of the entry {{q .name}} is {{q .title}} now.`,
		calls: []step{readEntry, {tool: "cms.upsertEntry", doing: `rename the entry {{q .name}}`,
			input: `{"collection":{{json .result.collection}},"entry":{{json .slug}},"title":{{json .title}}}`}}},
	{says: setting + ` the body of the (blog )?(entry|post) {entry} to {body}`, find: "entry",
		reply: `The body of the entry {{q .name}} is {{q .body}} now.`,
		calls: []step{readEntry, {tool: "cms.upsertEntry", doing: `change the body of the entry {{q .name}}`,
			input: `{"collection":{{json .result.collection}},"entry":{{json .slug}},"locale":{{json .locale}},"content":{"body":{{json .body}}}}`}}},
	update(`rename {page} to {to}`, "name", `rename`, false,
		`The page {{q .name}} is called {{q .result.name}} now. Its address is still {{path .result.slug}}.`),
	update(setting+` the (slug|address) of {page} to {to}`, "newSlug", `change the slug of`, true,
		`The page {{q .name}} has moved from {{path .slug}} to {{path .result.slug}}.`),
	update("describe {page} as {to}\n"+setting+` the description of {page} to {to}`, "description", `describe`, false,
		`The page {{q .name}} is described as {{q .result.description}} now.`),

	set("title", "hero", "title", "title"), set("subtitle", "hero", "subtitle", "title"),
	set("button text", "hero", "ctaText", "title"),
	set("heading", "text", "heading", "body"), set("body", "text", "body", "body"),
	{says: `add ` + part + ` to {page}( titled {title})?( saying {body})?` + "\nadd " + part +
		`( titled {title})?( saying {body})? to {page}`, find: "page",
		calls: []step{{tool: "cms.addSectionToPage", input: onPage + `,"section":{{json .section}},"content":` +
			contents + `}`, doing: `add a {{.section}} section to the page {{q .name}}`}},
		reply: `The page {{q .name}} has {{with .result}}` + described + `{{end}} now.`},
	{says: `(?P<status>hide|unpublish|publish) ` + part + ` (on|of) {page}`, find: "page",
		reply: `The {{.section}} section on the page {{q .name}} is ` + shown + ` now.`,
		calls: []step{{tool: "cms.getPage", input: read.input, doing: read.doing,
			stop: onePart + `{{else if eq (index $all 0).status ` + "`" + `published` + "`" +
				`}}{{if eq (lower .status) "publish"}}The {{.section}} section is published already.{{end}}{{else if ne (lower .status) "publish"}}The {{.section}} section is unpublished already.{{end}}`},
			{tool: "cms.updateSection", input: `{` + partID + `,"status":"` + shown + `"}`,
				doing: `{{lower .status}} the {{.section}} section on the page {{q .name}}`}}},
	{says: `(delete|remove) ` + part + ` (from|on|of) {page}`, find: "page", guess: true,
		reply: `I removed the {{.section}} section from the page {{q .name}}.`,
		calls: []step{{tool: "cms.getPage", input: read.input, doing: read.doing, stop: onePart + `{{end}}`},
			{tool: "cms.removeSection", input: `{` + partID + `}`,
				doing:   `remove the {{.section}} section from the page {{q .name}}`,
				instead: `hide the {{.section}} section on {{.slug}}`}}},
	{says: `replace the slots of ` + part + ` by {value}`,
		reply: `The section {{.section}} has the slot {{.value}} now. Values of other slots are kept, and hidden.`,
		calls: []step{{tool: "cms.syncSectionElements", doing: `change the definition of the section {{.section}}`,
			input: `{"definition":{{json .section}},"elements_structure":{"rows":[{"slots":[{"key":{{json .value}},"type":"text"}]}]}}`}}},
	{says: `(delete|remove) the (blog )?(entry|post) {entry}`, find: "entry", guess: true,
		reply: `I deleted the entry {{q .name}}.`,
		calls: []step{{tool: "cms.deleteEntry", input: `{"entry":{{json .slug}}}`,
			doing: `delete the entry {{q .name}}`}}},
	{says: `(delete|remove) {page}`, find: "page", guess: true,
		reply: `I deleted the page {{q .result.page.name}} ({{path .result.page.slug}}).{{with .result.linkedFrom}} These pages linked to it: {{range $i, $p := .}}{{if $i}}, {{end}}{{$p}}{{end}}.{{end}}`,
		calls: []step{{tool: "cms.deletePage", input: `{"page":{{json .slug}}}`, doing: `delete the page {{q .name}}`,
			instead: `hide the hero section on {{.slug}}`}}},
}

const help = `I am a small program that stands in for a language model. I understand requests like these:
- create a page called About with a hero section titled Hello
- list pages (or sections, collections, entries)
- show Home, show the team page, preview Home, find "about"
- rename About to About us, change the slug of About to about-us
- describe the Members page as team, people, staff
- set the title of the hero on Home to "Welcome, friends"
- add a text section to Home titled News saying "We are open."
- hide (or publish, or remove) the hero section on About
- replace the slots of the hero section by headline
- write a blog entry titled First steps saying "It works."
- delete the About page
- create a contact page with a form (there are several plans)
Put names and texts of several words in quotes if they hold words such as "with", "titled" or "to".`

// Help returns the requests that the model understands.
func Help() string { return help }
