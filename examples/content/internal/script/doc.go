// Package script reads what a message to the content agent wants, where no model does: it stands in
// for one without a key, and reads what buttons send. It knows some twenty requests, each in a few
// wordings; testdata/script.txt of the program lists them. It understands nothing else, so a
// sentence that forbids, asks or sets a condition is no request.
package script
