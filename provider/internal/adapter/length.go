package adapter

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

// LengthRemedy is what a person can do about a request that is too long.
const LengthRemedy = "shorten the conversation (an agent does so with Config.Memory), or use a model with a larger " +
	"context window"

// Judge completes an error, whose class is known, with what a failure says in its fields and its
// text: that the request is longer than the context window, and when to try again.
func Judge(e *provider.Error, f *Failure) {
	if e.Wait == nil && fault.Retryable(e.Fault()) {
		e.Wait = f.Wait
	}
	judgeLength(e, f)
	waitInText(e)
}

// The words with which servers refuse a request for its length. A sentence refuses it if it speaks
// of the context, or of what was sent and of its length, and says that it is beyond that.
var (
	lengthCodes = regexp.MustCompile(`(?i)context_length_exceeded|exceed_context_size_error|` +
		`model_context_window_exceeded|model_max_prompt_tokens_exceeded|prompt_too_long`)
	aboutContext = regexp.MustCompile(`(?i)context[ _-](window|length|size|limit)|context (the )?overflow`)
	aboutInput   = regexp.MustCompile(`(?i)\b(prompt|inputs?|conversation|messages|request)\b`)
	aboutLength  = regexp.MustCompile(`(?i)token|length|too long`)
	beyond       = regexp.MustCompile(`(?i)exceed|beyond|overflow|too (long|large|big)|(longer|larger|greater|more) than|` +
		`not enough|large enough|should be \[|must be <=|(is|of) only \d|less than \d|maximum (context|prompt) length|reduce the length`)
	// other limits: of rates, of the answer, of one field or one file
	otherLimit = regexp.MustCompile(`(?i)\bper (second|minute|hour|day)|\b[TR]P[MD]\b|max_?(completion_?|output_?)?tokens|` +
		`^[^+]*max_new_tokens|budget|caching|logit_bias|metadata|\buser\b|\bstop\b|rate limit|too long - '|` +
		`invalid '|string|image|audio|video|file|\bname\b`)
	links = regexp.MustCompile(`https?://\S+`)
)

// The figures of such a sentence: a limit comes after or before a word for it.
var (
	limitFigure = regexp.MustCompile(`(?i)(?:maximum[^0-9.]{0,40}|context limit:[^.>]{0,60}> ?|> ?|<= ?|limit(?: of|:| is)? ?|` +
		`(?:is|of) only |less than |cannot exceed |should be \[\d+, ?|context (?:size|length|window) \()(\d{3,9})\b|\b(\d{3,9}) maximum`)
	figures   = regexp.MustCompile(`(?:^|[^\w.-])(\d{3,9})\b`)
	thousands = regexp.MustCompile(`(\d),(\d{3})\b`)
)

// refusesLength reports whether an error refuses a request for its length.
func refusesLength(e *provider.Error) bool {
	switch e.Status {
	case 0, 200, 400, 413, 422, 500: // the last one is of llama.cpp
	default:
		return false
	}
	if slices.ContainsFunc([]string{e.Type, e.Code, e.Message}, lengthCodes.MatchString) {
		return true
	}
	if e.Class == fault.RateLimited {
		return false
	}
	text := links.ReplaceAllString(e.Message, "")
	if aboutContext.MatchString(text) && beyond.MatchString(text) {
		return true
	}
	return e.Status != 500 && slices.ContainsFunc(strings.Split(text, ". "), func(s string) bool {
		return aboutInput.MatchString(s) && aboutLength.MatchString(s) && beyond.MatchString(s) &&
			!otherLimit.MatchString(s)
	})
}

// judgeLength sets the ContextLength of an error that refuses a request for its length, with its
// class and remedy. Other errors stay as they are.
func judgeLength(e *provider.Error, f *Failure) {
	if e.ContextLength != nil || !refusesLength(e) {
		return
	}
	e.ContextLength = &provider.ContextLength{Limit: f.Limit, Size: f.Size}
	e.Class, e.Remedy, e.Wait = fault.UserFixable, LengthRemedy, nil
	text := thousands.ReplaceAllString(e.Message, "$1$2")
	if m := limitFigure.FindStringSubmatch(text); m != nil && f.Limit == 0 {
		e.ContextLength.Limit = atoi(m[1] + m[2])
	}
	if f.Size > 0 {
		return
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
