package file_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/file"
)

// BenchmarkSearch searches 3,000 files of 4 KB in 100 directories, one percent of which match.
func BenchmarkSearch(b *testing.B) {
	c := content{}
	filler := strings.Repeat("func unremarkable(a, b int) (int, error) { return a + b, nil }\n", 64)
	for i := range 3000 {
		text := filler
		if i%100 == 0 {
			text += "a needle in it\n"
		}
		c[fmt.Sprintf("d%02d/f%04d.go", i%100, i)] = text
	}
	ws, _ := workspace(b, file.Config{}, c)
	for _, tree := range []struct {
		name string
		tree file.Tree
	}{{"workspace", ws}, {"staging", stage(b, ws)}} {
		reg := registry(b, tree.tree)
		for _, s := range []struct{ name, input string }{
			{"literal", `{"pattern":"needle"}`},
			{"regexp", `{"pattern":"^a n[a-e]+dle\\b","regexp":true}`},
			{"ignore case", `{"pattern":"NEEDLE","ignore_case":true}`},
			{"every line", `{"pattern":"remark","limit":200}`},
		} {
			b.Run(tree.name+"/"+s.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					out := run(b.Context(), reg, tools.Call{Name: "file.search", Input: json.RawMessage(s.input)})
					require.Equal(b, tools.OK, out.Status)
				}
			})
		}
	}
}

func BenchmarkRead(b *testing.B) {
	ws, _ := workspace(b, file.Config{}, content{"a": lines(1000)})
	b.ReportAllocs()
	for b.Loop() {
		_, err := ws.Read(b.Context(), "a")
		require.NoError(b, err)
	}
}

func BenchmarkWrite(b *testing.B) {
	ws, _ := workspace(b, file.Config{}, content{"a": ""})
	texts := [][]byte{[]byte(lines(1000)), []byte(lines(999))}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		_, err := ws.Write(b.Context(), "a", texts[i%2], overwrite)
		require.NoError(b, err)
	}
}
