package wire

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWithoutANetworkEveryRequestIsAnsweredAndKept(t *testing.T) {
	o := &Offline{Reply: Always(418, "short and stout", "X-Kind", "teapot")}
	client := &http.Client{Transport: o}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			res, err := client.Post("http://nowhere.example/tea", "text/plain", strings.NewReader("brew"))
			if err != nil {
				t.Error(err)
				return
			}
			defer res.Body.Close()
			body, err := io.ReadAll(res.Body)
			if err != nil || res.StatusCode != 418 || res.Header.Get("X-Kind") != "teapot" ||
				string(body) != "short and stout" {
				t.Errorf("%v %v %q %v", res.StatusCode, res.Header, body, err)
			}
		})
	}
	all.Wait()
	require.Len(t, o.Asked, 4)
	require.Len(t, o.Bodies, 4)
	for i := range 4 {
		require.Equal(t, "/tea", o.Asked[i].URL.Path)
		require.Equal(t, "brew", string(o.Bodies[i]))
	}
}
