package model

import "fmt"

// Help returns the requests that the model understands.
func Help() string {
	return `I understand requests like these:
- create a page called About with a hero section titled Hello
- list pages (or sections, collections, entries)
- show Home, show the team page, preview Home, find "about"
- rename About to About us, change the slug of About to about-us
- describe the Members page as team, people, staff
- set the title of the hero on Home to "Welcome, friends"
- add a text section to Home titled News saying "We are open."
- hide (or publish, or remove) the hero section on About
- write a blog entry titled First steps saying "It works."
- delete the About page
Put names and texts of several words in quotes if they hold words such as "and", "with" or "to".`
}

// A talk is a request that needs no tool.
type talk struct{ about string }

func (r talk) do(*turn) string {
	switch r.about {
	case "hello", "hi", "hey":
		return "Hello! " + Help()
	case "thanks":
		return "You're welcome."
	case "no entry":
		return "There is no tool that deletes entries. I can change their title and body."
	case "no publish":
		return "Pages are always public here; sections can be hidden and published: say, for example, hide the hero section on Home."
	}
	return Help()
}

// notUnderstood returns an answer that lists the valid requests.
func notUnderstood(clause []token) string {
	return fmt.Sprintf("I don't understand %q. I am a small program, not a language model. %s", plain(clause), Help())
}
