package index

import (
	"fmt"
	"strings"
)

const maxWhy = 8 // words of a query that are explained

// why describes the match of an item with a query. Words are given in the form in which they are
// compared: in lower case, without accents.
func why(whole string, asked []string, item *Item) string {
	switch _, field := verbatim(whole, item); field {
	case "":
	case inAlias:
		return "it is an alias"
	default:
		return "it is the " + field
	}
	seen := make([]evidence, len(asked))
	compare(asked, item, seen)
	var met, missing []string
	for w, a := range asked {
		switch e := seen[w]; {
		case stopWords[a] && len(asked) > 1:
		case len(met)+len(missing) == maxWhy:
		case e.field == "":
			missing = append(missing, fmt.Sprintf("%q", a))
		case e.word == a:
			met = append(met, fmt.Sprintf("%q in the %s", a, e.field))
		default:
			met = append(met, fmt.Sprintf("%q like %q in the %s", a, e.word, e.field))
		}
	}
	switch {
	case len(met) == 0:
		return "alike as a whole"
	case len(missing) > 0:
		met = append(met, "nothing like "+strings.Join(missing, ", "))
	}
	return strings.Join(met, ", ")
}
