package tools

import "context"

// Execute is a temporary form.
func Execute(ctx context.Context, d *Definition, c *Call, pass *Pass) Outcome {
	return new(Runner).ExecuteWith(ctx, d, c, pass)
}
