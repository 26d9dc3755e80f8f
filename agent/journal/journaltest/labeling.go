package journaltest

import (
	"fmt"
	"strings"

	"github.com/pawlkit/pawl/agent/journal"
)

// labeled is what the checks of labels and kinds look at.
var labeled = []struct {
	name string
	head journal.HeadUpdate
}{
	{"a", journal.HeadUpdate{Labels: map[string]string{"user": "ann", "tenant": "x"}}},
	{"b", journal.HeadUpdate{Labels: map[string]string{"user": "ann"}, Kind: "plan"}},
	{"c", journal.HeadUpdate{Labels: map[string]string{"user": "Ann", "ann": "user"}}},
	{"d", journal.HeadUpdate{Labels: map[string]string{"user=a": "b", "a b": "user"}}},
	{"e", journal.HeadUpdate{Kind: "plan"}},
	{"f", journal.HeadUpdate{Kind: "Plan", Labels: map[string]string{"user": "a=b “日本” <&> \\ ' % _ \" $.x"}}},
	{"g", journal.HeadUpdate{Labels: map[string]string{"$.x": "1", "0": "1"}}},
}

var labelChecks = []check{
	{"sessions are found by one label, and by kind", func(f *fixture) {
		for _, e := range labeled {
			f.append(journal.Append{Session: e.name, Records: recs(1, 1), Head: &e.head})
		}
		f.fill("z", 1) // without a head
		label := func(key, value string) journal.Filter {
			return journal.Filter{Label: journal.Label{Key: key, Value: value}}
		}
		for _, c := range []struct {
			filter journal.Filter
			want   []string
		}{
			{label("user", "ann"), []string{"a", "b"}},
			{label("user", "Ann"), []string{"c"}},
			{label("ann", "user"), []string{"c"}},
			{label("user", ""), nil},
			{label("user", "nobody"), nil},
			{label("user", "a\x00"), nil},
			{label("us\xff", "ann"), nil},
			{label("user=a", "b"), []string{"d"}},
			{label("user", "a=b"), nil},
			{label("user", "a=b “日本” <&> \\ ' % _ \" $.x"), []string{"f"}},
			{label("$.x", "1"), []string{"g"}},
			{label("0", "1"), []string{"g"}},
			{label("1", "1"), nil},
			{journal.Filter{Kind: "plan"}, []string{"b", "e"}},
			{journal.Filter{Kind: "p"}, nil},
			{journal.Filter{NoKind: true}, []string{"a", "c", "d", "g", "z"}},
			{journal.Filter{NoKind: true, Kind: "plan"}, nil},
			{journal.Filter{Kind: "plan", Label: journal.Label{Key: "user", Value: "ann"}, After: "a", Limit: 1},
				[]string{"b"}},
		} {
			f.equal(fmt.Sprintf("sessions for %+v", c.filter), f.names(c.filter), c.want)
		}
	}},
	{"labels, kind and title follow changes", func(f *fixture) {
		l := f.lease("s", "w", hour)
		ann, bob := journal.Label{Key: "user", Value: "ann"}, journal.Label{Key: "user", Value: "bob"}
		set := func(after int, h journal.HeadUpdate) {
			f.append(journal.Append{Session: "s", After: uint64(after), Fence: l.Fence, Records: recs(after+1, after+1),
				Head: &h})
		}
		set(0, journal.HeadUpdate{Labels: map[string]string{"user": "ann"}, Title: "first", Kind: "k"})
		f.equal("sessions of ann", f.names(journal.Filter{Label: ann, Kind: "k"}), []string{"s"})
		set(1, journal.HeadUpdate{Labels: map[string]string{"user": "bob"}, Title: "second"})
		f.equal("sessions of ann afterwards", f.names(journal.Filter{Label: ann}), nil)
		f.equal("sessions of bob", f.names(journal.Filter{Label: bob, NoKind: true}), []string{"s"})
		f.equal("title", f.head("s").Title, "second")
		f.delete("s", 1)
		f.post("s", item("a"))
		f.equal("sessions of bob after pruning", f.names(journal.Filter{Label: bob}), []string{"s"})
		f.delete("s", journal.All)
		f.equal("sessions of bob after deleting", f.names(journal.Filter{Label: bob}), nil)
		f.fill("s", 1)
		f.equal("sessions of bob after another session of the name", f.names(journal.Filter{Label: bob}), nil)
	}},
	{"labels and titles of the full length are accepted, and longer ones refused", func(f *fixture) {
		h := journal.HeadUpdate{Kind: strings.Repeat("k", journal.MaxName),
			Title: strings.Repeat("ü", journal.MaxTitle/2), Labels: map[string]string{}}
		for i := range journal.MaxLabels {
			key := fmt.Sprintf("%02d", i)
			h.Labels[key+strings.Repeat("k", journal.MaxLabelKey-len(key))] = strings.Repeat("ü",
				journal.MaxLabelValue/2)
		}
		f.append(journal.Append{Session: "s", Head: &h})
		got := f.head("s")
		f.equal("head", got,
			journal.Head{Session: "s", Kind: h.Kind, Title: h.Title, Labels: h.Labels, Created: got.Created,
				Updated: got.Updated})

		many := map[string]string{}
		for i := range journal.MaxLabels + 1 {
			many[fmt.Sprint(i)] = "v"
		}
		bad := map[string]journal.HeadUpdate{
			"a title that is too long": {Title: h.Title + "n"},
			"too many labels":          {Labels: many},
			"an empty key":             {Labels: map[string]string{"": "v"}},
			"an empty value":           {Labels: map[string]string{"k": ""}},
			"a key that is too long":   {Labels: map[string]string{strings.Repeat("k", journal.MaxLabelKey+1): "v"}},
			"a value that is too long": {Labels: map[string]string{"k": strings.Repeat("k", journal.MaxLabelValue+1)}},
		}
		for what, name := range badNames {
			bad["a parent that is "+what] = journal.HeadUpdate{Parent: name}
			bad["a kind that is "+what] = journal.HeadUpdate{Kind: name}
			bad["a title that is "+what] = journal.HeadUpdate{Title: name}
			bad["a key that is "+what] = journal.HeadUpdate{Labels: map[string]string{name: "v"}}
			bad["a value that is "+what] = journal.HeadUpdate{Labels: map[string]string{"k": name}}
		}
		for what, head := range bad {
			refused[*journal.InvalidError](f, "append with "+what,
				f.store.Append(f.ctx, journal.Append{Session: "s", Head: &head}))
		}
	}},
}
