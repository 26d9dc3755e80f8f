package file

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/file/internal/diff"
)

// A window collects the lines that file.read shows.
type window struct {
	in          readInput
	from, limit int // the first line, and the most lines
	room        int // bytes of text
	res         ReadResult
	text        strings.Builder
	cutLine     bool // the only line is cut
}

func newWindow(info Info, in readInput, room int) *window {
	w := &window{in: in, from: max(in.Offset, 1), limit: in.Limit, room: room, res: ReadResult{Info: info}}
	if w.limit <= 0 {
		w.limit = 2000
	}
	return w
}

// add takes the next line of the file, and reports whether the next one may be shown.
func (w *window) add(line []byte) bool {
	r := &w.res
	r.Lines++
	if r.Lines < w.from || r.Lines-w.from >= w.limit || r.Cut {
		return r.Lines < w.from
	}
	number := ""
	if w.in.Numbers {
		number = itoa(r.Lines) + "\t"
	}
	if free := w.room - w.text.Len() - len(number); len(line) > free {
		r.Cut = true
		if r.Last > 0 {
			return false
		}
		for back := 0; back < utf8.UTFMax && !utf8.RuneStart(line[free]); back++ {
			free--
		}
		line, w.cutLine = line[:free], true // a single line above the limit
	}
	w.text.WriteString(number)
	w.text.Write(line)
	if r.Last = r.Lines; r.First == 0 {
		r.First = r.Lines
	}
	return !r.Cut && r.Lines+1-w.from < w.limit
}

// result makes the result of file.read. about is what is said about the file; more says that the
// lines after the last one that was added weren't looked at.
func (w *window) result(about string, more bool) (tools.Result, error) {
	r := w.res
	if r.First == 0 && w.from > max(r.Lines, 1) {
		return tools.Result{},
			newError(w.in.Path, fault.Invalid, nil, "it has %s; offset %d is after its end", count(r.Lines, "line"),
				w.from)
	}
	head := show(r.Name)
	switch {
	case more:
		head += fmt.Sprintf(": lines %d-%d", r.First, r.Last)
		r.Lines = 0
	case r.Lines == 0:
		head += ": empty"
	default:
		head += fmt.Sprintf(": lines %d-%d of %d", r.First, r.Last, r.Lines)
	}
	head += about
	text := w.text.String()
	if valid := strings.ToValidUTF8(text, "\uFFFD"); valid != text {
		text, head = valid, head+", not all of it is UTF-8: \uFFFD replaces invalid bytes"
	}
	if w.cutLine {
		head += ", the line is cut"
	}
	if more || r.Last < r.Lines {
		head += fmt.Sprintf("; continue with offset %d", r.Last+1)
	}
	res := tools.Text(head + "\n" + text)
	res.Data = r
	return res, nil
}

// readWhole shows lines of a file that was read.
func readWhole(c Content, in readInput, room int) (tools.Result, error) {
	if diff.Binary(c.Data) {
		return tools.Result{}, newError(in.Path, fault.Invalid, ErrBinary,
			"it is binary (%d bytes, version %s), so it can't be shown as text", c.Size, c.Version)
	}
	w, f := newWindow(c.Info, in, room), formOf(c.Data)
	about, text := ", version "+c.Version+f.about(c.Data), c.Data
	if f.mark {
		about, text = about+", begins with a byte order mark", text[len(mark):]
	}
	for line := range bytes.Lines(text) {
		w.add(line)
	}
	return w.result(about, false)
}

// readPart shows lines of a file that is too large to be read at once. It reads no further than
// they are, so it knows neither the version nor, before the end, the number of lines.
func readPart(ctx context.Context, t Tree, in readInput) (tools.Result, error) {
	at, info, err := start(ctx, t, in.Path)
	if err != nil {
		return tools.Result{}, err
	}
	f, err := t.stream(at)
	if err != nil {
		return tools.Result{}, renamed(err, in.Path)
	}
	defer f.Close()
	room := t.config().MaxShown
	w, r := newWindow(info, in, room), bufio.NewReaderSize(f, max(room+1, 64<<10))
	if first, _ := r.Peek(len(mark)); string(first) == mark {
		_, _ = r.Discard(len(mark))
	}
	for next := true; next; {
		line, err := r.ReadSlice('\n')
		if len(line) > 0 {
			next = w.add(line)
		}
		for errors.Is(err, bufio.ErrBufferFull) && ctx.Err() == nil { // the rest of a long line
			_, err = r.ReadSlice('\n')
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err = cmp.Or(ctx.Err(), err); err != nil {
			return tools.Result{}, explain(in.Path, err)
		}
	}
	_, err = r.Peek(1)
	if diff.Binary([]byte(w.text.String())) {
		return tools.Result{}, newError(in.Path, fault.Invalid, ErrBinary,
			"it is binary (%d bytes), so it can't be shown as text", info.Size)
	}
	return w.result(", "+count(info.Size, "byte")+" in all, too large to be changed", err == nil)
}
