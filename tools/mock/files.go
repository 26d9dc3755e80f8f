package mock

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
)

const (
	defaultVariant = "default"
	largestFile    = 1 << 20 // in bytes
)

// What names and variants may look like. Nothing of it leaves a directory.
var (
	nameForm    = regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$`)
	variantForm = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)
)

const (
	nameRule    = "use letters, digits, - and _, with single dots between them"
	variantRule = "use letters, digits, - and _"
)

// A file is an answer as JSON values. It isn't changed after it was read.
type file struct {
	path  string
	value any // numbers are json.Number
}

// A FileError says what is wrong with a file.
type FileError struct {
	File string // its path, <category>/<name>.<variant>.json
	Err  error
}

// Error names the file and what is wrong with it.
func (e *FileError) Error() string { return "mock: " + e.File + ": " + e.Err.Error() }

// Unwrap returns what is wrong.
func (e *FileError) Unwrap() error { return e.Err }

// Fault returns UserFixable.
func (e *FileError) Fault() fault.Class { return fault.UserFixable }

// A MissingError means that no file answers a function.
type MissingError struct {
	Category, Name, Variant string
}

// Error names the file that would answer.
func (e *MissingError) Error() string {
	return fmt.Sprintf("mock: no file answers %s of the category %s: add %s/%s.%s.json, or capture it from a real call",
		e.Name, e.Category, e.Category, e.Name, e.Variant)
}

// Fault returns UserFixable.
func (e *MissingError) Fault() fault.Class { return fault.UserFixable }

// read adds the files of fsys that aren't there yet. It looks only at the directories at the top
// and the files in them.
func (s *Set) read(fsys fs.FS) error {
	if fsys == nil {
		return fault.New(fault.Invalid, "mock: Config.Files has a nil entry: leave it out")
	}
	dirs, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return &FileError{File: ".", Err: err}
	}
	for _, dir := range dirs {
		if !dir.IsDir() || !nameForm.MatchString(dir.Name()) {
			continue
		}
		list, err := fs.ReadDir(fsys, dir.Name())
		if err != nil {
			return &FileError{File: dir.Name(), Err: err}
		}
		for _, entry := range list {
			if entry.IsDir() || path.Ext(entry.Name()) != ".json" {
				continue
			}
			if err := s.readFile(fsys, dir.Name(), entry.Name()); err != nil {
				return &FileError{File: dir.Name() + "/" + entry.Name(), Err: err}
			}
		}
	}
	return nil
}

func (s *Set) readFile(fsys fs.FS, category, base string) error {
	stem := strings.TrimSuffix(base, ".json")
	i := strings.LastIndexByte(stem, '.')
	if i < 0 || !nameForm.MatchString(stem[:i]) || !variantForm.MatchString(stem[i+1:]) {
		return errors.New("its name isn't <name>.<variant>.json, such as search.default.json")
	}
	function, variant := category+"/"+stem[:i], stem[i+1:]
	if s.files[function][variant] != nil {
		return nil // hidden
	}
	f, err := fsys.Open(category + "/" + base)
	if err != nil {
		return err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, largestFile+1))
	if err != nil {
		return err
	}
	if len(text) > largestFile {
		return fmt.Errorf("it is larger than %d bytes", largestFile)
	}
	value, err := parse(text)
	if err != nil {
		return err
	}
	if s.files[function] == nil {
		s.files[function] = make(map[string]*file)
	}
	s.files[function][variant] = &file{path: category + "/" + base, value: value}
	return nil
}

// find returns the file for a call: that of the variant, the default, or the first one by name.
func (s *Set) find(category string, k Key) (*file, error) {
	variants := s.files[category+"/"+k.Name]
	if len(variants) == 0 {
		return nil, &MissingError{Category: category, Name: k.Name, Variant: k.Variant}
	}
	for _, v := range []string{k.Variant, defaultVariant} {
		if f := variants[v]; f != nil {
			return f, nil
		}
	}
	return variants[slices.Min(slices.Collect(maps.Keys(variants)))], nil
}

// parse decodes one JSON value. It keeps numbers as they are written.
func parse(text []byte) (value any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, errors.New("it is empty: write a JSON value")
		}
		return nil, fmt.Errorf("it isn't JSON: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("it has something after the JSON value")
	}
	return value, nil
}

// decode decodes an answer strictly.
func decode[T any](a answer) (T, error) {
	var value, none T
	d := json.NewDecoder(bytes.NewReader(a.text))
	d.DisallowUnknownFields()
	if err := guard(func() error { return d.Decode(&value) }); err != nil {
		return none, &FileError{File: a.path, Err: fmt.Errorf("it doesn't fit %v: %w", reflect.TypeFor[T](), err)}
	}
	return value, nil
}

// guard turns a panic of the host's own JSON methods into an error.
func guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in encoding or decoding: %v", p)
		}
	}()
	return f()
}

// mapTexts returns a copy of a JSON value in which change has replaced the texts. Keys of objects
// stay.
func mapTexts(value any, change func(string) any) any {
	switch v := value.(type) {
	case string:
		return change(v)
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = mapTexts(v[i], change)
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) { // sorted, because random values follow the order
			object[name] = mapTexts(v[name], change)
		}
		return object
	}
	return value
}
