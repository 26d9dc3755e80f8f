package providertest_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"log"
	"strings"
	"testing"

	"context"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

func ExampleDraw() {
	p := providertest.Draw()
	res, err := provider.Generate(context.Background(), p, &provider.Request{
		Messages: []provider.Message{provider.User("A cat on a roof")}, Images: &provider.ImageOptions{Size: "16:9"},
	})
	if err != nil {
		log.Fatal(err)
	}
	file := res.Files()[0]
	info, _ := provider.Info(p)
	fmt.Println(file.Type, file.Name, strings.Contains(string(file.Data), "A cat on a roof"),
		info.Prices.Cost(res.Usage))
	// Output: image/svg+xml image-1.svg true $0.040000
}

func drawn(t *testing.T, prompt string, o provider.ImageOptions) (*provider.Response, error) {
	t.Helper()
	return provider.Generate(t.Context(), providertest.Draw(),
		&provider.Request{Messages: []provider.Message{provider.User(prompt)}, Images: &o})
}

func TestDrawMakesWellFormedImages(t *testing.T) {
	for _, prompt := range []string{"", "A cat", `<script>alert("x")</script> & ]]> "' ` + "\x00\xff",
		strings.Repeat("word ", 500), strings.Repeat("x", 5000), "Große Ärzte 日本語 🐈"} {
		for _, size := range []string{"", "64x32", "9:16", "1x1", "4096:1", "1:4096"} {
			res, err := drawn(t, prompt, provider.ImageOptions{Count: 2, Size: size})
			require.NoError(t, err)
			require.Len(t, res.Files(), 2)
			require.NotEqual(t, res.Files()[0].Data, res.Files()[1].Data)
			for _, f := range res.Files() {
				require.Less(t, len(f.Data), 40<<10)
				dec := xml.NewDecoder(strings.NewReader(string(f.Data)))
				for err = nil; err == nil; _, err = dec.Token() {
				}
				require.True(t, errors.Is(err, io.EOF), "%v: %s", err, f.Data)
				require.NotContains(t, string(f.Data), "<script")
				require.NotContains(t, string(f.Data), `height="0"`)
			}
			again, err := drawn(t, prompt, provider.ImageOptions{Count: 2, Size: size})
			require.NoError(t, err)
			require.Equal(t, res.Parts, again.Parts)
		}
	}
}

func TestDrawRefusesWhatItCantDraw(t *testing.T) {
	for _, o := range []provider.ImageOptions{{Count: -1}, {Count: 11}, {Size: "large"}, {Size: "0x5"},
		{Size: "5000x5"}, {Size: "1:0"}, {Size: "-1x3"}} {
		_, err := drawn(t, "x", o)
		require.Equal(t, fault.Invalid, fault.Of(err), "%+v: %v", o, err)
	}
	_, err := provider.Generate(t.Context(), providertest.Draw(),
		&provider.Request{Messages: []provider.Message{provider.User("x")}})
	require.ErrorContains(t, err, "Draw answers only requests with Images")
}
