package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/display"
)

// lastLines prints the last lines of what a program has written.
func (s *screen) lastLines(output string) {
	last, before := display.LastLines(clean(output))
	if before > 0 {
		s.note("  … %d lines before these: /output shows all", before)
	}
	if last == "" {
		return
	}
	for line := range strings.SplitSeq(last, "\n") {
		line = strings.ReplaceAll(line, "\t", "    ")
		if long := []rune(line); len(long) > s.width-3 {
			line = string(long[:max(s.width-4, 0)]) + "…"
		}
		s.line("  %s", line)
	}
}

const outputHelp = "[N]  shows what the last program has written, or the Nth from the end"

// mostOutput is how many bytes of a file with the output of a program are shown.
const mostOutput = 1 << 20

// allOf returns the end of a file with all of the output of a program, and says where the rest is.
func allOf(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return "", errors.Join(err, fs.ErrInvalid)
	}
	from := max(info.Size()-mostOutput, 0)
	text, err := io.ReadAll(io.NewSectionReader(f, from, mostOutput))
	if from > 0 {
		_, rest, _ := strings.Cut(string(text), "\n")
		return fmt.Sprintf("… the beginning is in %s\n%s", name, rest), err
	}
	return string(text), err
}

// output prints what a program has written: all of it, or if that wasn't kept, what the model has
// read.
func (u *ui) output(ctx context.Context, args string, w io.Writer) error {
	n := 1
	if args != "" {
		var err error
		if n, err = strconv.Atoi(args); err != nil || n < 1 {
			return fmt.Errorf("%q isn't a number: /output 2 shows what the program before the last one has written", args)
		}
	}
	facts, err := u.session.Facts(ctx)
	if err != nil {
		return err
	}
	_, facts = display.Current(facts)
	ran := 0
	for _, f := range slices.Backward(facts) {
		f, ok := f.(*agent.ToolFinished)
		if !ok || f.Result.Exit == nil {
			continue
		}
		if ran++; ran < n {
			continue
		}
		fmt.Fprintf(w, "%s · %s · %s\n", u.out.title(f.Call), f.Result.Exit, f.Took.Round(time.Millisecond))
		text, err := allOf(f.Result.Exit.File)
		if err != nil { // it is gone, or all of it is in the result
			text = display.Output(f.Result)
		}
		_, err = io.WriteString(w, text)
		return err
	}
	_, err = fmt.Fprintf(w, "Programs that have run in this session: %d", ran)
	return err
}
