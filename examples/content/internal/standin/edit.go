package standin

import (
	"regexp"
	"slices"
	"strings"
)

// contractions are short forms, each before what it stands for, with _ for a space.
var contractions = strings.Fields(`don't do_not doesn't does_not didn't did_not isn't is_not aren't are_not
	wasn't was_not can't cannot won't will_not it's it_is that's that_is you're you_are we're we_are they're they_are
	there's there_is I'm I_am let's let_us Don't Do_not It's It_is That's That_is You're You_are There's There_is`)

// Requests: another tone, for which the text gets short forms or long ones, and a shorter text.
var (
	casual  = regexp.MustCompile(`(?i)friend|casual|relaxed|warm|conversational|less formal|freundlich|locker`)
	formal  = regexp.MustCompile(`(?i)formal|professional|serious|förmlich|sachlich`)
	shorter = regexp.MustCompile(`(?i)short|tight|trim|cut|condense|concise|punch|kürz|knapp`)
	other   = regexp.MustCompile(`(?i)translat|übersetz|funn|witt|humor|lustig`)
)

// clause finds where a long sentence can be two.
var clause = regexp.MustCompile(`[;:] ([a-z])`)

// sentence finds the sentences of a paragraph.
var sentence = regexp.MustCompile(`[^.!?]+[.!?]+["”)]*(?: \[\d+\])*\s*`)

// edit makes the edits that need no language model: a shorter text, and short forms or long ones
// for another tone. For all others it says that it can't.
func edit(prompt string) string {
	m := fenced.FindStringSubmatch(prompt)
	if m == nil {
		return ""
	}
	text, request := m[1], field(prompt, "Request")
	switch {
	case other.MatchString(request):
		return "CAN'T: The stand-in can't translate or be funny; a model can."
	case shorter.MatchString(request):
		return changed(text, shorten(text))
	case casual.MatchString(request):
		return changed(text, outside(text, func(block string) string {
			return clause.ReplaceAllStringFunc(forms(block, 1, 0), func(m string) string { return ". " + upper(m[2:]) })
		}))
	case formal.MatchString(request):
		return changed(text, outside(text, func(block string) string { return forms(block, 0, 1) }))
	}
	return "CAN'T: The stand-in can make a text shorter, friendlier or more formal. For anything else, it takes a model."
}

// changed returns the new text, or that there is nothing to change.
func changed(before, after string) string {
	if before == after {
		return "CAN'T: The stand-in finds nothing to change here: it works by rules. A model would."
	}
	return after
}

// outside applies f to all paragraphs but pictures and the places for them.
func outside(text string, f func(string) string) string {
	blocks := strings.Split(text, "\n\n")
	for i, b := range blocks {
		if !strings.HasPrefix(b, "![") && !strings.HasPrefix(b, "[IMAGE:") {
			blocks[i] = f(b)
		}
	}
	return strings.Join(blocks, "\n\n")
}

// forms replaces one kind of forms by the other: the first of each pair is short.
func forms(text string, from, to int) string {
	for pair := range slices.Chunk(contractions, 2) {
		old := strings.ReplaceAll(pair[from], "_", " ")
		text = regexp.MustCompile(`\b`+old+`\b`).ReplaceAllString(text, strings.ReplaceAll(pair[to], "_", " "))
	}
	return text
}

// shorten leaves out the middle sentences of each paragraph. Headings, lists and pictures stay.
func shorten(text string) string {
	blocks := strings.Split(text, "\n\n")
	for i, b := range blocks {
		if b == "" || strings.ContainsAny(b[:1], "#-*![>1") {
			continue
		}
		all := sentence.FindAllString(b, -1)
		if len(all) > 2 {
			blocks[i] = strings.TrimSpace(all[0]) + " " + strings.TrimSpace(all[len(all)-1])
		}
	}
	return strings.Join(blocks, "\n\n")
}
