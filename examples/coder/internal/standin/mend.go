package standin

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/pawlkit/pawl/provider/providertest"
)

// A repair is a mistake that the stand-in knows, by what go test says about it.
type repair struct {
	Sign *regexp.Regexp `json:"sign"`
	File string         `json:"file"`
	Old  string         `json:"old"`
	New  string         `json:"new"`
	Kept string         `json:"kept"` // instead of New, if names are to be kept
	Why  string         `json:"why"`
	Also string         `json:"also"` // what New does in addition to Kept
	Done string         `json:"done"` // for the commit
}

var repairs = sync.OnceValue(func() []repair { return *load[[]repair]("repairs.json") })

// version is that of a file, as file.read says it.
var version = regexp.MustCompile(`version ([0-9a-f]{16})`)

// text returns what takes the place of Old.
func (r *repair) text(w *wish) string {
	return map[bool]string{true: r.Kept, false: r.New}[w.limits[keepName]]
}

// read returns a file that was read and not changed since; version is empty if it can't be read.
func (t *turn) read(file string) (text, fingerprint string, ok bool) {
	for i := len(t.did) - 1; i >= 0; i-- {
		switch d := &t.did[i]; {
		case d.in.Path != file, d.failed && rejected.MatchString(d.result):
		case d.name != "file.read": // it was changed, or that failed
			return "", "", false
		case d.failed:
			return "", "", true
		default:
			return d.body(), version.FindStringSubmatch(d.result)[1], true
		}
	}
	return "", "", false
}

// open returns the repairs that the files need. ok is false before they are read.
func (t *turn) open() (list []*repair, ok bool) {
	for i := range repairs() {
		text, _, read := t.read(repairs()[i].File)
		if !read {
			return nil, false
		}
		if strings.Contains(text, repairs()[i].Old) {
			list = append(list, &repairs()[i])
		}
	}
	return list, true
}

// proposal says what would be changed.
func (t *turn) proposal(list []*repair) (text string) {
	if t.wish.act != doesMend && t.wish.act != doesPropose {
		return "I would do what you say, and run the tests."
	}
	for _, r := range list {
		lines := func(sign, text string) string { // with a sign before each
			return "\n" + sign + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+sign)
		}
		text += "\n\nIn " + r.File + ": " + r.Why + "\n\n```diff"
		text += lines("-", r.Old) + lines("+", r.text(&t.wish)) + "\n```"
	}
	if text == "" {
		return "I see nothing that I know how to mend: a stand-in knows two mistakes, and no others."
	}
	return "I would change this." + text
}

func (t *turn) propose() providertest.Step {
	list, ok := t.open()
	if !ok {
		return call("I look, and change nothing.", "file.read", object{"path": repairs()[0].File})
	}
	return providertest.Say(t.proposal(list) + "\n\nNothing is changed. Say “do it”, and I do what I can.")
}

// plan looks at the files, and submits a plan, which the same model carries out as a worker.
func (t *turn) plan() providertest.Step {
	if d := t.last("plan.submit"); d != nil {
		return providertest.Say(d.result[strings.LastIndex(d.result, "\n\n")+1:]) // how it went
	}
	list, ok := t.open()
	if !ok || !t.offered("plan.submit", "") {
		return t.propose()
	}
	node := object{"id": "change", "worker": "coder", "prompt": t.wish.order()}
	return call(t.proposal(list)+"\n\nThis is the plan:", "plan.submit",
		object{"title": clip(t.wish.text, 1), "why": "The worker runs the tests.", "nodes": []object{node}})
}

// mend runs the tests, mends what they find, and commits that.
func (t *turn) mend() providertest.Step {
	mended, tested := t.mended(t.did), t.ran("go", "test")
	switch {
	case t.wish.limits[noRun]:
		list, ok := t.open()
		if !ok {
			return call("Without running anything I can only mend what I see.", "file.read",
				object{"path": repairs()[0].File})
		}
		for _, r := range list {
			if !slices.Contains(mended, r) {
				return t.repair(r)
			}
		}
		return t.commit("I ran no tests.")
	case tested == nil:
		return t.run(map[bool]string{true: "My plan: run the tests, read what fails, mend it, and run them again until " +
			"they pass.", false: "I run the tests again."}[len(mended) == 0], "go", "test", "./...")
	case tested.passed():
		return t.commit("All tests pass.")
	}
	for i := range repairs() {
		r := &repairs()[i]
		if !r.Sign.MatchString(tested.result) {
			continue
		}
		text, _, read := t.read(r.File)
		if !read {
			return call("The tests say:\n\n"+failures(tested)+"\n\nI read "+r.File+".", "file.read",
				object{"path": r.File})
		}
		if strings.Contains(text, r.Old) && !slices.Contains(mended, r) { // a person may have changed the edit
			return t.repair(r)
		}
	}
	return providertest.Say("This still fails:\n\n" + failures(tested) + "\n\nI don't know how to mend that.")
}

func (t *turn) repair(r *repair) providertest.Step {
	also := r.Also
	if t.wish.limits[keepName] && also != "" {
		also = " The names stay."
	}
	return call(r.Why+also, "file.edit", object{"path": r.File, "old": r.Old, "new": r.text(&t.wish)})
}

// mended returns the repairs that were made in a part of the conversation, and not committed.
func (t *turn) mended(part []deed) (list []*repair) {
	for i := range part {
		if part[i].ran("git", "commit") && part[i].passed() {
			list = nil
		}
		for j := range repairs() {
			if part[i].changed("") && part[i].in.Old == repairs()[j].Old {
				list = append(list, &repairs()[j])
			}
		}
	}
	return list
}

// commit commits what was mended, and nothing else.
func (t *turn) commit(how string) providertest.Step {
	var message, files []string
	for _, r := range t.mended(slices.Concat(t.before, t.did)) {
		message, files = append(message, r.Done), append(files, "./"+r.File) // no option
	}
	switch done := t.ran("git", "commit"); {
	case done != nil:
		return providertest.Say("git says:\n\n```\n" + clip(done.body(), 10) + "\n```")
	case len(message) == 0:
		return providertest.Say(how + " There is nothing that I know how to mend.")
	case t.wish.limits[noCommit]:
		return providertest.Say(how + " " + strings.Join(message, ". ") + ". Nothing is committed, as you said.")
	}
	return t.run(how+" I commit the change.", "git", append([]string{"commit", "-m", strings.Join(message, "; ")},
		slices.Compact(files)...)...)
}
