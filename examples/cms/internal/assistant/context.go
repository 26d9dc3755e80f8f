package assistant

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/examples/cms/internal/site"
	"github.com/pawlkit/pawl/memory"
)

// labelScreen is the label of a run with what its person has on the screen, and labelSeen the one
// of a session with the run in progress and what they had on it with their newest message to that.
const (
	labelScreen = "screen"
	labelSeen   = "seen"
)

// screenHeader is what the page sends that in, with each message.
const screenHeader = "X-CMS-Screen"

var screenPath = regexp.MustCompile(`^/[a-z0-9-]{2,64}/[a-z0-9-]{2,64}$`)

// Screen returns the labels of a run whose person has a path of the preview on the screen: that of
// a page, such as /pages/about, or of an entry, such as /blog/hello-world. Anything else is none.
func Screen(path string) map[string]string {
	if !screenPath.MatchString(path) {
		path = "none" // without labels, those of the run before would stay
	}
	return map[string]string{labelScreen: path}
}

// sees says what is on the screen of a person whose message may come into a run in progress. That
// has the labels of the message that it began with.
func sees(ctx context.Context, s *agent.Session, path string) error {
	res, err := s.Result(ctx)
	if errors.Is(err, agent.ErrNothingOpen) || err == nil && res.Status != agent.Running {
		return nil
	}
	if err != nil {
		return err
	}
	return s.SetLabel(ctx, labelSeen, res.Run+" "+Screen(path)[labelScreen])
}

// most is the number of pages that the model sees at most, and of sections of the page on the
// screen.
const most = 40

// Context returns the function that says what a model knows without a look-up: the day and the
// site, and with the newest message what is on the screen according to the labels of its run (see
// Screen), and which pages there are. self returns the agent.
func Context(s *site.Site, self func() *agent.Agent) func(context.Context, agent.ContextInput) (memory.Context, error) {
	return func(ctx context.Context, in agent.ContextInput) (memory.Context, error) {
		info, err := self().Session(in.Session).Info(ctx)
		if err != nil {
			return memory.Context{}, err
		}
		path := info.Labels[labelScreen]
		if run, seen, _ := strings.Cut(info.Labels[labelSeen], " "); run == in.Run {
			path = seen
		}
		return about(ctx, s, path, in.Text)
	}
}

func about(ctx context.Context, s *site.Site, path, message string) (c memory.Context, err error) {
	name, err := s.Name(ctx)
	if err != nil {
		return c, err
	}
	c.User = fmt.Sprintf("Today is %s. The site is called “%s”.", time.Now().Format("Monday, 2 January 2006"), name)
	if c.Screen, err = screen(ctx, s, path); err != nil {
		return c, err
	}
	pages, err := known(ctx, s, path, message)
	c.Fetched = []memory.Fetched{{Name: "the pages of the site", Text: pages}}
	return c, err
}

// known lists the pages that the model sees. Of more than [most], these are the one on the screen,
// those that the message names, and the newest.
func known(ctx context.Context, s *site.Site, path, message string) (string, error) {
	var all []site.PageSummary
	for next := new(int); next != nil; {
		list, err := s.ListPages(ctx, site.Query{Offset: *next, Limit: 200})
		if err != nil {
			return "", err
		}
		all, next = append(all, list.Items...), list.Next
	}
	left := len(all) - most
	if left > 0 {
		message = words(message)
		matters := func(p site.PageSummary) bool {
			return path == "/pages/"+p.Slug || strings.Contains(message, words(p.Name)) ||
				strings.Contains(message, words(p.Slug))
		}
		slices.SortFunc(all, func(a, b site.PageSummary) int {
			if first := matters(a); first != matters(b) {
				return map[bool]int{true: -1, false: 1}[first]
			}
			return cmp.Or(b.UpdatedAt.Compare(a.UpdatedAt), cmp.Compare(a.Slug, b.Slug))
		})
		all = all[:most]
		slices.SortFunc(all, func(a, b site.PageSummary) int { return cmp.Compare(a.Slug, b.Slug) })
	}
	var b strings.Builder
	for _, p := range all {
		fmt.Fprintf(&b, "%s (%s), %s\n", p.Name, site.Path(p.Slug), p.Status)
	}
	if left > 0 {
		fmt.Fprintf(&b, "and %d more, which cms_listPages lists\n", left)
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// words returns the words of a text in lower case, with a space before, between and after them.
func words(text string) string {
	return " " + strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}), " ") + " "
}

// bounded returns the first of so many things, and how many more there are.
func bounded(list []string) []string {
	if more := len(list) - most; more > 0 {
		list = append(list[:most:most], fmt.Sprintf("and %d more", more))
	}
	return list
}

// screen says in words what is at a path of the preview; "" if there is no path.
func screen(ctx context.Context, s *site.Site, path string) (string, error) {
	where, slug, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	var text string
	var err error
	switch where {
	case "none", "": // the terminal, or another client
	case "pages":
		var p *site.Page
		if p, err = s.GetPage(ctx, slug, ""); err == nil {
			sections := make([]string, len(p.Sections))
			for i, sec := range p.Sections {
				sections[i] = sec.Section + " " + sec.ID
			}
			text = fmt.Sprintf("The person sees the page %s (%s), %s. Its sections: %s.", p.Name, site.Path(p.Slug),
				p.Status, cmp.Or(strings.Join(bounded(sections), ", "), "none"))
		}
	default:
		var e *site.Entry
		if e, err = s.GetEntryIn(ctx, where, slug, ""); err == nil {
			text = fmt.Sprintf("The person sees the entry %s (%s) of the collection %s, %s.", e.Title, e.Slug, where,
				e.Status)
		}
	}
	if fault.Of(err) == fault.NotFound {
		return fmt.Sprintf("The person sees that nothing is at /%s.", strings.TrimPrefix(path, "/pages/")), nil
	}
	return text, err
}
