package diff

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A textLine is one line of a file, with its end.
type textLine struct{ text, end string }

// textLines splits data into lines. All of them end in end, or in "\n" and "\r\n" if end is empty.
func textLines(data []byte, end string) (list []textLine) {
	at := "\n"
	if end == "\r" {
		at = end
	}
	for line := range strings.SplitAfterSeq(string(data), at) {
		text := strings.TrimSuffix(line, at)
		if at == "\n" && text != line {
			text = strings.TrimSuffix(text, "\r")
		}
		if line != "" {
			list = append(list, textLine{text, line[len(text):]})
		}
	}
	return list
}

// An edit replaces n lines from line at, counted from 0, by others.
type edit struct {
	at, n int
	lines []hunkLine
	hunk  int
	open  bool // the patch knows that the last line that is replaced has no line end
}

// Apply returns data with all hunks applied, and the first line that each hunk changed, from 1, as
// out counts them. A hunk that doesn't match at its line is applied where it matches, if that is
// one place. So is one that matches there and also as far away as the hunk before. Lines that
// aren't changed stay byte for byte. An added line ends as the line that it replaces or follows: in
// end, which is that of all lines of the file, or "" if they differ. If the file ends without a
// line end, it does so afterwards, unless the patch says something else.
func Apply(data []byte, hunks []Hunk, end string) (out []byte, at []int, err error) {
	if rest, ok := bytes.CutPrefix(data, []byte(mark)); ok {
		out, at, err := Apply(rest, withoutMark(hunks), end)
		return slices.Concat([]byte(mark), out), at, err
	}
	lines := textLines(data, end)
	index := make(map[string][]int, len(lines))
	for i, l := range lines {
		index[l.text] = append(index[l.text], i)
	}
	var edits []edit
	shift := 0 // of the previous hunk
	for i := range hunks {
		h := &hunks[i]
		place, err := h.place(lines, index, shift)
		if err != nil {
			return nil, nil, fmt.Errorf("hunk %d, line %d of the patch, %w", i+1, h.Line, err)
		}
		if h.at > 0 {
			shift = place - (h.at - 1)
		}
		of := h.edits(place)
		for j := range of {
			of[j].hunk = i
		}
		edits = append(edits, of...)
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return a.at - b.at })
	for i := 1; i < len(edits); i++ {
		if a, b := edits[i-1], edits[i]; a.at+a.n > b.at || a.at == b.at {
			return nil, nil, fmt.Errorf("hunks %d and %d change the same lines", min(a.hunk, b.hunk)+1,
				max(a.hunk, b.hunk)+1)
		}
	}
	at = make([]int, len(hunks))
	added := 0 // lines, by the edits before
	for _, e := range edits {
		if at[e.hunk] == 0 {
			at[e.hunk] = e.at + added + 1
		}
		added += len(e.lines) - e.n
	}
	out = join(lines, edits, end)
	if bytes.Equal(out, data) {
		return nil, nil, errors.New("the patch changes nothing; line ends stay as the file has them")
	}
	return out, at, nil
}

// mark is the byte order mark of UTF-8.
const mark = "\ufeff"

// withoutMark returns hunks that may have been copied with the mark of the file.
func withoutMark(hunks []Hunk) []Hunk {
	hunks = slices.Clone(hunks)
	for i, h := range hunks {
		hunks[i].lines = slices.Clone(h.lines)
		for j, l := range h.lines {
			hunks[i].lines[j].text = strings.TrimPrefix(l.text, mark)
		}
	}
	return hunks
}

// side returns the lines that a hunk expects in the file ('-'), or makes of them ('+').
func (h *Hunk) side(sign byte) (list []string) {
	for _, l := range h.lines {
		if l.sign == ' ' || l.sign == sign {
			list = append(list, l.text)
		}
	}
	return list
}

// place returns the line at which a hunk is applied, from 0.
func (h *Hunk) place(lines []textLine, index map[string][]int, shift int) (int, error) {
	old := h.side('-')
	if len(old) == 0 {
		if len(lines) == 0 {
			return 0, nil
		}
		return 0, errors.New("has only added lines; give at least one line of the file before or after them")
	}
	if h.at > 0 {
		want, moved := h.at-1, h.at-1+shift
		here, there := is(lines, want, old), is(lines, moved, old)
		switch {
		case here && (!there || want == moved):
			return want, nil
		case there && !here:
			return moved, nil
		} // both: one of them matches by chance
	}
	places, all := matches(lines, index, old)
	if !all {
		return 0, errors.New("has only lines that the file has very often; give its right line in the @@ line, or " +
			"more of the lines around")
	}
	switch len(places) {
	case 1:
		return places[0], nil
	case 0:
		if now, _ := matches(lines, index, h.side('+')); len(now) > 0 {
			return 0, errors.New("doesn't match the file, which has its new lines already; read the file again")
		}
		return 0, fmt.Errorf("doesn't match the file%s", nearest(lines, index, old))
	}
	var numbers []string
	for _, p := range places[:min(len(places), 10)] {
		numbers = append(numbers, fmt.Sprint(p+1))
	}
	return 0, fmt.Errorf("matches the file in %d places, at lines %s; give its right line in the @@ line, or more of "+
		"the lines around", len(places), strings.Join(numbers, ", "))
}

