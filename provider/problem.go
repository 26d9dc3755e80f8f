package provider

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider/internal/servers"
)

// A Problem is why a model call has failed, as people are told it: [Problem.Words] says what has
// happened, and what they can change. It holds nothing that a server wrote. Its JSON may be stored.
type Problem struct {
	Kind     string        `json:"kind"`               // one of the Problem constants
	Provider string        `json:"provider,omitempty"` // as in [Error]; empty if it isn't known
	Model    string        `json:"model,omitempty"`    // which was called; empty if it isn't known
	Wait     time.Duration `json:"wait,omitempty"`     // the provider's advice, in nanoseconds; 0: none
}

// The kinds of problems.
const (
	ProblemNoKey   = "no_key"  // there is no key
	ProblemKey     = "key"     // the key isn't accepted
	ProblemDenied  = "denied"  // the key may not do this
	ProblemModel   = "model"   // the provider doesn't know the model
	ProblemAddress = "address" // something else than the provider's API has answered
	ProblemQuota   = "quota"   // the account has no credit, or no quota, left
	ProblemRate    = "rate"    // too many requests for now, or an overloaded provider
	ProblemNetwork = "network" // no connection, no address for the name, or no trusted certificate
	ProblemLength  = "length"  // the conversation is longer than the model's window
	ProblemRefused = "refused" // the provider doesn't accept the content
	ProblemTimeout = "timeout" // no answer in time
	ProblemCut     = "cut"     // the answer broke off
	ProblemServer  = "server"  // a fault of the provider's own
	ProblemRequest = "request" // the provider doesn't accept the request, for another reason
)

// words says what has happened, and what to do about it. {provider}, {the key} and so on are
// replaced, and a part in brackets is left out if what it names isn't known.
var words = map[string]string{
	ProblemNoKey: "There is no key for {provider}. Set {the key}, and start the program again.",
	ProblemKey: "{Provider} doesn't accept the key. Set {the key} to a valid key, and start the program " +
		"again.[ Keys are at {keys}.]",
	ProblemDenied: "{Provider} doesn't let this key use the model[ “{model}”]. Use another key[ ({KEY})] or " +
		"another model[ ({MODEL})], or have the owner of the account allow it.",
	ProblemModel: "{Provider} doesn't know the model[ “{model}”], or the key may not use it. Set {the model} to the " +
		"name of a model that it offers, and start the program again.",
	ProblemAddress: "The server at this address isn't the API of {provider}. Correct {the address}, and start the " +
		"program again.",
	ProblemQuota: "The account with {provider} has no credit or no quota left. Look at its plan and its " +
		"billing[: {billing}].",
	ProblemRate: "{Provider} gets too many requests now. Wait {wait}, and try again. If that doesn't help, use another " +
		"model[ ({MODEL})].",
	ProblemNetwork: "{Provider} can't be reached. Check the network of this machine, its proxy (HTTPS_PROXY), and " +
		"{the address}, and try again.",
	ProblemLength: "The conversation is too long for the model[ “{model}”]. Start a new one, or use a model that takes " +
		"more[ ({MODEL})].",
	ProblemRefused: "{Provider} refuses this content. Put it in other words, or start a new conversation.",
	ProblemTimeout: "{Provider} didn't answer in time. Try again; if it happens often, use another model[ ({MODEL})].",
	ProblemCut:     "The answer of {provider} broke off. Try again.",
	ProblemServer:  "{Provider} has a technical problem. Wait {wait}, and try again.",
	ProblemRequest: "{Provider} doesn't accept the request. Use another model[ ({MODEL})].",
}

// A service is what people know of a provider: its name, and the variables of the environment.
type service struct {
	name, key, model, address string
	keys, billing             string // the addresses of pages
}

// services are the providers without the API of OpenAI, by their names in [Error].
var services = map[string]service{
	"anthropic": {"Anthropic", "ANTHROPIC_API_KEY", "ANTHROPIC_MODEL", "ANTHROPIC_BASE_URL",
		"https://platform.claude.com/settings/keys", "https://platform.claude.com/settings/billing"},
	"gemini": {"Gemini", "GEMINI_API_KEY", "GEMINI_MODEL", "GOOGLE_GEMINI_BASE_URL",
		"https://aistudio.google.com/apikey", "https://aistudio.google.com/usage"},
	"bedrock": {name: "Amazon Bedrock"},
	"vertex":  {name: "Vertex AI"},
}

