package model

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/pawlkit/pawl/memory/index"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func fresh() provider.Provider { return New() }

func TestATextAnswerConforms(t *testing.T) {
	providertest.Conformance(t, fresh, providertest.Strict())
}

func TestAnAnswerWithACallConforms(t *testing.T) {
	providertest.Conformance(t, fresh, providertest.Strict(), providertest.WithRequest(func() *provider.Request {
		return asking("Create an About page with a hero section titled “Größe – 日本”")
	}))
}

// asking returns a request with all tools.
func asking(text string, past ...provider.Message) *provider.Request {
	req := &provider.Request{Messages: append([]provider.Message{provider.User(text)}, past...)}
	for _, name := range []string{"cms.listPages", "cms.getPage", "cms.createPage", "cms.updatePage", "cms.deletePage",
		"cms.addSectionToPage", "cms.syncPageContents", "cms.updateSection", "cms.removeSection",
		"cms.listSections", "cms.listCollections", "cms.listEntries", "cms.getEntry", "cms.upsertEntry",
		"cms.findResource", "cms.previewPage"} {
		req.Tools = append(req.Tools, provider.Tool{Name: name})
	}
	return req
}

// did returns a call and its result, as two messages.
func did(tool, input, result string, failed bool) []provider.Message {
	id := fmt.Sprintf("%s %d", tool, len(result))
	return []provider.Message{
		{Role: provider.RoleAssistant,
			Parts: []provider.Part{{Kind: provider.PartToolCall,
				Call: &provider.ToolCall{ID: id, Name: tool, Input: json.RawMessage(input)}}}},
		{Role: provider.RoleTool,
			Parts: []provider.Part{provider.ResultPart(provider.ToolResult{CallID: id, Name: tool, Error: failed,
				Parts: []provider.Part{provider.TextPart(result), provider.TextPart("Note: something was noted.")}})}},
	}
}

// lookup returns the tool's answer to a query among pages. Each page is a name followed by a slug.
func lookup(t *testing.T, query string, pages ...string) string {
	t.Helper()
	f, err := index.New(index.Config{})
	require.NoError(t, err)
	for i, p := range pages {
		name, slug, _ := strings.Cut(p, " ")
		require.NoError(t, f.Put(t.Context(),
			index.Item{ID: fmt.Sprintf("pg_%d", i), Kind: "page", Name: name, Aliases: []string{slug}}))
	}
	res, err := f.Find(t.Context(), query, index.Filter{}, 0)
	require.NoError(t, err)
	return index.Render(res)
}

func ask(t *testing.T, req *provider.Request) *provider.Response {
	t.Helper()
	resp, err := provider.Generate(context.Background(), New(), req)
	require.NoError(t, err)
	return resp
}

func TestTheModelThinksCallsAndThenSpeaks(t *testing.T) {
	const text = "Create an About page with a hero section titled Hello"
	first := ask(t, asking(text))
	require.Equal(t, provider.StopToolCalls, first.Stop)
	require.NotEmpty(t, first.Reasoning())
	require.Empty(t, first.Text())
	require.Len(t, first.Calls(), 1)
	require.Equal(t, "cms.createPage", first.Calls()[0].Name)
	require.JSONEq(t, `{"name":"About","sections":[{"section":"hero","content":{"title":"Hello"}}]}`,
		string(first.Calls()[0].Input))
	require.Positive(t, first.Usage.Input)
	require.Positive(t, first.Usage.Output)

	second := ask(t,
		asking(text,
			did("cms.createPage", `{}`,
				`{"id":"pg_1","slug":"about","name":"About","sections":[{"name":"Hero","content":{"title":"Hello"}}]}`,
				false)...))
	require.Equal(t, provider.StopDone, second.Stop)
	require.Empty(t, second.Calls())
	require.Equal(t, `The page "About" is at /about, with a hero section titled "Hello".`, second.Text())
}

func TestATakenSlugIsCorrectedAndReported(t *testing.T) {
	const text = "create a page called About"
	past := did("cms.createPage", `{}`,
		`slug "about" exists already (page "About", id pg_1); use another slug such as "about-2", or update that page`,
		true)
	again := ask(t, asking(text, past...))
	require.JSONEq(t, `{"name":"About","slug":"about-2"}`, string(again.Calls()[0].Input))
	past = append(past, did("cms.createPage", `{}`, `{"id":"pg_2","slug":"about-2","name":"About"}`, false)...)
	require.Equal(t, `The slug "about" was taken, so I created the page as "about-2". The page "About" is at /about-2.`,
		ask(t, asking(text, past...)).Text())
}

