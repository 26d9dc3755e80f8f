// Package storm runs agents against a server that misbehaves in every way that model servers do, over real HTTP: it refuses
// by the minute, is overloaded, resets connections, hangs, drips, and breaks off in the middle. It has tests alone.
package storm
