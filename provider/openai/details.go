package openai

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// details are the reasoning details of an answer, in the form in which they are sent back. In a
// stream, texts come in pieces, which are joined; everything else comes whole and is kept
// unchanged.
type details []*detail

type detail struct {
	kind   string
	index  int
	fields map[string]json.RawMessage
	text   map[string]*strings.Builder // fields that come in pieces
}

// pieces are the fields that a stream sends in pieces, by the type of the detail.
var pieces = map[string]string{"reasoning.text": "text", "reasoning.summary": "summary"}

// add adds a detail, or a piece of the previous one.
func (d *details) add(raw json.RawMessage) {
	var head struct {
		Type  string   `json:"type"`
		Index optional `json:"index"`
	}
	var fields map[string]json.RawMessage
	if decode(raw, &head) != nil || json.Unmarshal(raw, &fields) != nil || len(fields) == 0 {
		return
	}
	var one *detail
	if n := len(*d); n > 0 && pieces[head.Type] != "" {
		if last := (*d)[n-1]; last.kind == head.Type && last.index == head.Index.n {
			one = last
		}
	}
	if one == nil {
		one = &detail{kind: head.Type, index: head.Index.n, fields: map[string]json.RawMessage{},
			text: map[string]*strings.Builder{}}
		*d = append(*d, one)
	}
	for name, value := range fields {
		var text string
		if name == pieces[head.Type] && json.Unmarshal(value, &text) == nil {
			if one.text[name] == nil {
				one.text[name] = new(strings.Builder)
			}
			one.text[name].WriteString(text)
			continue
		}
		if _, has := one.fields[name]; !has || isSet(value) {
			one.fields[name] = append(json.RawMessage(nil), value...)
		}
	}
}

// readable reports whether the details contain only the text of the reasoning, which can be sent
// back as text.
func (d details) readable() bool {
	return !slices.ContainsFunc(d, func(one *detail) bool {
		return pieces[one.kind] == "" || isSet(one.fields["signature"])
	})
}

// json returns the details as a JSON list, or "" if there are none.
func (d details) json() string {
	if len(d) == 0 {
		return ""
	}
	list := make([]map[string]json.RawMessage, len(d))
	for i, one := range d {
		for name, b := range one.text {
			one.fields[name] = adapter.JSON(b.String())
		}
		list[i] = one.fields
	}
	return string(adapter.JSON(list))
}

// detailText returns the readable text of a detail.
func detailText(raw json.RawMessage) string {
	var one struct {
		Text    looseText `json:"text"`
		Summary looseText `json:"summary"`
	}
	if decode(raw, &one) != nil {
		return ""
	}
	return string(one.Text + one.Summary)
}
