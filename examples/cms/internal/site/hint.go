package site

import (
	"context"
	"fmt"
	"strings"

	"github.com/pawlkit/pawl/memory/index"
)

// didYouMean returns a hint with the nearest of the options first, then up to twenty of them.
func didYouMean(got string, of []string) string {
	if len(of) == 0 {
		return ""
	}
	quoted := make([]string, 0, len(of))
	for _, name := range of {
		quoted = append(quoted, fmt.Sprintf("%q", name))
	}
	if more := len(quoted) - 20; more > 0 {
		quoted = append(quoted[:20], fmt.Sprintf("%d more", more))
	}
	hint := "use one of " + strings.Join(quoted, ", ")
	if name := nearest(got, of); name != "" {
		hint = fmt.Sprintf("did you mean %q? ", name) + hint
	}
	return hint
}

// nearest returns the name that is most similar to got, or "" if none is similar.
func nearest(got string, of []string) string {
	ctx := context.Background() // the search doesn't block
	items := make([]index.Item, len(of))
	for i, name := range of {
		items[i] = index.Item{ID: name, Name: name}
	}
	f, err := index.New(index.Config{})
	if err != nil || f.Put(ctx, items...) != nil {
		return ""
	}
	res, err := f.Find(ctx, got, index.Filter{}, 1)
	if err != nil || len(res.Hits) == 0 {
		return ""
	}
	return res.Hits[0].Item.Name
}
