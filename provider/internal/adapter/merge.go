package adapter

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/provider"
)

// Encode returns v as JSON without HTML escapes, the same in all releases of Go. The keys of maps
// are sorted.
func Encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return provider.EscapeSeparators(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), nil
}

// JSON is Encode for what is made of texts, numbers and valid JSON, which can always be encoded. It
// returns nil for anything else.
func JSON(v any) json.RawMessage {
	raw, _ := Encode(v)
	return raw
}

// Compact returns JSON without blanks, as text that nothing changes any more; "" if it isn't JSON.
func Compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return ""
	}
	return strings.ToValidUTF8(b.String(), "\uFFFD")
}

// Ended returns the end of an answer with the server's figures, if it has sent any: some servers
// send zeros when they don't count. raw is the server's own word for why it ended.
func Ended(stop provider.StopReason, raw string, u provider.Usage) provider.Chunk {
	end := provider.EndUnmetered(stop)
	if u.Total() > 0 {
		end = provider.End(stop, u)
	}
	end.Extra.StopRaw = raw
	return end
}

// IsNull reports whether JSON is null or empty.
func IsNull(raw json.RawMessage) bool {
	return len(raw) == 0 || string(raw) == "null"
}

// Extended returns v as JSON with the fields of a JSON object of the caller merged in: see [Merge].
// Without one it is v.
func Extended(v any, more json.RawMessage) (json.RawMessage, error) {
	body, err := Encode(v)
	if err != nil {
		return nil, fmt.Errorf("the request can't be encoded as JSON: %w", err)
	}
	if len(bytes.TrimSpace(more)) == 0 {
		return body, nil
	}
	var fields, changes map[string]json.RawMessage
	if json.Unmarshal(more, &changes) != nil || changes == nil {
		return nil, errors.New("it isn't a JSON object") // and may have credentials
	}
	if err := json.Unmarshal(body, &fields); err != nil {
		return nil, err
	}
	Merge(fields, changes)
	return Encode(fields)
}

// Merge merges additional fields of the caller into a body: objects field by field, null removes,
// anything else replaces (RFC 7396), except that the arrays "tools" and "include" are appended.
func Merge(body, fields map[string]json.RawMessage) {
	for key, value := range fields {
		if (key == "tools" || key == "include") && !IsNull(value) {
			body[key] = appended(body[key], value)
			continue
		}
		merge(body, key, value)
	}
}

func merge(into map[string]json.RawMessage, key string, value json.RawMessage) {
	if IsNull(value) {
		delete(into, key)
		return
	}
	var patch map[string]json.RawMessage
	isNew := into[key] == nil && !bytes.Contains(value, []byte("null")) // keeps the order of its fields
	if isNew || json.Unmarshal(value, &patch) != nil {
		into[key] = value
		return
	}
	fields := map[string]json.RawMessage{}
	if json.Unmarshal(into[key], &fields) != nil || fields == nil {
		fields = map[string]json.RawMessage{}
	}
	for k, v := range patch {
		merge(fields, k, v)
	}
	into[key] = JSON(fields)
}

// appended returns an array with the elements of another one appended.
func appended(have, more json.RawMessage) json.RawMessage {
	var list, rest []json.RawMessage
	if json.Unmarshal(more, &rest) != nil {
		return more // let the server report the error
	}
	_ = json.Unmarshal(have, &list) // absent, or the adapter's own
	return JSON(slices.Concat(list, rest))
}
