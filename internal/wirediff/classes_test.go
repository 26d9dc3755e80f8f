package wirediff

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
)

// A class is a kind of disagreement that is known.
type class struct {
	name    string
	why     string   // ours is right
	apis    string   // those that have it; empty: all
	damaged bool     // only damaged streams have it
	diffs   []string // what it explains; nil: what differs without a mutation
	is      func(c *comparison) bool
}

// classify returns the classes of a disagreement, and the differences that have none.
func classify(c *comparison) (names, left []string) {
	for _, diff := range c.diffs {
		i := slices.IndexFunc(classes, func(k class) bool { return k.explains(c, diff) })
		switch {
		case i < 0:
			left = append(left, diff)
		case !slices.Contains(names, classes[i].name):
			names = append(names, classes[i].name)
		}
	}
	return names, left
}

func (k *class) explains(c *comparison, diff string) bool {
	diffs := k.diffs
	if diffs == nil {
		diffs = c.seed.diffs
	}
	return slices.Contains(diffs, diff) && (k.apis == "" || slices.Contains(strings.Fields(k.apis), c.s.api.name)) &&
		!(k.damaged && c.s.valid) && (k.is == nil || k.is(c))
}

// The differences.
var (
	theirError = []string{"maker's error"}
	theirEnd   = []string{"maker's end"}
	noEnd      = []string{"maker's error", "maker's end"}
	content    = []string{"text", "refusal", "reasoning", "calls", "stop", "usage"}
	everything = append([]string{"maker's error", "maker's end", "our error"}, content...)
)

var classes = []class{
	{"the case's own", "the file in internal/wirecases says what is special; own.txt names what differs",
		"", false, nil, func(c *comparison) bool { return strings.HasSuffix(c.s.seed.name, ".txt") }},

	// framing
	{"a byte order mark", "the standard allows it; the client loses the first event",
		"", false, everything, func(c *comparison) bool { return c.s.style.mark }},
	{"lines that end with CR", "the standard allows them; the client reads no event",
		"", false, noEnd, func(c *comparison) bool { return c.s.style.end == "\r" }},
	{"events without names", "the data has the type, too; the client skips them",
		"claude", false, noEnd, func(c *comparison) bool {
			return c.s.style.unnamed || !original(c.s.api, c.s.seed).named()
		}},
	{"comments, fields, several lines", "the standard allows them; the client fails",
		"gemini", false, theirError, did("comments", "pings", "fields", "lines")},
	{"no empty line at the end", "the last event counts if it is whole; the client drops it",
		"", true, everything, unclosed},
	{"a line without a known name", "the standard says that it is ignored; the client fails",
		"gemini", true, theirError, func(c *comparison) bool {
			return failed("invalid stream chunk")(c) || failed("error unmarshalling data")(c) &&
				(c.s.has("flip") || did("cut", "cut-late")(c) && strings.HasPrefix("data: ", lastLine(c.body)))
		}},

	// what the makers' clients don't know
	{"error: null", "a member that is null isn't there; the client fails",
		"chat responses gemini", false, theirError, did("null-error")},
	{"a compaction's tokens", "they aren't in the other figures, and are paid",
		"claude", false, []string{"usage"}, func(c *comparison) bool {
			return slices.ContainsFunc(c.s.seed.frames, func(f frame) bool {
				return strings.Contains(f.data, `"compaction"`)
			})
		}},
	{"arguments in pieces", "they are put together, and must be whole; the client doesn't",
		"gemini", false, []string{"calls", "stop"}, func(c *comparison) bool {
			return strings.Contains(c.body, "partialArgs")
		}},
	{"what waits for the client", "it is a call, with the item as its arguments",
		"responses", false, []string{"calls", "stop"}, func(c *comparison) bool {
			return slices.ContainsFunc(c.ours.calls, func(o call) bool { return waiting[o.name] })
		}},

	// ends
	{"[DONE] without a reason", "after text it is an end, with an unknown reason",
		"chat", true, theirEnd, func(c *comparison) bool {
			return c.ours.stop == "unknown" && strings.Contains(c.body, "[DONE]")
		}},
	{"data without an object", "it is a mark such as [DONE], or nothing; the client fails",
		"chat responses", true, theirError, func(c *comparison) bool {
			return did("truncate", "flip")(c) && failed("invalid character", "unexpected end")(c)
		}},
	{"a reason, and null later", "it stays what it was; the accumulator forgets it",
		"chat claude", true, []string{"maker's end", "stop"}, func(c *comparison) bool {
			return c.ours.stop != "unknown" && (c.maker.stop == "unknown" || c.maker.stop == "")
		}},
	{"a cut answer", "it says so itself: its pieces aren't compared with its end, and its calls never run",
		"responses", true, []string{"text", "calls"}, func(c *comparison) bool {
			return c.ours.stop == "length" || c.ours.stop == "filtered"
		}},

	// what is repeated, missing, or in another order
	{"chunks with another id", "some servers change it; the accumulator refuses them",
		"chat", false, theirError, failed("the accumulator refuses a chunk")},
	{"usage that comes twice", "it is cumulative; the accumulator adds it",
		"chat", true, []string{"usage"}, func(c *comparison) bool { return c.maker.input > c.ours.input }},
	{"a name that comes twice", "it is the same name; the accumulator has it twice",
		"chat", true, []string{"calls"}, func(c *comparison) bool {
			return slices.EqualFunc(c.ours.calls, c.maker.calls, func(a, b call) bool {
				return a.id == b.id && a.args == b.args && b.name != "" && strings.ReplaceAll(b.name, a.name, "") == ""
			})
		}},
	{"a call that comes twice", "one with the same id and arguments is the same",
		"chat", true, []string{"calls"}, func(c *comparison) bool {
			return len(slices.Compact(slices.Clone(c.maker.calls))) < len(c.maker.calls)
		}},
	{"a call without its beginning", "its pieces belong to the call before; the accumulator makes one without a name",
		"chat", true, []string{"calls"}, func(c *comparison) bool {
			return slices.ContainsFunc(c.maker.calls, func(m call) bool { return m.name == "" })
		}},
	{"arguments that aren't an object", "the host sees them; the client makes {} of them, or has other pieces",
		"", true, []string{"calls"}, func(c *comparison) bool {
			return slices.ContainsFunc(c.ours.calls, func(o call) bool { return !strings.HasPrefix(o.args, "{") })
		}},
	{"calls in another order", "they are in the order in which they came",
		"chat responses", true, []string{"calls"}, func(c *comparison) bool {
			return c.s.seed.name == "chat-names-after-ids.txt" || len(c.ours.calls) == len(c.maker.calls) &&
				!slices.ContainsFunc(c.ours.calls, func(o call) bool { return !slices.Contains(c.maker.calls, o) })
		}},
	{"text in another order", "it is in the order in which it came",
		"responses", true, []string{"text"}, func(c *comparison) bool { return len(c.ours.text) == len(c.maker.text) }},
	{"blanks at the ends of a text", "some servers leave them out at the end: it doesn't contradict the pieces",
		"responses", true, []string{"text"}, func(c *comparison) bool {
			return strings.TrimSpace(c.ours.text) == strings.TrimSpace(c.maker.text)
		}},
	{"reasoning unlike its end", "it is only shown: its pieces aren't compared with its end",
		"responses", true, []string{"reasoning"}, did("drop", "repeat", "swap", "swap-next", "another-stream")},
	{"a block without its start", "some servers leave it out for text; the client fails",
		"claude", true, theirError, failed("there are only")},
	{"numbers of blocks", "some servers leave some out; the client fails",
		"claude", true, theirError, failed("expected index")},
	{"a late start", "what came before it counts; the client drops it",
		"claude", true, content, func(c *comparison) bool {
			return strings.Index(c.body, "message_start") > strings.Index(c.body, "content_block")
		}},

	// damaged members
	{"an event without a type", "its name stands for it; the client skips it",
		"claude", true, theirError, did("another-value", "no-member", "flip")},
	{"a field of another type", "the adapter doesn't read it; the client fails",
		"gemini", true, theirError, failed("mapToStruct")},
	{"a part that is null", "there is nothing in it; the client panics",
		"gemini", true, theirError, func(c *comparison) bool { return c.maker.panicked }},
	{"members that are missing or of another type", "each client has them from elsewhere, or ignores them",
		"", true, append(theirEnd, content...), did("another-value", "no-member", "flip")},
	{"figures that are missing", "those before count; the client has 0",
		"claude gemini", true, []string{"usage"}, func(c *comparison) bool {
			return c.ours.input >= c.maker.input && c.ours.output >= c.maker.output
		}},

	{"refused", "a damaged stream is tried again",
		"", true, []string{"our error"}, nil},
}

