package mock_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/mock"
)

type about struct {
	Topic string `json:"topic"`
}

type found struct {
	Sources int `json:"sources"`
}

// research is a tool that searches, which is the outside call, and stores what it found, which is
// its effect.
func research(c *mock.Category, stored *[]source) tools.Tool {
	return tools.Func[about, found]{
		Spec: tools.Spec{Name: "research"},
		Run: func(ctx context.Context, in about) (found, error) {
			sources, err := mock.Call(ctx, c, mock.Key{Name: "search", Values: map[string]any{"topic": in.Topic}},
				func(context.Context) ([]source, error) { return nil, errors.New("there is no network") })
			if err != nil {
				return found{}, err
			}
			*stored = append(*stored, sources...)
			return found{Sources: len(sources)}, nil
		},
		Verify: func(_ context.Context, _ about, out found) error {
			if len(*stored) != out.Sources {
				return errors.New("the sources aren't stored")
			}
			return nil
		},
	}
}

// execute makes one call of a tool.
func execute(tool tools.Tool, input string) (tools.Outcome, error) {
	reg, err := tools.NewRegistry(tool)
	if err != nil {
		return tools.Outcome{}, err
	}
	call := tools.Call{Name: reg.Names()[0], Input: json.RawMessage(input)}
	return reg.Run(context.Background(), call, tools.Options{}), nil
}

// The tool stores and verifies as always. Only its search is answered from a file.
func Example() {
	set, err := mock.New(mock.Config{
		Master:  mock.PerToggle,
		Toggles: map[string]mock.Mode{"research": mock.Mock},
		Files: []fs.FS{fstest.MapFS{"research/search.default.json": &fstest.MapFile{
			Data: []byte(`[{"name": "All about {{topic}}", "Score": 0.9}]`),
		}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	var stored []source
	out, err := execute(research(set.Category("research"), &stored), `{"topic": "cats"}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(out.Status, out.Parts[0].Text)
	fmt.Println(stored)
	// Output:
	// ok {"sources":1}
	// [{All about cats 0.9}]
}

func TestOnlyTheOutsideCallOfAToolIsMocked(t *testing.T) {
	var stored []source
	out, err := execute(research(nil, &stored), `{"topic": "cats"}`)
	require.NoError(t, err)
	require.Contains(t, out.Parts[0].Text, "there is no network")
	require.Empty(t, stored)

	c := mocked(t, mock.Config{}, map[string]string{"research/search.default.json": `[{"name": "a"}, {"name": "b"}]`})
	out, err = execute(research(c, &stored), `{"topic": "cats"}`)
	require.NoError(t, err)
	require.Equal(t, tools.OK, out.Status, out.Parts[0].Text)
	require.Len(t, stored, 2)

	out, err = execute(research(mocked(t, mock.Config{}, nil), &stored), `{"topic": "cats"}`)
	require.NoError(t, err)
	require.Contains(t, out.Parts[0].Text, "add research/search.default.json", "without a file, the call fails")
	require.Len(t, stored, 2)
}
