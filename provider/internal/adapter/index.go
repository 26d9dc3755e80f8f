package adapter

import (
	"encoding/json"
	"math"
)

// An Index is a whole number in JSON, which may be written as 1.0. Null is 0.
type Index int32

// UnmarshalJSON decodes a whole number.
func (i *Index) UnmarshalJSON(b []byte) error {
	if len(b) == 1 && b[0] >= '0' && b[0] <= '9' { // most indexes
		*i = Index(b[0] - '0')
		return nil
	}
	var n float64
	if err := json.Unmarshal(b, &n); err != nil {
		return err
	}
	if n != math.Trunc(n) || math.Abs(n) > math.MaxInt32 {
		return json.Unmarshal(b, (*int32)(i)) // says why it isn't one
	}
	*i = Index(n)
	return nil
}
