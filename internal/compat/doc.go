// Package compat opens the files of users that earlier versions wrote, and continues what they
// left: a run that waits for an approval, a plan whose process stopped, working memory, an index.
// It has only tests.
//
// testdata has a folder for each released version. A release adds the folder of its version, and
// changes none of the older ones:
//
//	go test ./internal/compat -run Write -write v0.1.0
//
// A folder that isn't named after a release has what the code wrote just before a change that
// stored runs must survive: before-v0.2, before-roles and before-core are such. stages.db.gz has a
// session at each stage that a run or a plan can be left at.
//
// The folder queued has the arguments of a job of River and a history of Temporal, as they were
// before an agent.Input lost fields. The tests of these two packages start them.
//
// Random sessions are left by one release of Go, and another one goes on with them:
//
//	GOTOOLCHAIN=go1.27.3 go test ./internal/compat -run OneReleaseOfGo -across-write /tmp/left.db
//	go test ./internal/compat -run OneReleaseOfGo -across-read /tmp/left.db
//
// A file that can't be read any more is a broken promise: migrate it, or refuse it with an error
// that says which version reads it, and say so in the CHANGELOG.
package compat