// is reports whether old is at a line of the file.
func is(lines []textLine, at int, old []string) bool {
	return at >= 0 && at <= len(lines)-len(old) &&
		slices.EqualFunc(lines[at:at+len(old)], old, func(l textLine, text string) bool { return l.text == text })
}

// mostCompared is how many lines of the file are compared with one hunk, in all of its places.
const mostCompared = 1 << 18

// matches returns where old is in the file, and whether these are all places. It looks for the line
// of old that is the rarest.
func matches(lines []textLine, index map[string][]int, old []string) (places []int, all bool) {
	if len(old) == 0 {
		return nil, true
	}
	rare := 0
	for i, text := range old {
		if len(index[text]) < len(index[old[rare]]) {
			rare = i
		}
	}
	candidates := index[old[rare]]
	most := mostCompared/len(old) + 1
	for _, i := range candidates[:min(len(candidates), most)] {
		if is(lines, i-rare, old) {
			places = append(places, i-rare)
		}
	}
	return places, len(candidates) <= most
}

// mostVotes limits the search for a place that is similar to a hunk.
const mostVotes = 1 << 18

// nearest says in which line the place of the file that is most similar to old differs from it.
func nearest(lines []textLine, index map[string][]int, old []string) string {
	votes, n := make(map[int]int), 0
	best := -1
	for j, text := range old {
		for _, i := range index[text] {
			if n++; n > mostVotes {
				break
			}
			if i < j {
				continue
			}
			votes[i-j]++
			if best < 0 || votes[i-j] > votes[best] {
				best = i - j
			}
		}
	}
	if best < 0 {
		return ": none of its lines is in the file; read the file again, and copy the lines exactly"
	}
	for j, text := range old {
		if best+j >= len(lines) {
			return fmt.Sprintf(": the file ends after line %d, where the patch has %.100q", len(lines), text)
		}
		if got := lines[best+j].text; got != text {
			return fmt.Sprintf(": line %d of the file is %.100q, where the patch has %.100q", best+j+1, got, text)
		}
	}
	return ""
}

// edits returns what a hunk changes if it is applied at a line.
func (h *Hunk) edits(at int) (list []edit) {
	open := false // the last edit goes on
	for _, l := range h.lines {
		if l.sign == ' ' {
			at, open = at+1, false
			continue
		}
		if !open {
			list, open = append(list, edit{at: at}), true
		}
		e := &list[len(list)-1]
		if l.sign == '+' {
			e.lines = append(e.lines, l)
			continue
		}
		at, e.n, e.open = at+1, e.n+1, e.open || l.open
	}
	return list
}

// join applies edits to lines.
func join(lines []textLine, edits []edit, end string) []byte {
	var out []textLine
	usual := end
	for i := 0; usual == "" && i < len(lines); i++ {
		usual = lines[i].end
	}
	if usual == "" {
		usual = "\n"
	}
	ends := len(lines) == 0 || lines[len(lines)-1].end != "" // the file ends in a line end
	from, final := 0, true
	for _, e := range edits {
		out = append(out, lines[from:e.at]...)
		from = e.at + e.n
		for i, l := range e.lines {
			own := usual
			if at := min(e.at+i, from-1); end == "" && at >= 0 && lines[at].end != "" {
				own = lines[at].end
			}
			out = append(out, textLine{l.text, own})
			final = !l.open && (ends || e.open)
		}
	}
	if added := from == len(lines) && len(edits) > 0 && len(edits[len(edits)-1].lines) > 0; added && !final {
		out[len(out)-1].end = ""
	}
	out = append(out, lines[from:]...)
	var b bytes.Buffer
	for i, l := range out {
		if l.end == "" && i < len(out)-1 {
			l.end = usual
		}
		b.WriteString(l.text)
		b.WriteString(l.end)
	}
	return b.Bytes()
}
