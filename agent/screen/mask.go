package screen

import (
	"fmt"
	"regexp"
	"strings"
)

// personal finds e-mail addresses, and telephone numbers with a country code, with a leading 0 and
// a separator, and in the form of North America.
var personal = regexp.MustCompile(`[\pL\pN._%+-]+@[\pL\pN-]+(?:\.[\pL\pN-]+)+|` +
	`\+\d{1,3}[ .()/-]*\d(?:[ .()/-]{0,2}\d){5,12}|` +
	`\b0\d{1,5}[ /-]{1,3}\d(?:[ /-]?\d){4,10}\b|` +
	`(?:\(\d{3}\) ?|\b\d{3}[.-])\d{3}[.-]\d{4}\b`)

// Mask replaces the e-mail addresses and telephone numbers of a text by [e-mail 1], [phone 1] and
// so on, so that they can stay away from logs and from providers of models. The same one has the
// same number everywhere in the text; a number that stands in the text already, as in one that was
// masked before, is left out. restore puts them back into a text that was made from the masked
// one, such as a model's answer. Addresses and numbers in other forms aren't found, nor are names
// of people.
func Mask(text string) (masked string, restore func(string) string) {
	known, back, n := map[string]string{}, []string{}, map[string]int{}
	masked = personal.ReplaceAllStringFunc(text, func(found string) string {
		if known[found] == "" {
			kind := "phone"
			if strings.Contains(found, "@") {
				kind = "e-mail"
			}
			for known[found] == "" || strings.Contains(text, known[found]) {
				n[kind]++
				known[found] = fmt.Sprintf("[%s %d]", kind, n[kind])
			}
			back = append(back, known[found], found)
		}
		return known[found]
	})
	return masked, strings.NewReplacer(back...).Replace
}
