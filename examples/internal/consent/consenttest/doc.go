// Package consenttest has models without a mind and the lists of sentences for the tests of
// programs that use package consent.
//
//	model := &consenttest.Obedient{Calls: []consenttest.Call{{Name: "rename", Input: `{"title":"x"}`}}}
//	server := httptest.NewServer(model)
//
// A [Talk] is a conversation of several turns, with what a good model does in each: [Hold] holds it
// with an assistant whose model is a [Speaker].
package consenttest
