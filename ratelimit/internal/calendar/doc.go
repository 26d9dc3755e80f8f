// Package calendar knows when the days of a time zone begin, for package ratelimit and its budgets.
package calendar
