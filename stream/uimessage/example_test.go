package uimessage_test

import (
	"encoding/json"
	"fmt"

	"github.com/pawlkit/pawl/stream/uimessage"
)

func Example() {
	w := uimessage.NewWriter(func(data []byte) error {
		_, err := fmt.Printf("data: %s\n\n", data)
		return err
	}, uimessage.V7)
	for _, c := range []uimessage.Chunk{
		uimessage.Start{MessageID: "m-1"},
		uimessage.TextDelta{ID: "t-1", Delta: "It is "},
		uimessage.TextDelta{ID: "t-1", Delta: "4 °C."},
		uimessage.Data{Name: "weather", Data: json.RawMessage(`{"temperature": 4}`)},
		uimessage.Finish{FinishReason: "stop"},
	} {
		if err := w.Write(c); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// data: {"type":"start","messageId":"m-1"}
	//
	// data: {"type":"start-step"}
	//
	// data: {"type":"text-start","id":"t-1"}
	//
	// data: {"type":"text-delta","id":"t-1","delta":"It is "}
	//
	// data: {"type":"text-delta","id":"t-1","delta":"4 °C."}
	//
	// data: {"type":"data-weather","data":{"temperature":4}}
	//
	// data: {"type":"text-end","id":"t-1"}
	//
	// data: {"type":"finish-step"}
	//
	// data: {"type":"finish","finishReason":"stop"}
}
