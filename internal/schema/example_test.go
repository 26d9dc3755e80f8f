package schema_test

import (
	"encoding/json"
	"fmt"

	"github.com/pawlkit/pawl/internal/schema"
)

type City struct {
	Name string `json:"city" jsonschema:"city name, for example Oslo"`
	Days int    `json:"days,omitempty"`
}

func Example() {
	s, err := schema.For[City](json.RawMessage(`{"properties":{"days":{"default":1,"maximum":14}}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(s.JSON()))

	in, err := s.Accept(json.RawMessage(`{"city": "Oslo", "days": 2.0}`))
	fmt.Println(string(in), err)
	in, err = s.Accept(json.RawMessage(`{"city": "Oslo"}`))
	fmt.Println(string(in), err)

	_, err = s.Accept(json.RawMessage(`{"City": "Oslo"}`))
	fmt.Println(err)
	_, err = s.Accept(json.RawMessage(`{"city": 7, "days": 30}`))
	fmt.Println(err)
	_, err = s.Accept(json.RawMessage(`{"city": "Os`))
	fmt.Println(err)

	// Output:
	// {"type":"object","properties":{"city":{"type":"string","description":"city name, for example Oslo"},"days":{"type":"integer","default":1,"maximum":14}},"required":["city"],"additionalProperties":false}
	// {"city":"Oslo","days":2} <nil>
	// {"city":"Oslo","days":1} <nil>
	// invalid value: unknown key "City"; did you mean "city"? known keys: "city", "days"
	// invalid value: city: expected string, got 7; days: must be at most 14, got 30
	// invalid value: not valid JSON: the text ends after 12 bytes in the middle of a string
}
