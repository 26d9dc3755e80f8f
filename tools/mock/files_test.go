package mock_test

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools/mock"
)

func TestAVariantIsFoundOrReplaced(t *testing.T) {
	c := mocked(t, mock.Config{}, map[string]string{
		"research/search.blog.json":      `"blog"`,
		"research/search.default.json":   `"default"`,
		"research/web.search.b.json":     `"b"`,
		"research/web.search.a.json":     `"a"`,
		"writing/search.showcase.json":   `"another category"`,
		"research/search.blog.json.bak":  `no JSON`,
		"research/README.md":             `no JSON`,
		"research/deep/search.x.json":    `no JSON`,
		"search.default.json":            `no JSON`,
		"a directory/search.x.json":      `no JSON`,
		"research/search.folder.json/go": `a directory`,
	})
	for _, k := range []struct{ name, variant, want string }{
		{"search", "blog", "blog"},
		{"search", "showcase", "default"},
		{"search", "", "default"},
		{"web.search", "b", "b"},
		{"web.search", "c", "a"},
		{"web.search", "", "a"},
	} {
		require.Equal(t, k.want, answered[string](t, c, mock.Key{Name: k.name, Variant: k.variant}), "%+v", k)
	}
}

func TestAMissingFileIsAnErrorAndNoOutsideCall(t *testing.T) {
	c := mocked(t, mock.Config{}, map[string]string{"research/search.default.json": `1`})
	_, err := ask[int](t, c, mock.Key{Name: "find", Variant: "blog"})
	var missing *mock.MissingError
	require.ErrorAs(t, err, &missing)
	require.Equal(t, mock.MissingError{Category: "research", Name: "find", Variant: "blog"}, *missing)
	require.ErrorContains(t, err, "add research/find.blog.json")
	require.Equal(t, fault.UserFixable, fault.Of(err))
}

func TestAnEarlierFolderHidesFilesOfALaterOne(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(dir+"/research", 0o700))
	require.NoError(t, os.WriteFile(dir+"/research/search.blog.json", []byte(`"mine"`), 0o600))
	c := mocked(t, mock.Config{Files: []fs.FS{os.DirFS(dir)}}, map[string]string{
		"research/search.blog.json":    `"built in"`,
		"research/search.default.json": `"built in"`,
	})
	require.Equal(t, "mine", answered[string](t, c, mock.Key{Name: "search", Variant: "blog"}))
	require.Equal(t, "built in", answered[string](t, c, search))
}

func TestAFileThatIsNotValidIsNamedAtOnce(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"research/search.json":            {`1`, "its name isn't <name>.<variant>.json"},
		"research/se arch.default.json":   {`1`, "its name isn't <name>.<variant>.json"},
		"research/search.empty.json":      {``, "it is empty"},
		"research/search.broken.json":     {`{"a":`, "it isn't JSON"},
		"research/search.two.json":        {`1 2`, "it has something after the JSON value"},
		"research/search.large.json":      {`"` + strings.Repeat("x", 1<<20) + `"`, "it is larger than 1048576 bytes"},
		"research/search.commas.json":     {`[1,]`, "it isn't JSON"},
		"research/search.identifier.json": {`{a: 1}`, "it isn't JSON"},
	} {
		_, err := mock.New(mock.Config{Files: []fs.FS{files(map[string]string{name: c.text})}})
		var file *mock.FileError
		require.ErrorAs(t, err, &file, name)
		require.Equal(t, name, file.File)
		require.ErrorContains(t, err, c.want)
		require.Equal(t, fault.UserFixable, fault.Of(err))
	}
	_, err := mock.New(mock.Config{Files: []fs.FS{os.DirFS(t.TempDir() + "/missing")}})
	require.ErrorIs(t, err, fs.ErrNotExist)
}

type source struct {
	Name  string `json:"name"`
	Score float64
}

type faulty struct{}

func (*faulty) UnmarshalJSON([]byte) error { panic("not today") }

func TestAFileThatDoesNotFitIsNamed(t *testing.T) {
	c := mocked(t, mock.Config{}, map[string]string{
		"research/search.default.json": `{"name": "a", "url": "b"}`,
		"research/search.number.json":  `{"name": 1}`,
	})
	_, err := ask[source](t, c, search)
	require.EqualError(t, err,
		`mock: research/search.default.json: it doesn't fit mock_test.source: json: unknown field "url"`)
	got, err := ask[source](t, c, mock.Key{Name: "search", Variant: "number"})
	require.ErrorContains(t, err, "research/search.number.json: it doesn't fit mock_test.source")
	require.Zero(t, got)
	_, err = ask[faulty](t, c, search)
	require.ErrorContains(t, err, "not today")
	var file *mock.FileError
	require.True(t, errors.As(err, &file))
}

func TestAnAnswerIsTheCallersOwn(t *testing.T) {
	c := mocked(t, mock.Config{},
		map[string]string{"research/search.default.json": `{"list": ["a"], "big": 12345678901234567890}`})
	type list struct {
		List []string `json:"list"`
		Big  uint64   `json:"big"`
	}
	first := answered[list](t, c, search)
	first.List[0] = "changed"
	require.Equal(t, list{List: []string{"a"}, Big: 12345678901234567890}, answered[list](t, c, search))
}
