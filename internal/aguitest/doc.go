// Package aguitest makes random events and streams of AG-UI, for the tests of stream/agui and of
// its clients.
package aguitest