func TestErrorsRejectionsAndDoubtsAreReported(t *testing.T) {
	found := did("cms.findResource", `{}`, lookup(t, "abuot", "About about"), false)
	for result, want := range map[string]string{
		"A person rejected this call.":                                    `I took "abuot" to mean the page "About". I didn't delete the page "About", because you rejected it. Nothing was changed.`,
		"A person rejected this call. Keep it.":                           `because you rejected it (Keep it).`,
		"The call wasn't run: rejected: expired. Nobody decided in time.": "nobody approved it in time",
		"The call wasn't run: in this mode nothing is deleted":            `I couldn't delete the page "About": in this mode nothing is deleted`,
		"disk full": `I couldn't delete the page "About": disk full`,
		"The call was started, and it is not known whether it had its effect.": "it is not known whether",
	} {
		if result == "A person rejected this call." {
			past := append(found, noNote(did("cms.deletePage", `{}`, result, true))...)
			require.Equal(t, want, ask(t, asking("delete the abuot page", past...)).Text())
			continue
		}
		past := append(found, did("cms.deletePage", `{}`, result, true)...)
		require.Contains(t, ask(t, asking("delete the abuot page", past...)).Text(), want)
	}
}

// noNote removes the notes from the results.
func noNote(m []provider.Message) []provider.Message {
	r := m[1].Parts[0].Result
	r.Parts = r.Parts[:1]
	return m
}

func TestAnUnderstoodSuggestionIsFollowed(t *testing.T) {
	past := did("cms.findResource", `{}`, lookup(t, "About", "About about"), false)
	rejected := append(past,
		noNote(did("cms.deletePage", `{}`, "A person rejected this call and suggests instead: rename it to Old about",
			true))...)
	next := ask(t, asking("delete About", rejected...))
	require.Equal(t, "cms.findResource", next.Calls()[0].Name, "it is looked up again: things may have changed")
	rejected = append(rejected, did("cms.findResource", `{"again":1}`, lookup(t, "About", "About about"), false)...)
	next = ask(t, asking("delete About", rejected...))
	require.JSONEq(t, `{"page":"about","name":"Old about"}`, string(next.Calls()[0].Input))

	another := append(past,
		noNote(did("cms.deletePage", `{}`,
			"A person rejected this call and suggests instead: Suggest another approach.", true))...)
	require.Contains(t, ask(t, asking("delete About", another...)).Text(),
		`Instead I could do this: say "hide the hero section on about".`)

	lost := append(past,
		noNote(did("cms.deletePage", `{}`, "A person rejected this call and suggests instead: sing a song", true))...)
	require.Contains(t, ask(t, asking("delete About", lost...)).Text(),
		"suggested: sing a song.\nI don't understand that")
}

func TestTheModelAsksAboutAnAmbiguousName(t *testing.T) {
	past := did("cms.findResource", `{}`, lookup(t, "news", "News news-1", "News news-2", "News news-3"), false)
	require.Equal(t,
		`"news" could be "News" (news-1), "News" (news-2) or "News" (news-3). Say which one, by the name in brackets.`,
		ask(t, asking("delete news", past...)).Text())
	require.JSONEq(t, `{"page":"news-3"}`, string(ask(t, asking("delete news-3", past...)).Calls()[0].Input),
		"there is only one with that")
	none := did("cms.findResource", `{}`, lookup(t, "xyzzy", "About about"), false)
	require.Equal(t, `I found no page like "xyzzy".`, ask(t, asking("delete xyzzy", none...)).Text())
	blog := did("cms.findResource", `{}`,
		"Nothing of the kind \"page\" is known by these words. Of other kinds there is:\n"+
			index.Render(
				index.Result{Hits: []index.Hit{{Item: index.Item{Kind: "collection", ID: "col_1", Name: "Blog",
					Aliases: []string{"blog"}}, Exact: true}}}), false)
	require.Equal(t, `I found no page like "blog". There is the collection "Blog" (blog).`,
		ask(t, asking("delete blog", blog...)).Text())
	require.Contains(t, ask(t, asking("delete it")).Text(), "Which page do you mean?")
}

// conversation returns a request after an answer of the model.
func conversation(request, answer, reply string, past ...provider.Message) *provider.Request {
	req := asking(request, provider.Assistant(answer), provider.User(reply))
	req.Messages = append(req.Messages, past...)
	return req
}

func TestAQuestionIsAnswered(t *testing.T) {
	const request = "list collections, then rename tema to X, then preview it"
	asked := ask(t,
		asking(request, append(did("cms.listCollections", `{}`, `{"total":0,"items":[]}`, false),
			did("cms.findResource", `{}`, lookup(t, "tema", "Team our-team"), false)...)...)).Text()
	require.Contains(t, asked, "I'm not sure which page")
	for _, answer := range []string{"Yes", "yes.", "our-team"} {
		next := ask(t, conversation(request, asked, answer))
		require.JSONEq(t, `{"query":"our-team","kind":"page"}`, string(next.Calls()[0].Input), answer)
		next = ask(t, conversation(request, asked, answer,
			did("cms.findResource", `{}`, lookup(t, "our-team", "Team our-team"), false)...))
		require.JSONEq(t, `{"page":"our-team","name":"X"}`, string(next.Calls()[0].Input),
			"what was done isn't done again")
	}
	require.Equal(t, "All right.", ask(t, conversation(request, asked, "No")).Text())
	require.Equal(t, "cms.listPages", ask(t, conversation(request, asked, "list pages")).Calls()[0].Name)

	const which = `"news" could be "News" (news-1) or "News" (news-2). Say which one, by the name in brackets.`
	require.JSONEq(t, `{"query":"news-2","kind":"page"}`,
		string(ask(t, conversation("delete news", which, "news-2")).Calls()[0].Input))
	require.Contains(t, ask(t, conversation("delete news", which, "yes")).Text(), `I don't understand "yes"`,
		"of which?")
}

