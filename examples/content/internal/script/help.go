package script

// About says what the script is, and begins the list of [Requests].
const About = "I'm a script, not a model: I know the requests below, with any titles, and in a few other words. What " +
	"has “and”, a comma or a condition in it goes in quotation marks. With ANTHROPIC_API_KEY and ANTHROPIC_MODEL, or " +
	"the variables of another provider (examples/content/README.md has them), a model understands any sentence."

// Requests are examples of what the script knows. "It" is the article on the screen, or the one
// that the conversation is about.
var Requests = []string{
	"Give me three topic ideas about pricing",
	"Write a blog post about fixed prices",
	"Create a draft of a social post about “Winter, and what follows”",
	"Show my drafts",
	"Open “Fixed prices”",
	"What's the status of this?",
	"Research it, then outline it",
	"Write the text without images",
	"Humanize it",
	"Add images",
	"Continue",
	"Make it shorter",
	"Make the introduction friendlier",
	"Shorten the second section",
	"Remove the last section",
	"Replace the first picture",
	"Rename it to “Fixed prices”",
	"Set the tone to casual",
	"Tag it with prices, trust",
	"Show the sources",
	"Publish it",
	"Unpublish it",
	"Archive it",
	"Undo the last change",
	"Restore version 1",
	"Stop",
}
