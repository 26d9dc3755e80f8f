package indextest_test

import (
	"fmt"

	"github.com/pawlkit/pawl/memory/index"
	"github.com/pawlkit/pawl/memory/internal/indextest"
)

func Example() {
	plain := indextest.Plain{}
	for _, e := range indextest.Random(1, 100, 8) {
		plain[e.Item.ID] = e
	}
	for _, m := range plain.Search(index.Query{Vector: plain["7"].Vector, Model: "m", K: 2}) {
		fmt.Printf("%s %.2f\n", m.Item.Name, m.Similarity)
	}
	// Output:
	// thing 7 1.00
	// thing 66 0.94
}
