// Package browser has tests of what Pawl serves to front ends: with the schemas and stream readers
// of stock clients in Node, and with pages of stock clients in Chromium.
//
// The clients come from package-lock.json in the folder clients. The script .ci/setup-browser
// installs what is missing, and .ci/browser bundles the clients' pages into the folder out and runs
// the tests. Where Chromium, Node or the bundles are missing, tests are skipped; with CI=true they
// fail. Tests run in parallel, each with a Chromium of its own. With -screens, they write a
// screenshot of each state into the folder out.
package browser
