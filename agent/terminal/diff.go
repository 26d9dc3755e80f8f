package terminal

import (
	"fmt"
	"strings"
)

// diff returns the lines of a unified diff in color. A file is its name, with how many lines are
// added and removed.
func (s *screen) diff(text string) (lines []string) {
	all := strings.Split(strings.TrimRight(clean(text), "\n"), "\n")
	name, head, added, removed := "", -1, 0, 0
	for i := 0; i < len(all); i++ {
		line := all[i]
		color := map[byte]string{'+': green, '-': red, '@': cyan}[(line + " ")[0]]
		switch {
		case strings.HasPrefix(line, "--- ") && i+1 < len(all) && strings.HasPrefix(all[i+1], "+++ "):
			from, to := line[len("--- "):], all[i+1][len("+++ "):]
			name, head, added, removed = strings.TrimPrefix(to, "b/"), len(lines), 0, 0
			if from == "/dev/null" {
				name += " (new)"
			} else if to == "/dev/null" {
				name = strings.TrimPrefix(from, "a/") + " (deleted)"
			}
			i++
		case color == green:
			added++
		case color == red:
			removed++
		}
		if lines = append(lines, s.paint(color, line)); head >= 0 {
			lines[head] = s.paint(bold, fmt.Sprintf("%s  +%d −%d", name, added, removed))
		}
	}
	return lines
}

// part prints lines, unless all are wanted at most most of them, and none over more than three rows
// of the window. It returns how many aren't shown, or not whole.
func (s *screen) part(lines []string, most int, all bool) (cut int) {
	for i, line := range lines {
		long := []rune(line)
		switch {
		case all || i < most && len(long) < 3*s.width:
		case i < most:
			cut++
			line = string(long[:3*s.width-4]) + "…\x1b[0m"
		default:
			return cut + len(lines) - i
		}
		s.line("  %s", line)
	}
	return cut
}
