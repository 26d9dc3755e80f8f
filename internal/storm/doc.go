// Package storm tests agents over real HTTP against a server that misbehaves as model servers do:
// it enforces rates per minute, is overloaded, resets connections, hangs, sends slowly, and ends in
// the middle of answers. It has only tests.
package storm
