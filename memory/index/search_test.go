package index_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/pawlkit/pawl/memory/index"
	"github.com/stretchr/testify/require"
)

// lines returns the lines of a file that aren't comments.
func lines(t testing.TB, path string) []string {
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return slices.DeleteFunc(strings.Split(strings.TrimSpace(string(data)), "\n"), func(l string) bool {
		return strings.HasPrefix(l, "#")
	})
}

// site returns 1,000 resources of a content management system: those of a company's site, and a
// catalog of furniture whose names share words.
func site(t testing.TB) []index.Item {
	var items []index.Item
	for _, l := range lines(t, "testdata/site.txt") {
		f := strings.Split(l, "|")
		require.Len(t, f, 5, l)
		for i := range f {
			f[i] = strings.TrimSpace(f[i])
		}
		items = append(items, index.Item{Kind: f[0], ID: f[1], Name: f[2], Aliases: strings.Split(f[3], ", "),
			Text: f[4], Fields: map[string]string{"site": "main"}})
	}
	materials := strings.Fields(
		"Oak Walnut Pine Bamboo Steel Marble Concrete Velvet Leather Wicker Glass Cotton Linen Copper Brass " +
			"Maple Birch Cherry Teak Granite Ceramic Plastic Wool Rattan Cedar")
	things := strings.Fields(
		"Table:desk_surface_to_eat_at Chair:seat_with_a_back Sofa:couch_for_three Bookshelf:rack_for_volumes Lamp:light_for_the_room " +
			"Mirror:looking_glass Wardrobe:closet_for_clothes Armchair:comfortable_with_rests Basket:holds_laundry " +
			"Bench:for_two_outdoors Stool:at_the_bar " +
			"Cabinet:with_doors Drawer:pulls_out Bed:sleep_on_it Nightstand:beside_the_pillow Rug:covers_the_floor " +
			"Curtain:for_windows Vase:for_flowers " +
			"Clock:shows_the_time Frame:around_paintings Hook:for_coats Tray:carries_drinks Bowl:for_fruit " +
			"Candle:wax_and_wick Cushion:soft_square " +
			"Blanket:warm_cover Planter:pot_for_trees Crate:stackable_box Ladder:steps_to_climb " +
			"Hammock:hangs_between_trees Shutter:keeps_the_sun_out " +
			"Railing:for_stairs Doorknob:turns Sink:kitchen_or_bath Faucet:tap_water Tile:wall_or_ground " +
			"Chandelier:crystals_above Ottoman:footrest")
	for _, material := range materials {
		for _, thing := range things {
			if len(items) == 1000 {
				return items
			}
			name, text, _ := strings.Cut(thing, ":")
			items = append(items,
				index.Item{Kind: "entry", ID: strings.ToLower(material + "-" + name), Name: material + " " + name,
					Text: strings.ReplaceAll(text, "_", " "), Fields: map[string]string{"site": "shop"}})
		}
	}
	return items
}

func finder(t testing.TB, cfg index.Config, items ...index.Item) *index.Finder {
	f, err := index.New(cfg)
	require.NoError(t, err)
	require.NoError(t, f.Put(context.Background(), items...))
	return f
}

func TestNaturalQueriesFindTheRightItems(t *testing.T) {
	items := site(t)
	require.Len(t, items, 1000)
	f := finder(t, index.Config{}, items...)
	var first, three, asked, sure, sureWrong, negatives, claimed int
	for _, l := range lines(t, "testdata/queries.txt") {
		query, want, _ := strings.Cut(l, " =>")
		want = strings.TrimSpace(want)
		res, err := f.Find(t.Context(), query, index.Filter{}, 3)
		require.NoError(t, err)
		ids := make([]string, len(res.Hits))
		show := make([]string, len(res.Hits))
		for i, h := range res.Hits {
			ids[i] = h.Item.ID
			show[i] = fmt.Sprintf("%s %.2f", h.Item.ID, h.Score)
		}
		one, ok := res.One()
		if want == "" {
			negatives++
			if len(ids) > 0 {
				claimed++
				t.Logf("%q should find nothing: %v", query, show)
			}
			continue
		}
		asked++
		if len(ids) > 0 && ids[0] == want {
			first++
		} else {
			t.Logf("%q: want %s, first is not it: %v, ambiguous %d", query, want, show, len(res.Ambiguous))
		}
		if slices.Contains(ids, want) {
			three++
		}
		if ok && one.Score >= .75 {
			sure++
			if one.Item.ID != want {
				sureWrong++
				t.Logf("%q: sure, and wrong", query)
			}
		}
	}
	t.Logf("%d queries: first %.3f, in the first three %.3f; sure of %d, wrong of those %d; %d of %d find nothing",
		asked,
		float64(first)/float64(asked), float64(three)/float64(asked), sure, sureWrong, negatives-claimed, negatives)
	require.GreaterOrEqual(t, asked, 120)
	require.GreaterOrEqual(t, float64(first), .9*float64(asked))
	require.GreaterOrEqual(t, float64(three), .97*float64(asked))
	require.LessOrEqual(t, float64(sureWrong), .02*float64(sure))
	require.Zero(t, claimed)
}

// typo makes one typing mistake in a word.
func typo(r *rand.Rand, word string) string {
	w := []rune(word)
	at := 1 + r.IntN(len(w)-2)
	switch r.IntN(4) {
	case 0:
		w[at], w[at+1] = w[at+1], w[at]
	case 1:
		w = slices.Delete(w, at, at+1)
	case 2:
		w = slices.Insert(w, at, w[at])
	case 3:
		w[at] = rune('a' + r.IntN(26))
	}
	return string(w)
}

func TestTyposAreTolerated(t *testing.T) {
	items := site(t)
	f := finder(t, index.Config{}, items...)
	r := rand.New(rand.NewPCG(1, 2))
	var asked, first, sureWrong int
	for _, item := range items[:56] {
		for range 5 {
			parts := strings.Fields(item.Name)
			long := slices.IndexFunc(parts, func(p string) bool { return len([]rune(p)) >= 5 })
			if long < 0 {
				continue
			}
			parts[long] = typo(r, parts[long])
			query := strings.Join(parts, " ")
			res := find(t, f, query, index.Filter{})
			asked++
			if len(res.Hits) > 0 && res.Hits[0].Item.ID == item.ID {
				first++
			} else if one, ok := res.One(); ok && one.Score >= .75 {
				sureWrong++
				t.Logf("%q: sure of %q, and wrong", query, one.Item.Name)
			} else {
				t.Logf("%q: not found first: %d hits", query, len(res.Hits))
			}
		}
	}
	t.Logf("%d slips, %.3f found first, %d surely wrong", asked, float64(first)/float64(asked), sureWrong)
	require.GreaterOrEqual(t, float64(first), .9*float64(asked))
	require.LessOrEqual(t, sureWrong, asked/100)
}