// compatible is a server with the API of OpenAI, whose name is that of its host.
var compatible = service{key: "OPENAI_API_KEY", model: "OPENAI_MODEL", address: "OPENAI_BASE_URL"}

// serviceOf returns what is known of a provider by its name in [Error].
func serviceOf(name string) service {
	known := servers.Named(name)
	if known == nil {
		known = servers.At(name)
	}
	switch {
	case known != nil:
		return service{known.Title, known.Key, known.Model, known.Address, known.KeyPage, known.Billing}
	case name == "localhost" || strings.Contains(name, "."):
		return compatible
	}
	return services[name]
}

// Words says in one to three sentences what has happened and what a person can change: a variable
// of the environment, the name of the model, the account, or the time. "" of a nil Problem, and of
// one of an unknown kind.
func (p *Problem) Words() string {
	if p == nil {
		return ""
	}
	s := serviceOf(p.Provider)
	name := cmp.Or(s.name, p.Provider, "the provider of the model")
	first, n := utf8.DecodeRuneInString(name)
	wait := "a minute"
	if p.Wait > 0 {
		wait = waiting(p.Wait)
	}
	known := []string{
		"{provider}", name, "{Provider}", string(unicode.ToUpper(first)) + name[n:], "{wait}", wait,
		"{the key}", cmp.Or(s.key, "the key of the program"),
		"{the model}", cmp.Or(s.model, "the model of the program"),
		"{the address}", cmp.Or(s.address, "the address in the program"),
	}
	for _, f := range [][2]string{{"{model}", p.Model}, {"{KEY}", s.key}, {"{MODEL}", s.model}, {"{keys}", s.keys},
		{"{billing}", s.billing}} {
		if f[1] != "" {
			known = append(known, f[0], f[1])
		}
	}
	text := inBrackets.ReplaceAllStringFunc(words[p.Kind], func(part string) string {
		if name := inBraces.FindString(part); !slices.Contains(known, name) {
			return ""
		}
		return part[1 : len(part)-1]
	})
	return strings.NewReplacer(known...).Replace(text)
}

var (
	inBrackets = regexp.MustCompile(`\[.*?\]`)
	inBraces   = regexp.MustCompile(`\{.*?\}`)
)

// waiting returns a duration as people say it.
func waiting(d time.Duration) string {
	unit, n := "second", int64((d+time.Second-1)/time.Second)
	switch {
	case d > 2*time.Hour:
		unit, n = "hour", int64((d+time.Hour-1)/time.Hour)
	case d > 2*time.Minute:
		unit, n = "minute", int64((d+time.Minute-1)/time.Minute)
	}
	if n == 1 {
		return "1 " + unit
	}
	return fmt.Sprintf("%d %ss", n, unit)
}

// ProblemOf returns why a model call has failed with err. If several providers were called, it is
// the problem of the first that a person can mend, else that of the first. It is nil for nil, for
// cancellations, and for an error that isn't one of a model call.
func ProblemOf(err error) *Problem {
	if err == nil || Canceled(err) {
		return nil
	}
	var found *Error
	for _, e := range refusals(err) {
		if found == nil || found.Fault() != fault.UserFixable && e.Fault() == fault.UserFixable {
			found = e
		}
	}
	p := new(Problem)
	if found != nil {
		p.Kind, p.Provider, p.Model = found.problem(), found.Provider, found.Model
	} else {
		p.Kind = kindOf(err)
	}
	if p.Kind == "" {
		return nil
	}
	if found != nil {
		err = found
	}
	if wait, ok := fault.RetryAfter(err); ok {
		p.Wait = wait
	}
	return p
}

// refusals returns the errors of providers that err wraps, in order.
func refusals(err error) (all []*Error) {
	switch e := err.(type) {
	case *Error:
		if e != nil {
			all = append(all, e)
		}
	case interface{ Unwrap() []error }:
		for _, err := range e.Unwrap() {
			all = append(all, refusals(err)...)
		}
	case interface{ Unwrap() error }:
		all = refusals(e.Unwrap())
	}
	return all
}

