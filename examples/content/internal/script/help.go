package script

// About says what the script is, and begins the list of [Requests].
const About = "I'm a script, not a model, and I cost nothing. I know the requests below, with any titles, and in a " +
	"few other words. “It” is the article on your screen. What has “and”, a comma or a condition in it goes in " +
	"quotation marks."

// Few begins a list of a few requests for somebody whose words aren't known.
const Few = "I'm a script, not a model, and know some twenty requests. These are some of them, and “Help” lists all:"

// Key says how a model answers. It ends the help.
const Key = "A model understands any sentence. End the program, and start it with ANTHROPIC_API_KEY and " +
	"ANTHROPIC_MODEL, or with the variables of another provider, which examples/content/README.md has."

// A Group is requests of one purpose, with a title.
type Group struct {
	Title    string
	Requests []string
}

// Groups are examples of what the script knows. "It" is the article on the screen, or the one
// that the conversation is about.
var Groups = []Group{
	{"Begin:", []string{
		"Give me three topic ideas about pricing",
		"Write a blog post about fixed prices",
		"Create a draft of a social post about “Winter, and what follows”",
		"Show my drafts",
		"Open “Fixed prices”",
	}},
	{"Make it, in steps:", []string{
		"What's the status of this?",
		"Research it, then outline it",
		"Write the text without images",
		"Humanize it",
		"Add images",
		"Show the sources",
		"Stop",
		"Continue",
	}},
	{"Change it, by proposals:", []string{
		"Make it shorter",
		"Make the introduction friendlier",
		"Shorten the second section",
		"Remove the last section",
		"Replace the first picture",
		"Rename it to “Fixed prices”",
		"Set the tone to casual",
		"Tag it with prices, trust",
	}},
	{"Publish it, or go back:", []string{
		"Publish it",
		"Unpublish it",
		"Archive it",
		"Undo the last change",
		"Restore version 1",
	}},
}

// Some are the requests that somebody reads whose words aren't known.
var Some = []string{"Give me three topic ideas about pricing", "Write a blog post about fixed prices", "Make it shorter",
	"Help"}
