// Package consenttest has an obedient model and the lists of sentences for the tests of programs
// that use package consent.
//
//	model := &consenttest.Obedient{Calls: []consenttest.Call{{Name: "rename", Input: `{"title":"x"}`}}}
//	server := httptest.NewServer(model)
package consenttest
