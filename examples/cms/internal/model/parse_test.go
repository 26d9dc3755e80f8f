package model

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPhrasesAreUnderstood(t *testing.T) {
	hero := func(title string) []newSection { return []newSection{{key: "hero", title: title}} }
	for text, want := range map[string][]request{
		"Create an About page with a hero section titled Hello":                  {create{name: "About", sections: hero("Hello")}},
		"create a page called About":                                             {create{name: "About"}},
		"create an über uns page":                                                {create{name: "Über uns"}},
		"CREATE PAGE about":                                                      {create{name: "about"}},
		"please make me a new page named “About us”, with a hero titled Hi":      {create{name: "About us", sections: hero("Hi")}},
		"Could you create a page named “About us”, with a hero section, please?": {create{name: "About us", sections: []newSection{{key: "hero"}}}},
		`add a page "Terms and conditions" with slug terms`:                      {create{name: "Terms and conditions", slug: "terms"}},
		"create a page titled Team under /the-team":                              {create{name: "Team", slug: "the-team"}},
		"create a contact page with the description How to reach us":             nil, // "to" needs quotes
		`create a contact page with the description "How to reach us"`:           {create{name: "Contact", description: "How to reach us"}},
		"build a page called News with a hero section titled Now and a text section titled Who saying We are many": {
			create{name: "News", sections: []newSection{{key: "hero", title: "Now"}, {key: "text", title: "Who", body: "We are many"}}}},
		"create a page with a hero section titled Hello": nil, // no name
		"create a page called X with three columns":      nil, // would be ignored
		"create a German page called Start in German":    {create{name: "Start", locale: "de"}},
		"list pages":                                           {list{kind: "pages"}},
		"Show me all the pages":                                {list{kind: "pages"}},
		"what pages are there?":                                {list{kind: "pages"}},
		"Which collections do we have":                         {list{kind: "collections"}},
		"list the entries of the blog collection":              {list{kind: "entries", of: "blog"}},
		"show blog posts":                                      {list{kind: "entries"}},
		"list section definitions":                             {list{kind: "sections"}},
		"list the sections on the About page":                  {show{page: "About"}},
		"show page About":                                      {show{page: "About"}},
		"show me the About page, please":                       {show{page: "About"}},
		"get About in German":                                  {show{page: "About", locale: "de"}},
		"show the blog entry hello-world":                      {showEntry{entry: "hello-world"}},
		"preview the About page":                               {preview{page: "About"}},
		"preview it":                                           {preview{}},
		`find "the team"`:                                      {find{what: "the team"}},
		"search for the page about us":                         {find{what: "about us", kind: "page"}},
		"where is the imprint?":                                {find{what: "imprint"}},
		"Rename About to About us":                             {update{page: "About", field: "name", value: "About us"}},
		"rename the page 'About to go' to Gone":                {update{page: "About to go", field: "name", value: "Gone"}},
		"rename it to Old about instead":                       {update{field: "name", value: "Old about"}},
		"rename the entry hello-world to Hello":                {setEntry{entry: "hello-world", title: "Hello"}},
		"change the slug of About to about-us":                 {update{page: "About", field: "newSlug", value: "about-us"}},
		"set the About page's address to /About Us":            {update{page: "About", field: "newSlug", value: "about-us"}},
		`set the description of Home to "Where it all begins"`: {update{page: "Home", field: "description", value: "Where it all begins"}},
		"describe the Members page as team, people, staff":     {update{page: "Members", field: "description", value: "team, people, staff"}},
		`describe it as "who we are, and how to find us"`:      {update{field: "description", value: "who we are, and how to find us"}},
		"describe the About page":                              {show{page: "About"}},
		"describe Members as":                                  nil,
		"describe the entry hello-world as x":                  nil, // entries have no description
		"Show the team page":                                   {show{page: "team"}},
		"Delete abuot":                                         {remove{page: "abuot"}},
		"delete the abuot page":                                {remove{page: "abuot"}},
		"please delete About":                                  {remove{page: "About"}},
		"Delete it!":                                           {remove{}},
		"add a hero section to About titled Hello":             {addSection{newSection: newSection{key: "hero", title: "Hello"}, page: "About"}},
		`add a text section titled "News" saying "We are open." to the Home page`: {addSection{newSection: newSection{key: "text", title: "News", body: "We are open."}, page: "Home"}},
		"add a text block at the top of Home saying Hi":                           {addSection{newSection: newSection{key: "text", body: "Hi"}, page: "Home", top: true}},
		"remove the hero section from About":                                      {removeSection{"hero", "About"}},
		"hide the hero on Home":                                                   {publish{"hero", "Home", "unpublished"}},
		"publish the hero section of the Home page":                               {publish{"hero", "Home", "published"}},
		"publish About": {talk{"no publish"}},
		"set the title of the hero on Home to Welcome":                                      {set{page: "Home", section: "hero", slot: "title", value: "Welcome", paged: true}},
		`change the hero title on Home to "Welcome, friends"`:                               {set{page: "Home", section: "hero", slot: "title", value: "Welcome, friends", paged: true}},
		"set the hero's subtitle on the Home page to A start":                               {set{page: "Home", section: "hero", slot: "subtitle", value: "A start", paged: true}},
		"set the title of Home to Hello in German":                                          {set{page: "Home", slot: "title", value: "Hello", locale: "de", paged: true}},
		"set the title to Hello on Home":                                                    {set{page: "Home", slot: "title", value: "Hello", paged: true}},
		"change the button text of the hero on Home to Go on":                               {set{page: "Home", section: "hero", slot: "button", value: "Go on", paged: true}},
		`write a blog post titled "First steps" saying "It works."`:                         {writeEntry{collection: "blog", title: "First steps", body: "It works."}},
		"create a blog entry called Second":                                                 {writeEntry{collection: "blog", title: "Second"}},
		"add an entry titled Third to the news collection":                                  {writeEntry{collection: "news", title: "Third"}},
		"publish a blog article titled Fourth":                                              {writeEntry{collection: "blog", title: "Fourth"}},
		`set the body of the blog entry hello-world to "New text"`:                          {setEntry{entry: "hello-world", body: "New text"}},
		"update the entry hello-world saying New text":                                      {setEntry{entry: "hello-world", body: "New text"}},
		"delete the blog entry hello-world":                                                 {talk{"no entry"}},
		"help":                                                                              {talk{"help"}},
		"What can you do?":                                                                  {talk{"help"}},
		"Hello":                                                                             {talk{"hello"}},
		"Create an About page and then preview it":                                          {create{name: "About"}, preview{}},
		"Create a page called X. Delete it.":                                                {create{name: "X"}, remove{}},
		"create a page called X and add a hero section titled Hello to it; then list pages": {create{name: "X"}, addSection{newSection: newSection{key: "hero", title: "Hello"}}, list{kind: "pages"}},
		"sing a song":                     nil,
		`"create a page called X"`:        nil,
		"create":                          nil,
		"rename About":                    nil,
		"set the title to Hello":          nil, // of what
		"add a hero section titled Hello": nil, // to what
	} {
		var got []request
		for _, c := range clauses(text) {
			r, ok := parse(c)
			if !ok {
				got = nil
				break
			}
			got = append(got, r)
		}
		require.Equal(t, want, got, text)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"create a page called X", `set the title of "a b" to 'c'`, "a's 's '", `"`, "''", "x's", "rename to", ". , ;", "add a section to", "in in de", "create a page /"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, c := range clauses(text) {
			require.NotEmpty(t, c)
			parse(c) // must not panic
		}
	})
}
