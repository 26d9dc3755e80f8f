package model

import (
	"slices"
	"strings"
)

// A request is one thing that a person asked for.
type request interface {
	// do carries out the request and returns the answer, which is ignored if the turn stops before the request is done.
	do(w *turn) string
}

// A cursor consumes tokens from the left.
type cursor struct{ toks []token }

func (c *cursor) end() bool { return len(c.toks) == 0 }

// word consumes the next token if it is one of these words.
func (c *cursor) word(words ...string) bool {
	if len(c.toks) > 0 && c.toks[0].is(words...) {
		c.toks = c.toks[1:]
		return true
	}
	return false
}

// skip consumes all leading tokens that are one of these words.
func (c *cursor) skip(words ...string) {
	for c.word(words...) {
	}
}

// phrase consumes these words if all of them come next.
func (c *cursor) phrase(words ...string) bool {
	if len(c.toks) < len(words) || !matches(c.toks[:len(words)], words) {
		return false
	}
	c.toks = c.toks[len(words):]
	return true
}

// until consumes the tokens before the next of these words; a quoted text at the beginning is returned alone.
func (c *cursor) until(words ...string) []token {
	if len(c.toks) > 0 && c.toks[0].quoted {
		first := c.toks[:1]
		c.toks = c.toks[1:]
		return first
	}
	n := slices.IndexFunc(c.toks, func(t token) bool { return t.is(words...) })
	if n < 0 {
		n = len(c.toks)
	}
	taken := c.toks[:n]
	c.toks = c.toks[n:]
	return taken
}

// index returns the index of the first of these words, or -1.
func (c *cursor) index(words ...string) int {
	return slices.IndexFunc(c.toks, func(t token) bool { return t.is(words...) })
}

var (
	articles    = []string{"a", "an", "the", "my", "our", "this", "that", "new", "me", "us", "all", "another", "of"}
	pageWords   = []string{"page", "pages"}
	blockWords  = []string{"section", "sections", "block", "blocks"}
	entryWords  = []string{"entry", "entries", "post", "posts", "article", "articles"}
	namedWords  = []string{"called", "named", "titled", "entitled"}
	sayingWords = []string{"saying", "reading", "stating"}
	ownerWords  = []string{"of", "on", "in", "from", "for", "at"}
	// optionStops end a value without quotes.
	optionStops = []string{",", "and", "with", "having", "saying", "reading", "stating", "under", "at", "titled", "called", "named", "entitled", "in", "to", "on"}
)

// name returns the name that the tokens contain, without articles, the kind before it, and "page" or the like after it.
func name(toks []token, kinds ...string) string {
	if len(toks) == 1 && toks[0].quoted {
		return toks[0].text
	}
	c := cursor{toks}
	c.skip(articles...)
	c.skip(kinds...)
	c.skip(namedWords...)
	rest := c.toks
	for len(rest) > 1 && rest[len(rest)-1].is(append(kinds, "itself")...) {
		rest = rest[:len(rest)-1]
	}
	if len(rest) == 1 {
		return rest[0].text
	}
	return strings.ReplaceAll(plain(rest), `"`, "")
}

// value returns the tokens as they were written.
func value(toks []token) string {
	if len(toks) == 1 {
		return toks[0].text
	}
	return plain(toks)
}

// pageName is name for a page; "" means the page mentioned last.
func pageName(toks []token) string {
	n := name(toks, pageWords...)
	switch strings.ToLower(n) {
	case "it", "that", "this", "page":
		if len(toks) == 1 && toks[0].quoted {
			return n
		}
		return ""
	}
	return strings.TrimPrefix(n, "/")
}

// parse returns the request in a clause.
func parse(toks []token) (request, bool) {
	c := &cursor{toks}
	locale := c.locale()
	if c.end() {
		return nil, false
	}
	verb, rest := strings.ToLower(c.toks[0].text), &cursor{c.toks[1:]}
	if c.toks[0].quoted {
		return nil, false
	}
	switch verb {
	case "help", "hello", "hi", "hey", "thanks":
		return talk{verb}, rest.end() || verb != "help"
	case "what", "which":
		if rest.phrase("can", "you", "do") || rest.phrase("do", "you", "understand") {
			return talk{"help"}, true
		}
		return parseList(rest)
	case "how", "who":
		return talk{"help"}, verb == "who" && rest.phrase("are", "you")
	case "list":
		return parseList(rest)
	case "describe":
		if rest.index("as") >= 0 {
			return parseDescribe(rest)
		}
		fallthrough
	case "show", "get", "open", "read", "display", "give":
		rest.skip("me", "us")
		if r, ok := parseList(&cursor{rest.toks}); ok {
			return r, true
		}
		return parseShow(rest, locale)
	case "preview", "render":
		return onPage(rest, func(p string) request { return preview{p, locale} })
	case "find", "search", "locate", "where", "look":
		rest.skip("for", "up", "is", "me")
		return parseFind(rest)
	case "create", "make", "build", "add", "write", "new":
		return parseCreate(rest, locale)
	case "rename":
		return parseRename(rest)
	case "set", "change", "update", "edit":
		return parseSet(rest, locale)
	case "delete", "remove", "drop":
		return parseRemove(rest)
	case "hide", "unpublish", "publish":
		return parsePublish(verb, rest, locale)
	}
	return nil, false
}