// kindOf returns the kind of an error that isn't one of a provider: of a guard or of a connection.
func kindOf(err error) string {
	switch class := fault.Of(err); {
	case errors.Is(err, context.DeadlineExceeded):
		return ProblemTimeout
	case errors.Is(err, ErrIncomplete):
		return ProblemCut
	case class == fault.RateLimited:
		return ProblemRate
	case class == fault.Degraded, class == fault.Transient:
		return ProblemServer
	}
	return ""
}

// Messages of the adapters' own errors.
const (
	noKey    = "no API key"
	noAnswer = "no answer: "
	webPage  = "the server answered with a web page"
)

// What the type, the code or the message of an error says. They only choose the kind.
var (
	saysQuota   = regexp.MustCompile(`(?i)quota|billing|credit|balance|usage limits`)
	saysKey     = regexp.MustCompile(`(?i)api[_ ]?key|authentication|unauthenticated|account_deactivated`)
	saysExpired = regexp.MustCompile(`(?i)expiredtoken|invalidsignature|unrecognizedclient`) // of AWS, with 403
	saysDenied  = regexp.MustCompile(`(?i)permission|access_?denied|location is not supported`)
	saysModel   = regexp.MustCompile(`(?i)\bmodel`)
	saysNoModel = regexp.MustCompile(`(?i)model_not_found|resourcenotfoundexception|invalid[_ ]model|not a valid model|` +
		`no endpoints found|model\b.{0,80}(not found|not exist|not available|isn't available|unknown)`)
	saysContent = regexp.MustCompile(`(?i)content[_ ](filter|policy)|invalid_prompt|content management policy|blocked.{0,40}safety`)
	saysTime    = regexp.MustCompile(`(?i)time_?out`)
	saysLoad    = regexp.MustCompile(`(?i)overloaded|too many requests|rate.?limit`)
)

// problem returns the kind of an error of a provider.
func (e *Error) problem() string {
	terms := e.Type + " " + e.Code
	all := terms + " " + e.Message
	fixable := e.Fault() == fault.UserFixable
	switch {
	case e.ContextLength != nil:
		return ProblemLength
	case e.Status == http.StatusRequestEntityTooLarge:
		return ProblemLength
	case e.Status == 0 && strings.HasPrefix(e.Message, noKey):
		if !fixable { // the source of the key doesn't answer for now
			return ""
		}
		return ProblemNoKey
	case e.Status == 0 && strings.HasPrefix(e.Message, noAnswer):
		return unreached(e.Err)
	case errors.Is(e.Err, ErrIncomplete):
		return ProblemCut
	case e.Status >= 300 && e.Status < 400, e.Message == webPage:
		return ProblemAddress
	case e.Status == http.StatusPaymentRequired, fixable && (saysQuota.MatchString(terms) ||
		e.Status != http.StatusUnauthorized && e.Status != http.StatusForbidden && saysQuota.MatchString(e.Message)):
		return ProblemQuota
	case fixable && saysExpired.MatchString(terms):
		return ProblemKey
	case fixable && (e.Status == http.StatusForbidden || saysDenied.MatchString(all)):
		return ProblemDenied
	case e.Status == http.StatusUnauthorized, fixable && saysKey.MatchString(all):
		return ProblemKey
	case saysContent.MatchString(all):
		return ProblemRefused
	case e.Status < 500 && e.Status != http.StatusTooManyRequests && saysNoModel.MatchString(all),
		e.Status == http.StatusNotFound && saysModel.MatchString(all):
		return ProblemModel
	case e.Status == http.StatusNotFound, e.Status == http.StatusMethodNotAllowed:
		return ProblemAddress
	case e.Fault() == fault.RateLimited, e.Status == 529, e.Fault() == fault.Degraded && saysLoad.MatchString(all):
		return ProblemRate
	case e.Status == http.StatusGatewayTimeout, e.Status == http.StatusRequestTimeout, saysTime.MatchString(terms):
		return ProblemTimeout
	case e.Fault() == fault.Degraded, e.Fault() == fault.Transient:
		return ProblemServer
	case e.Status == 0: // not the error of a server
		return ""
	}
	return ProblemRequest
}

// unreached returns the kind of an error of a request that got no answer.
func unreached(err error) string {
	dial, ok := errors.AsType[*net.OpError](err)
	if slow := (net.Error)(nil); errors.As(err, &slow) && slow.Timeout() && (!ok || dial.Op != "dial") &&
		!errors.As(err, new(*net.DNSError)) {
		return ProblemTimeout
	}
	return ProblemNetwork
}
