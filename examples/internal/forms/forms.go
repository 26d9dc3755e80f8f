package forms

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// A Config configures [New].
type Config struct {
	// Words stand for parts of regular expressions; later ones may be in earlier ones. VALUE is
	// added: a text in quotation marks, or any other without a line break.
	Words [][2]string
	// Says has the regular expressions of each form. The first form that fits counts.
	Says [][]string
	// Fit makes the values of a sentence what they are for the form with this index, and reports
	// whether the sentence is that form. quoted says which values are in quotation marks. A value
	// that is empty isn't in the sentence.
	Fit func(form int, values map[string]string, quoted map[string]bool) bool
	// Spaces keeps the spaces at both ends of texts in quotation marks.
	Spaces bool
}

// Forms reads sentences. It is safe for concurrent use.
type Forms struct {
	fits [][]*regexp.Regexp
	fit  func(int, map[string]string, map[string]bool) bool

	spaces bool
}

// A Request is a sentence that fits a form.
type Request struct {
	Form   int               // its index
	Values map[string]string // by the names of the groups of its expression; "": one hasn't matched

	parts map[string][2]string // the sentence before and after each value
}

// New returns a reader of forms. It panics if an expression is invalid: forms are a part of a
// program.
func New(c Config) *Forms {
	f := &Forms{fit: c.Fit, spaces: c.Spaces}
	words := append(slices.Clone(c.Words), [2]string{"VALUE", `(?:“\d+”|[^“”"\n]+?)`})
	for _, says := range c.Says {
		var all []*regexp.Regexp
		for _, text := range says {
			for _, w := range words {
				text = strings.ReplaceAll(text, w[0], w[1])
			}
			all = append(all, regexp.MustCompile(`(?i)^(?:`+text+`)$`))
		}
		f.fits = append(f.fits, all)
	}
	return f
}

var (
	quotes = regexp.MustCompile(`"([^"]+)"|[“„]([^“”„"]+)[”“]|(?:^|\s)['‘]([^'’]+(?:['’]\pL[^'’]*)*)['’]`)
	marks  = regexp.MustCompile(`“(\d+)”`)
	polite = regexp.MustCompile(`(?i)^(?:please,? )?((?:can|could) you (?:please )?|(?:would|will) you please )?` +
		`(?:i'd like (?:you )?to )?`)
	thanks  = regexp.MustCompile(`(?i)(?:,? (?:please|for me|thanks|thank you))+$`)
	follows = regexp.MustCompile(`(?i),? (?:and )?then `)
)

// Read returns the requests of a text, which are joined by "then". If one of them fits no form, it
// returns none.
func (f *Forms) Read(said string) (all []*Request) {
	var texts []string
	said = quotes.ReplaceAllStringFunc(said, func(s string) string {
		m := quotes.FindStringSubmatch(s)
		texts = append(texts, m[1]+m[2]+m[3])
		return strings.Repeat(" ", strings.Count(s[:1], " ")) + "“" + strconv.Itoa(len(texts)-1) + "”"
	})
	said = strings.TrimRight(strings.TrimSpace(strings.ReplaceAll(said, "’", "'")), ".! ")
	if asked := polite.FindStringSubmatch(said); asked[1] != "" {
		said = strings.TrimRight(said, "? ")
	}
	for _, text := range follows.Split(said, -1) {
		text = thanks.ReplaceAllString(strings.TrimSpace(text[len(polite.FindString(text)):]), "")
		r := f.read(text, texts)
		if r == nil {
			return nil
		}
		all = append(all, r)
	}
	return all
}

// read returns the request of a sentence, or nil if it is none.
func (f *Forms) read(text string, texts []string) *Request {
	for i, all := range f.fits {
		for _, says := range all {
			m := says.FindStringSubmatchIndex(text)
			if m == nil {
				continue
			}
			r := &Request{i, map[string]string{}, map[string][2]string{}}
			quoted, blank := map[string]bool{}, false
			for g, name := range says.SubexpNames() {
				if name == "" {
					continue
				}
				if m[2*g] < 0 {
					if _, known := r.Values[name]; !known { // another group of this name may have matched
						r.Values[name] = ""
					}
					continue
				}
				v := text[m[2*g]:m[2*g+1]]
				quoted[name] = marks.MatchString(v)
				r.Values[name] = unmark(v, texts, "")
				trimmed := strings.TrimSpace(r.Values[name])
				blank = blank || trimmed == ""
				if !f.spaces || !quoted[name] {
					r.Values[name] = trimmed
				}
				r.parts[name] = [2]string{unmark(text[:m[2*g]], texts, `"`), unmark(text[m[2*g+1]:], texts, `"`)}
			}
			if !blank && f.fit(i, r.Values, quoted) {
				return r
			}
		}
	}
	return nil
}

// unmark puts texts back where their marks are.
func unmark(s string, texts []string, quote string) string {
	return marks.ReplaceAllStringFunc(s, func(s string) string {
		n, _ := strconv.Atoi(strings.Trim(s, "“”"))
		return quote + texts[min(n, len(texts)-1)] + quote
	})
}

// With returns the sentence with another text in quotation marks in place of a value.
func (r *Request) With(name, text string) string {
	return r.parts[name][0] + `"` + text + `"` + r.parts[name][1]
}

// loose are words that a plain value doesn't have: they begin a condition, a retraction, or another
// request.
var loose = strings.Fields(`if when unless until till before after once while because so but or nor not no never
	none nothing nobody don't dont can't won't actually wait instead except without assuming only later tomorrow
	today tonight soon now yet it them this that everything anything all every either to with under below above into`)

// Plain reports whether a value without quotation marks can be nothing but a name or a text. A list
// may have commas.
func Plain(v string, list bool) bool {
	if strings.ContainsAny(v, "?!;:…–—()") || strings.Contains(v, " - ") || strings.Contains(v, ". ") ||
		strings.Contains(v, "..") || !list && strings.Contains(v, ",") {
		return false
	}
	all := strings.Fields(v)
	for i, word := range all {
		joins := !list && word == "and" && i+1 < len(all) && unicode.IsLower([]rune(all[i+1])[0])
		if joins || slices.Contains(loose, strings.ToLower(strings.Trim(word, ",."))) {
			return false
		}
	}
	return len(all) > 0
}
