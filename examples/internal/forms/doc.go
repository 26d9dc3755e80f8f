// Package forms reads requests that are said in one of a few ways, for scripts that stand in for a
// model. It understands nothing else: a sentence that fits no form is no request, so a script
// answers it with what it knows.
//
// A form is a list of regular expressions of whole sentences, with words of the script's own for
// parts that occur often. Case, a polite beginning or end, and the last mark don't matter. A text
// in quotation marks is one value, whatever it says. One without them should be [Plain]: then no
// condition, prohibition or second request is taken for a part of a name.
package forms
