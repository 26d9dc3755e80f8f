package adapter

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

// LengthRemedy is what a person can do about a request that is too long.
const LengthRemedy = "shorten the conversation (an agent does so with Config.Memory), or use a model with a larger " +
	"context window"

// tooLong are the words, in the type, the code or the message of an error, with which providers and
// servers refuse a request for its length.
var tooLong = regexp.MustCompile(
	`(?i)context_length_exceeded|exceed_context_size_error|model_context_window_exceeded|` +
		`prompt is too long|exceeds? (the |this model's )?(maximum )?context (limit|length|window)|exceeds? the context window|` +
		`exceeds the available context size|maximum context length is \d+|maximum prompt length is \d+|maximum context length: \d+|` +
		`input token count[^.]{0,30}exceeds the maximum|\d+ maximum context length|longer than the maximum model length|input is too long for requested model`)

var (
	limitFigure = regexp.MustCompile(
		`(?i)(?:maximum[^0-9.]{0,40}|context limit:[^.>]{0,60}> ?|> ?)(\d{3,9})\b|\b(\d{3,9}) maximum`)
	figures   = regexp.MustCompile(`(?:^|[^\w.-])(\d{3,9})\b`)
	thousands = regexp.MustCompile(`(\d),(\d{3})\b`)
)

// Length sets the ContextLength of an error that refuses a request for its length, with its class
// and remedy. Other errors stay as they are.
func Length(e *provider.Error) {
	if e.ContextLength != nil || e.Status != 0 && e.Status != 200 && e.Status != 400 && e.Status != 413 &&
		e.Status != 422 {
		return
	}
	if !tooLong.MatchString(e.Type) && !tooLong.MatchString(e.Code) && !tooLong.MatchString(e.Message) {
		return
	}
	e.ContextLength = &provider.ContextLength{}
	e.Class, e.Remedy, e.Wait = fault.UserFixable, LengthRemedy, nil
	text := thousands.ReplaceAllString(e.Message, "$1$2")
	if m := limitFigure.FindStringSubmatch(text); m != nil {
		e.ContextLength.Limit = atoi(m[1] + m[2])
	}
	for _, m := range figures.FindAllStringSubmatch(strings.ReplaceAll(text, "(", " ("), -1) {
		if n := atoi(m[1]); n > e.ContextLength.Limit && e.ContextLength.Limit > 0 && n/50 < e.ContextLength.Limit {
			e.ContextLength.Size = max(e.ContextLength.Size, n)
		}
	}
}

func atoi(s string) int {
	n, _ := strconv.Atoi(s) // of at most nine digits
	return n
}
