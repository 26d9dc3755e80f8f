package schema

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNearestFindsTheNameThatWasMeant(t *testing.T) {
	known := []string{"title", "body", "createPage", "create_post", "id", "größe"}
	for word, want := range map[string]string{
		"titel": "title", "TITLE": "title", "tilte": "title", "bdy": "body", "createPagge": "createPage",
		"creatpost": "create_post",
		"grösse":    "größe", "Body": "body",
		"x": "", "": "", "ix": "", "author": "", strings.Repeat("a", 65): "",
	} {
		got, ok := Nearest(word, known)
		require.Equal(t, want, got, word)
		require.Equal(t, want != "", ok, word)
	}
	got, _ := Nearest("cat", []string{"hat", "bat"})
	require.Equal(t, "hat", got, "the first among equals")
	_, ok := Nearest("cat", []string{strings.Repeat("c", 65), ""})
	require.False(t, ok)
}
