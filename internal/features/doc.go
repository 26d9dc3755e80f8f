// Package features checks the table of docs/providers.md that says what becomes of each feature of
// a model's API: it makes the requests and serves the answers that show whether a cell is true. It
// is a package of its own because adapters of other modules have a column, too.
//
//	func TestThePageOfProvidersIsTrue(t *testing.T) {
//		features.Check(t, "../../docs/providers.md", &features.API{Column: "Gemini", Key: gemini.Name, …})
//	}
//
// A row of the page needs a row here, and a word in a cell what shows it: see rows and more.
package features
