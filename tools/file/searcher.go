package file

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"

	"github.com/pawlkit/pawl/tools/file/internal/diff"
)

// A searcher is a search in progress.
type searcher struct {
	tree  Tree
	ctx   context.Context
	m     *matcher
	res   *SearchResult
	limit int
	buf   []byte // of the previous file
}

// file searches one file, unless it is larger than most bytes. It returns errStop at a limit.
func (s *searcher) file(name string, most int64) error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	if s.res.Bytes >= maxSearch {
		s.res.Cut = "the files are larger than one call can search; search a smaller directory"
		return errStop
	}
	data, err := s.tree.open(name, maxAtOnce, s.buf)
	if cap(data) > cap(s.buf) {
		s.buf = data
	}
	switch {
	case errors.Is(err, ErrTooLarge):
		return s.large(name, most)
	case err != nil:
		s.res.Failed++
		return nil
	}
	s.res.Bytes += int64(len(data))
	if diff.Binary(data) {
		s.res.Binary++
		return nil
	}
	s.res.Files++
	if !s.m.any(data) {
		return nil
	}
	x := s.begin(name)
	return errors.Join(x.add(data), x.end())
}

// large searches a file part by part. The parts end with a line; of a line that is longer than a
// part, each part is searched by itself.
func (s *searcher) large(name string, most int64) error {
	f, err := s.tree.stream(name)
	if err != nil {
		s.res.Failed++
		return nil
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.Size() > most {
		s.res.TooBig++
		return nil
	}
	part := slices.Grow(s.buf[:0], maxAtOnce)[:maxAtOnce]
	s.buf = part
	x, rest := s.begin(name), 0
	for first := true; ; first = false {
		n, err := io.ReadFull(f, part[rest:])
		data := part[:rest+n]
		s.res.Bytes += int64(n)
		ended := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		switch {
		case err != nil && !ended:
			s.res.Failed++
			return nil
		case diff.Binary(data):
			s.res.Binary++
			return x.end()
		case first:
			s.res.Files++
		}
		switch {
		case ended:
			return errors.Join(x.add(data), x.end())
		case s.res.Bytes >= maxSearch:
			s.res.Cut = "only " + count(s.res.Bytes, "byte") + " were searched, which is the most for one call"
			return errStop
		}
		whole := bytes.LastIndexByte(data, '\n') + 1
		if whole == 0 {
			whole = len(data)
		}
		if err := errors.Join(x.add(data[:whole]), s.ctx.Err()); err != nil {
			return err
		}
		rest = copy(part, data[whole:])
	}
}

// A lineSearch finds the matching lines of one file.
type lineSearch struct {
	*searcher
	name   string
	open   int      // number of matches before this file
	n      int      // number of the last line
	within bool     // the last line hasn't ended
	last   [][]byte // the previous lines
}

func (s *searcher) begin(name string) *lineSearch {
	return &lineSearch{searcher: s, name: name, open: len(s.res.Matches)}
}

// end returns errStop if a limit was reached.
func (x *lineSearch) end() error {
	if x.res.Cut != "" {
		return errStop
	}
	return nil
}

// add searches the next lines of the file.
func (x *lineSearch) add(data []byte) error {
	around, res := x.res.Context, x.res
	hit := x.m.any(data)
	if !hit && around == 0 && !x.within && bytes.HasSuffix(data, newline) {
		x.n += bytes.Count(data, newline)
		return nil
	}
	for line := range bytes.Lines(data) {
		if !x.within {
			x.n++
		}
		x.within = line[len(line)-1] != '\n'
		if x.n%4096 == 0 && x.ctx.Err() != nil {
			return x.ctx.Err()
		}
		line = bytes.TrimRight(line, "\r\n")
		for i := len(res.Matches) - 1; i >= x.open && around > 0; i-- { // this line follows them
			if x.n-res.Matches[i].Line > around {
				break
			}
			res.Matches[i].After = append(res.Matches[i].After, clip(line))
		}
		if res.Cut == "" && hit && x.m.line(line) {
			if len(res.Matches) == x.limit {
				res.Cut = "there are more matches; use a more specific pattern, or search a smaller directory"
				if around == 0 {
					return errStop
				}
			} else {
				m := Match{Name: x.name, Line: x.n, Text: clip(line)}
				for _, b := range x.last {
					m.Before = append(m.Before, clip(b))
				}
				res.Matches = append(res.Matches, m)
			}
		}
		if res.Cut != "" && (len(res.Matches) == x.open || x.n-res.Matches[len(res.Matches)-1].Line >= around) {
			return errStop
		}
		if around > 0 {
			if len(x.last) == around {
				x.last = x.last[1:]
			}
			x.last = append(x.last, line)
		}
	}
	for i, line := range x.last { // the buffer is used again
		x.last[i] = bytes.Clone(line)
	}
	return nil
}
