// Package httpguard keeps the HTTP requests of foreign code safe, such as those of langchaingo's
// clients: [Watch] learns the secrets of requests, to keep them out of errors, and [SameHost] keeps
// requests from being redirected to another host.
package httpguard