// most are the classes that could hide a mistake, and how many of 100 damaged streams of each API
// they explain at most.
var most = map[string][]int{
	"refused": {9, 12, 10, 4},
	"members that are missing or of another type": {2, 3, 4, 2},
}

// own are the differences that a case has without a mutation, by its file.
//
//go:embed testdata/own.txt
var ownText string

var own = func() map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(ownText) {
		name, diffs, _ := strings.Cut(strings.TrimSpace(line), ": ")
		all[name] = diffs
	}
	return all
}()

// unclosed reports whether a stream has no empty line after its last event, and this one is whole.
// One that was cut ends with the end of the answer.
func unclosed(c *comparison) bool {
	body := strings.ReplaceAll(strings.ReplaceAll(c.body, "\r\n", "\n"), "\r", "\n")
	rest := frames(body[strings.LastIndex(body, "\n\n")+1:])
	rest = slices.DeleteFunc(rest, func(f frame) bool { return f.line != "" || !f.whole })
	if strings.HasSuffix(body, "\n\n") || len(rest) != 1 {
		return false
	}
	end, data := c.s.api.ends(rest[0].data), rest[0].data
	return end || json.Valid([]byte(data)) && !c.s.has("cut") && !c.s.has("cut-late")
}

// lastLine returns what comes after the last end of a line.
func lastLine(body string) string { return body[strings.LastIndexAny(body, "\r\n")+1:] }

// did reports whether one of the mutations was made.
func did(mutations ...string) func(c *comparison) bool {
	return func(c *comparison) bool { return slices.ContainsFunc(mutations, c.s.has) }
}

// failed reports whether the maker's client says one of the texts.
func failed(texts ...string) func(c *comparison) bool {
	return func(c *comparison) bool {
		return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(c.maker.err, text) })
	}
}

// waiting are the calls that aren't of a tool of the host.
var waiting = map[string]bool{"mcp_approval_request": true, "shell": true, "local_shell": true, "apply_patch": true,
	"computer": true}