// locale consumes "in German" or the like at the end.
func (c *cursor) locale() string {
	n := len(c.toks)
	if n < 3 || !c.toks[n-2].is("in") {
		return ""
	}
	locale := ""
	switch last := c.toks[n-1]; {
	case last.is("german", "deutsch", "de"):
		locale = "de"
	case last.is("english", "en"):
		locale = "en"
	default:
		return ""
	}
	c.toks = c.toks[:n-2]
	return locale
}

func onPage(c *cursor, make func(string) request) (request, bool) {
	if c.end() {
		return nil, false
	}
	return make(pageName(c.toks)), true
}

// parseList parses a list request; without a plural it isn't one.
func parseList(c *cursor) (request, bool) {
	c.skip("all", "the", "me", "our", "my", "of", "blog")
	kind := ""
	switch {
	case c.word("pages"):
		kind = "pages"
	case c.word("sections", "section"):
		c.word("definitions", "types", "kinds")
		kind = "sections"
	case c.word("collections"):
		kind = "collections"
	case c.word("entries", "posts", "articles"):
		kind = "entries"
	default:
		return nil, false
	}
	for _, tail := range [][]string{{"are", "there"}, {"do", "we", "have"}, {"do", "you", "have"}, {"exist"}, {"there", "are"}, {"does", "the", "site", "have"}} {
		c.phrase(tail...)
	}
	if c.end() {
		return list{kind: kind}, true
	}
	if !c.word(ownerWords...) {
		return nil, false
	}
	of := c.toks
	switch whole := strings.ToLower(name(of, "collection")); {
	case kind == "entries":
		return list{kind: kind, of: name(of, "collection")}, true
	case whole == "site" || whole == "website":
		return list{kind: kind}, true
	case kind == "sections":
		return show{page: pageName(of)}, true
	}
	return nil, false
}

func parseShow(c *cursor, locale string) (request, bool) {
	if c.end() {
		return nil, false
	}
	if i := c.index(entryWords...); i >= 0 && i <= 2 {
		return showEntry{name(c.toks, append(entryWords, "blog")...), locale}, true
	}
	return show{pageName(c.toks), locale}, true
}

func parseFind(c *cursor) (request, bool) {
	c.skip(articles...)
	if c.end() {
		return nil, false
	}
	kind := ""
	for k, words := range map[string][]string{"page": {"page"}, "section": {"section"}, "collection": {"collection"}, "entry": {"entry", "post", "article"}} {
		if len(c.toks) > 1 && c.toks[0].is(words...) {
			kind = k
		}
	}
	if kind != "" {
		c.toks = c.toks[1:]
	}
	what := name(c.toks)
	return find{what, kind}, what != ""
}

func parseRename(c *cursor) (request, bool) {
	i := c.index("to", "as", "into")
	if i < 1 || i+1 >= len(c.toks) {
		return nil, false
	}
	old, to := c.toks[:i], value(c.toks[i+1:])
	if j := (&cursor{old}).index(entryWords...); j >= 0 {
		return setEntry{entry: name(old, append(entryWords, "blog")...), title: to}, true
	}
	return update{page: pageName(old), field: "name", value: to}, true
}

// parseDescribe parses "the Members page as team, people, staff".
func parseDescribe(c *cursor) (request, bool) {
	i := c.index("as")
	if i < 1 || i+1 >= len(c.toks) || (&cursor{c.toks[:i]}).index(entryWords...) >= 0 {
		return nil, false
	}
	return update{page: pageName(c.toks[:i]), field: "description", value: value(c.toks[i+1:])}, true
}

func parseRemove(c *cursor) (request, bool) {
	c.skip(articles...)
	if i := c.index(blockWords...); i >= 0 {
		if kind, page, ok := sectionOnPage(c, i); ok {
			return removeSection{kind, page}, true
		}
		return nil, false
	}
	if i := c.index(entryWords...); i >= 0 && i <= 1 {
		return talk{"no entry"}, true
	}
	return onPage(c, func(p string) request { return remove{p} })
}

func parsePublish(verb string, c *cursor, locale string) (request, bool) {
	if i := c.index(entryWords...); i >= 0 && verb == "publish" {
		return parseCreate(c, locale)
	}
	status := "unpublished"
	if verb == "publish" {
		status = "published"
	}
	c.skip(articles...)
	if i := c.index(blockWords...); i >= 0 {
		kind, page, ok := sectionOnPage(c, i)
		return publish{kind, page, status}, ok
	}
	if i := c.index("on", "of"); i == 1 { // the hero on About
		return publish{sectionKey(c.toks[:1]), pageName(c.toks[2:]), status}, len(c.toks) > 2
	}
	return talk{"no publish"}, !c.end()
}

// sectionOnPage parses "hero section on About", where i is the index of the word for section.
func sectionOnPage(c *cursor, i int) (kind, page string, ok bool) {
	kind = sectionKey(c.toks[:i])
	rest := &cursor{c.toks[i+1:]}
	if !rest.word(ownerWords...) || rest.end() || kind == "" {
		return "", "", false
	}
	return kind, pageName(rest.toks), true
}

// sectionKey returns the key of the section definition with this name.
func sectionKey(toks []token) string {
	c := cursor{toks}
	c.skip(articles...)
	return strings.ReplaceAll(strings.ToLower(value(c.toks)), " ", "-")
}
