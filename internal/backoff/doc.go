// Package backoff says how long to wait before something that has failed is tried again.
package backoff
