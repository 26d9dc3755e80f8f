// Package doors has tests alone: people with and without a role decide through each way in which a
// decision reaches a run.
package doors