func TestAnUncertainMatchIsNotChangedWithoutApproval(t *testing.T) {
	past := did("cms.findResource", `{}`, lookup(t, "tema", "Team our-team"), false)
	for _, request := range []string{"rename tema to X", "describe tema as x", "add a hero section to tema titled X",
		"set the title of the hero on tema to X", "hide the hero section on tema"} {
		require.Equal(t,
			`I'm not sure which page is "tema": "Team" (our-team) fits best. Do you mean it? Say yes, or another name.`,
			ask(t, asking(request, past...)).Text(), request)
	}
	for request, tool := range map[string]string{"show tema": "cms.getPage", "preview tema": "cms.previewPage",
		"delete tema":                  "cms.deletePage",
		"change the slug of tema to x": "cms.updatePage", "remove the hero section from tema": "cms.getPage"} {
		require.Equal(t, tool, ask(t, asking(request, past...)).Calls()[0].Name, request)
	}
	rejected := append(past, noNote(did("cms.deletePage", `{}`, "A person rejected this call.", true))...)
	require.Contains(t, ask(t, asking("delete tema", rejected...)).Text(),
		`I took "tema" to mean the page "Team", and am not sure of that. `)
}

func TestItMeansThePageMentionedLast(t *testing.T) {
	req := &provider.Request{Tools: asking("").Tools}
	req.Messages = append(req.Messages, provider.User("create a page called About"))
	req.Messages = append(req.Messages,
		did("cms.createPage", `{}`, `{"id":"pg_1","slug":"about-2","name":"About"}`, false)...)
	req.Messages = append(req.Messages, provider.Assistant("The page stands."), provider.User("preview it"))
	require.JSONEq(t, `{"query":"about-2","kind":"page"}`, string(ask(t, req).Calls()[0].Input))
}

func TestForAMissingToolTheModelNamesTheModeThatHasIt(t *testing.T) {
	req := asking("create a page called X")
	req.Tools = req.Tools[:2]
	require.Contains(t, ask(t, req).Text(),
		"cms.createPage, which isn't available in this mode. The mode cms-crud has it.")
}

func TestInAPlanningModeAWriteBecomesAPlan(t *testing.T) {
	plan := func(past ...provider.Message) *provider.Response {
		req := asking("create a page called Home", past...)
		req.Tools = []provider.Tool{{Name: "cms.validatePlan"}, {Name: "cms.findResource"}}
		return ask(t, req)
	}
	first := plan()
	require.Equal(t, "cms.validatePlan", first.Calls()[0].Name)
	require.JSONEq(t, `{"operations":[{"tool":"cms.createPage","input":{"name":"Home"}}]}`,
		string(first.Calls()[0].Input))
	text := plan(did("cms.validatePlan", `{}`,
		`{"valid":false,"issues":["operation 1: slug taken"],"suggestions":["operation 1: use home-2"]}`,
		false)...).Text()
	require.Contains(t, text,
		"doesn't work:\n- operation 1: slug taken\nNote: operation 1: use home-2\nNothing was changed.")
	require.Contains(t, plan(did("cms.validatePlan", `{}`, `{"valid":true}`, false)...).Text(), "and it works.")
}

func TestAtALimitTheModelSummarizesItsCalls(t *testing.T) {
	past := did("cms.listPages", `{}`, `{}`, false)
	past = append(past, did("cms.createPage", `{}`, `no`, true)...)
	req := asking("list pages", append(past, provider.User("You have reached the limit of this run."))...)
	req.Tools, req.ToolChoice = nil, provider.ToolChoice{Mode: provider.ChooseNone}
	require.Equal(t,
		"This run is at its limit, so I stop here. These calls succeeded: cms.listPages. Ask again for what is left.",
		ask(t, req).Text())
}

func TestAnUnknownRequestIsAnsweredWithTheValidOnes(t *testing.T) {
	text := ask(t, asking("sing a song")).Text()
	require.Contains(t, text, `I don't understand "sing a song"`)
	require.Contains(t, text, "stands in for a language model")
	require.Contains(t, text, Help())
}

func TestInfoSaysThatItIsFree(t *testing.T) {
	info, ok := provider.Info(New())
	require.True(t, ok)
	require.Equal(t, "built-in", info.ID)
	require.Zero(t, info.Prices.Cost(provider.Usage{Input: 1e6, Output: 1e6}))
}

func BenchmarkAnswer(b *testing.B) {
	req := asking("Create an About page with a hero section titled Hello")
	m := New()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := provider.Generate(b.Context(), m, req); err != nil {
			b.Fatal(err)
		}
	}
}
