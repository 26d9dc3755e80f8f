// Package compat opens the files of users that earlier versions wrote, and continues what they
// left: a run that waits for an approval, a plan whose process stopped, working memory, an index.
// It has only tests.
//
// testdata has a folder for each released version. A release adds the folder of its version, and
// changes none of the older ones:
//
//	go test ./internal/compat -run Write -write v0.1.0
//
// A file that can't be read any more is a broken promise: migrate it, or refuse it with an error
// that says which version reads it, and say so in the CHANGELOG.
package compat
