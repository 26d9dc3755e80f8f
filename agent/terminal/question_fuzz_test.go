package terminal

import (
	"flag"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var allLines = flag.Bool("all-lines", false, "type 10,000 random lines at a question, not a sample")

// A meaning is what a person means who types at an approval, as docs/terminal.md tells it. It knows
// keys and lines, and nothing of the program.
type meaning struct {
	at      string // what is asked: the question, why, what instead, or whether to send what is shown back
	line    []rune
	cursor  int
	foreign bool // a part of the line was pasted, or typed before the question
	written bool // since the line was cleared
	shown   int  // the choice that an arrow has brought to the line, from 1
	back    string
	stops   int // Ctrl-C

	decided string
	over    bool
}

func (m *meaning) ask(what string) {
	m.at, m.line, m.cursor, m.foreign, m.written, m.shown = what, nil, 0, false, false, 0
}

// early is what was typed before the question was drawn.
func (m *meaning) early(text string) {
	if strings.TrimSpace(text) != "" {
		m.line = []rune(strings.Trim(text, "\r"))
		m.cursor, m.foreign, m.written = len(m.line), true, true
	}
}

func (m *meaning) insert(text string) {
	m.line = slices.Insert(m.line, m.cursor, []rune(text)...)
	m.cursor += len([]rune(text))
	m.written = true
}

// press is a key, by its name in testdata/question.txt.
func (m *meaning) press(key string) {
	switch key {
	case "<Enter>":
		m.enter(strings.TrimSpace(strings.ReplaceAll(string(m.line), "\r", "\n")))
	case "<Esc>":
		if m.at != "question" {
			m.ask("question")
		}
		m.line, m.cursor, m.written = nil, 0, false
	case "<Back>":
		if m.cursor > 0 {
			m.cursor--
			m.line = slices.Delete(m.line, m.cursor, m.cursor+1)
		}
	case "<^U>":
		m.line, m.cursor = slices.Clone(m.line[m.cursor:]), 0
	case "<Left>":
		m.cursor = max(m.cursor-1, 0)
	case "<Down>", "<Up>":
		menu := []string{"", "approve", "reject", "suggest", "edit", "always"}
		to := m.shown + map[string]int{"<Down>": 1, "<Up>": -1}[key]
		if m.at == "question" && !m.written && to >= 0 && to < len(menu) {
			m.shown, m.line = to, []rune(menu[to])
			m.cursor = len(m.line)
		}
	case "<^C>":
		m.stops++
		m.over = m.stops > 1
		m.ask("question")
	case "<^D>":
		if m.over = len(m.line) == 0; m.cursor < len(m.line) {
			m.line = slices.Delete(m.line, m.cursor, m.cursor+1)
		}
	default:
		if paste, ok := strings.CutPrefix(key, "<paste "); ok {
			m.foreign = true
			m.insert(strings.TrimSuffix(paste, ">"))
			return
		}
		m.foreign = m.foreign && len(m.line) > 0
		m.insert(key)
	}
}

// enter is a line that is written.
func (m *meaning) enter(text string) {
	at, foreign := m.at, m.foreign
	m.ask("question")
	switch {
	case at == "why":
		m.decided = strings.TrimSpace("reject: " + text)
	case at == "instead" && text != "":
		m.decided = "suggest: " + text
	case at == "instead" || at == "question" && text == "":
	case at == "back" && text == "":
		m.decided = "suggest: " + m.back
	case text == "quit" || text == "/quit":
		m.over = true
	case foreign || at == "back":
		m.other(text)
	default:
		switch text {
		case "a", "y", "Y", "yes", "Yes", "approve":
			m.decided = "approve"
		case "A", "always":
			m.decided = "always"
		case "r", "n", "N", "no", "reject":
			m.ask("why")
		case "s", "suggest":
			m.ask("instead")
		case "edit": // whose editor fails
		default:
			m.other(text)
		}
	}
}

// other is a line that decides nothing. It is shown back unless it is a choice, a command, or a
// word that needs an answer: all that is in quick.
func (m *meaning) other(text string) {
	first, _, _ := strings.Cut(text, " ")
	command := strings.LastIndex(first, "/") == 0 && len(first) > 1 && !strings.ContainsAny(first, "?.\n")
	if len([]rune(text)) > 1 && !command && !slices.Contains(quick, text) {
		m.ask("back")
		m.back = text
	}
}

// quick are the choices, commands and words for yes that are typed, and longer are other words.
var (
	quick = []string{"yes", "Yes", "no", "approve", "always", "reject", "suggest", "edit", "ok", "sure", "go ahead",
		"yes please", "ja", "passt", "/help", "/nonsense", "ok.", "all right", "da"}
	longer = []string{"wait", "cancel", "halt", "bad", "nein", "ändern", "add a README", "only one try", "aa", "ay",
		"no no", "yes but", "not yet", "approve all", "a?", "always ask", "1",
		"/etc/hosts is wrong", "quit", "über", "yesterday"}
	letters = strings.Split("aaayyynnrrsAYNSRedwx1?/", "")
	moves   = []string{"<Enter>", "<Enter>", "<Esc>", "<Back>", "<^U>", "<Left>", "<Down>", "<Up>", "<^C>", "<^D>", " "}
	pastes  = []string{"<paste a>", "<paste yes>", "<paste wait>", "<paste A>", "<paste n>"}
)

// scribble returns keys as somebody may press them who isn't careful.
func scribble(r *rand.Rand) (keys []string) {
	pick := func(list []string) string { return list[r.IntN(len(list))] }
	for range 1 + r.IntN(6) {
		switch r.IntN(10) {
		case 0, 1:
			keys = append(keys, keyPieces.FindAllString(pick(quick), -1)...)
		case 2, 3:
			keys = append(keys, keyPieces.FindAllString(pick(longer), -1)...)
		case 4, 5:
			keys = append(keys, pick(letters))
		case 6:
			keys = append(keys, pick(pastes))
		default:
			keys = append(keys, pick(moves))
		}
		if r.IntN(3) > 0 {
			keys = append(keys, "<Enter>")
		}
	}
	return keys
}

// A call runs only after a choice alone on its line and Enter, and is rejected only after a choice,
// or a second Enter.
func TestRandomLinesDecideOnlyWhatIsMeant(t *testing.T) {
	t.Setenv("VISUAL", "false")
	n := 500
	if *allLines {
		n = 10_000
	}
	d, counts := newDesk(t), map[string]int{}
	for seed := range uint64(n) {
		r := rand.New(rand.NewPCG(seed, 46))
		m, early := &meaning{at: "question"}, ""
		if r.IntN(4) == 0 {
			for _, key := range scribble(r) {
				if key == "<Enter>" || key[0] != '<' {
					early += keyNames.Replace(key)
				}
			}
			m.early(early)
		}
		var pressed, pieces []string
		for _, key := range scribble(r) {
			if m.decided != "" || m.over {
				break
			}
			if (key == "<Down>" || key == "<Up>") && (m.at == "why" || m.at == "instead") { // earlier lines
				continue
			}
			m.press(key)
			pressed, pieces = append(pressed, key), append(pieces, press(key)...)
		}
		decided, quit := d.ask(t, early, pieces)
		got := ""
		if decided != nil {
			got = said(decided)
		}
		require.Equal(t, m.decided, got, "seed %d: %q, then %q", seed, early, pressed)
		require.Equal(t, m.over, quit, "seed %d: %q, then %q", seed, early, pressed)
		kind, _, _ := strings.Cut(got, ":")
		counts[kind]++
	}
	t.Log(n, "scribbles:", counts)
	for _, kind := range []string{"", "approve", "always", "reject", "suggest"} {
		require.NotZero(t, counts[kind], "%q never happened", kind)
	}
}
