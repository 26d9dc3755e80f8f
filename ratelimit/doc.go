// Package ratelimit is temporary here.
package ratelimit
