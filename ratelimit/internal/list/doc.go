// Package list has a doubly linked list without allocations, for package ratelimit and its budgets.
package list
