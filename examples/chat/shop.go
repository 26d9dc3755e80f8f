package main

import (
	"context"
	"fmt"
	"sync"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
)

const instructions = "You help with the orders of a shop. Look an order up before you say something about it. Answer " +
	"briefly, in Markdown."

// Order names an order.
type Order struct {
	Number int `json:"number" description:"the number of the order" minimum:"1000" maximum:"9999"`
}

// shop returns the tools of a shop with a few orders, which it forgets when the program ends.
func shop() []tools.Tool {
	var mu sync.Mutex
	orders := map[int]string{1001: "on its way, arrives tomorrow", 1002: "being packed", 1003: "delivered"}
	return []tools.Tool{
		tools.New(tools.Spec{Name: "findOrder", Description: "Says where an order is.", ReadOnly: true},
			func(_ context.Context, o Order) (string, error) {
				mu.Lock()
				defer mu.Unlock()
				if orders[o.Number] == "" {
					return "", fault.Errorf(fault.NotFound, "there is no order %d; the orders are 1001, 1002 and 1003",
						o.Number)
				}
				return fmt.Sprintf("Order %d: %s.", o.Number, orders[o.Number]), nil
			}),
		tools.New(tools.Spec{Name: "cancelOrder", Description: "Cancels an order. It can't be undone.",
			Risk: tools.High}, func(_ context.Context, o Order) (string, error) {
			mu.Lock()
			defer mu.Unlock()
			if s := orders[o.Number]; s == "" || s == "delivered" {
				return "", fault.Errorf(fault.NotFound,
					"order %d can't be canceled: it doesn't exist, or was delivered", o.Number)
			}
			orders[o.Number] = "canceled"
			return fmt.Sprintf("Order %d is canceled.", o.Number), nil
		}),
	}
}
