package recall

import (
	"context"
	"encoding/json"

	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/tools"
)

// ReadBack returns the tool with which a model reads what compaction removed from its conversation:
// [memory.ReadTool], run by [memory.ReadBack]. The function of returns the store of the call's
// session, by the call's context; handles of other sessions aren't found in it. For an agent with
// one session, use [Always].
func ReadBack(of func(ctx context.Context) (memory.Store, error)) tools.Tool {
	told := memory.ReadTool()
	return tools.Raw{
		Spec: tools.Spec{Name: told.Name, Description: told.Description, Category: category, ReadOnly: true,
			Schema: told.Schema},
		Run: func(ctx context.Context, input json.RawMessage) (tools.Result, error) {
			var store memory.Store
			if of != nil {
				var err error
				if store, err = of(ctx); err != nil {
					return tools.Result{}, err
				}
			}
			text, err := memory.ReadBack(ctx, store, input)
			if err != nil {
				return tools.Result{}, err
			}
			return tools.Text(text), nil
		},
	}
}

// Always returns a function for [ReadBack] that always returns store.
func Always(store memory.Store) func(context.Context) (memory.Store, error) {
	return func(context.Context) (memory.Store, error) { return store, nil }
}
