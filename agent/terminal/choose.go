package terminal

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// A choice is something that can be decided, with its keys, its words, and how the prompt has it.
type choice struct{ keys, words, label, help string }

var (
	approve = choice{"ay", "approve yes y", "[a]pprove", "runs the call; so does y"}
	reject  = choice{"rn", "reject no n", "[r]eject", "keeps the call from running; a reason may follow; so does n"}
	suggest = choice{"s", "suggest", "[s]uggest something else", "keeps the call from running; you say what to do instead"}
	change  = choice{"e", "edit", "[e]dit", "changes the input, and runs the call with that"}
	always  = choice{"A", "always", "[A]lways", "runs the call, and from now on more without asking: you choose what"}
	again   = choice{"a", "approve", "[a] run it again", "runs the call again"}
	leaveIt = choice{"r", "reject", "[r] don't run it", "leaves it as it is"}
	tellIt  = choice{"w", "answer", "[w] say what it did", "tells the agent what the result was"}
	details = choice{"d", "details", "[d]etails", "shows all of the input and of the change"}
	slash   = choice{"/", "/", "", "begins a command, such as /mode"}
	yes     = choice{"y", "yes", "[y]es", "does it"}
	no      = choice{"n", "no", "[n]o", "leaves it as it is"}
)

// What is said of a text that isn't a choice, before Enter sends it.
const (
	insteadOfCall   = "Instead of the call: “%s”. Enter again sends this and rejects the call, Esc leaves the question."
	insteadOfAnswer = "Instead of an answer: “%s”. Enter again sends this, Esc leaves the question."
	asTheAnswer     = "As the answer: “%s”. Enter again sends this, Esc leaves the question."
)

// meansYes are words by which people mean yes. They decide nothing, since each means something
// else, too; they are answered with how to say it.
var meansYes = []string{"ok", "okay", "k", "sure", "go", "go ahead", "go on", "go for it", "yes please", "yes do it",
	"please", "please do", "yep", "yeah", "yup", "aye", "do it", "do that", "fine", "good", "great", "looks good",
	"sounds good", "lgtm", "proceed", "continue", "carry on", "run", "run it", "allow", "allow it", "accept",
	"accepted", "confirm", "confirmed", "agreed", "approved", "approve it", "approve this", "i approve", "of course",
	"absolutely", "all right", "alright", "right", "ja", "ja bitte", "jo", "jawohl", "klar", "na klar", "passt",
	"mach", "mach das", "mach es", "mach weiter", "weiter", "los", "gut", "gerne", "genau", "einverstanden", "bitte",
	"oui", "si", "sí", "da", "vale", "👍"}

// affirms reports whether a text only means yes.
func affirms(text string) bool {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return strings.ContainsRune(" ,.!", r) })
	return slices.Contains(meansYes, strings.Join(words, " "))
}

// chosen returns the choice that a line is, or -1.
func chosen(all []choice, said string) int {
	return slices.IndexFunc(all, func(c choice) bool {
		return said != "" && said == c.label || len(said) == 1 && strings.Contains(c.keys, said) &&
			(c.words != "" || len(c.keys) == 1) ||
			slices.Contains(strings.Fields(c.words), strings.ToLower(said)) || strings.EqualFold(said, c.help)
	})
}

// choose shows choices and waits for one: alone on its line, and typed after they were shown. Other
// text is shown back as instead says, and returned with -1 if the person sends it then; without
// instead it is nothing. Where lines are read, other text is always nothing.
func (u *ui) choose(ctx context.Context, all []choice, instead string) (i int, text string, err error) {
	prompt, help := "", ""
	q := &asking{choices: []string{}, fresh: true}
	for _, c := range all {
		if c.label != "" {
			prompt += c.label + ", "
			q.choices = append(q.choices, cmp.Or(strings.Split(c.words, " ")[0], c.label))
		}
		help += fmt.Sprintf("  %s  %s\n", c.keys[:1], c.help)
	}
	for {
		said, kept := u.kept(instead)
		if !kept {
			if said, err = u.line(ctx, prompt+"[?]: ", q); err != nil {
				return 0, "", err
			}
		}
		for loose := q.early || q.pasted || kept; ; loose = true {
			i = chosen(all, said)
			name, args, slashed := command(said)
			switch {
			case said == "?":
				u.out.line("%s  Ctrl-D leaves it open.", help)
			case slashed && said != "?" && slices.Contains(all, slash) && (u.keys.file != nil || said[0] == '/'):
				return 0, "", cmp.Or(u.command(ctx, name, args), errChanged)
			case i >= 0 && !loose && all[i] != slash:
				return i, "", nil
			case i >= 0 && all[i] != slash:
				u.out.line("“%s” decides nothing here: it was pasted, or typed before the question. Type it again.", said)
			case u.keys.file != nil && affirms(said) &&
				slices.Contains([]choice{approve, again, yes}, all[0]):
				u.out.line("“%s” decides nothing. To say yes, type %s, then Enter.", short(said, 40), all[0].keys[:1])
			case u.keys.file == nil:
				u.out.line("Type one of the letters.")
			case instead == "" || utf8.RuneCountInString(said) < 2:
				u.out.line("Nothing is decided. Type one of the choices, then Enter.")
			default:
				next, sent, err := u.confirm(ctx, instead, said)
				if err != nil || sent {
					return -1, said, err
				}
				if said = next; said != "" {
					continue
				}
			}
			break
		}
	}
}

// kept returns what was typed before a question, as a message to the run, if the question takes a
// text.
func (u *ui) kept(instead string) (text string, ok bool) {
	if instead == "" || len(u.unsent) == 0 || u.keys.file == nil {
		return "", false
	}
	text, u.unsent = u.unsent[0], u.unsent[1:]
	return text, true
}

// confirm shows a text back, and reports whether the person sends it. If they type another one
// instead, that is returned. What isn't sent can be had back at the next prompt, with the up arrow.
func (u *ui) confirm(ctx context.Context, how, text string) (next string, sent bool, err error) {
	u.out.line(how, short(text, 1000))
	next, err = u.line(ctx, "Enter or Esc: ", &asking{choices: []string{}, fresh: true, leaves: true})
	if sent = err == nil && next == ""; !sent {
		u.remember(text)
	}
	return next, sent, err
}
