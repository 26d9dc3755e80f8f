package gemini

import (
	"cmp"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// A detail has the fields of several kinds of details.
type detail struct {
	Reason     string `json:"reason"`     // ErrorInfo
	RetryDelay string `json:"retryDelay"` // RetryInfo
	Violations []struct {
		QuotaID    string `json:"quotaId"`
		QuotaValue string `json:"quotaValue"`
	} `json:"violations"` // QuotaFailure
}

// statusError returns the error of an answer with an error status.
func statusError(status int, body []byte) *provider.Error { return errorOf(status, body, status) }

// errorIn returns the error that a server reports inside an answer.
func (d *decoder) errorIn(data []byte) error { return errorOf(http.StatusOK, d.Res.Redact(data), 0) }

// errorOf returns the error that a body describes. code is the status that says what it means; 0:
// that in the body.
func errorOf(status int, body []byte, code int) *provider.Error {
	f := adapter.ParseFailure(body)
	e := &provider.Error{Provider: Name, Status: status, Type: f.State, Message: f.Message}
	if e.Message == "" && code != 0 {
		e.Message = adapter.Brief(string(body))
	}
	var details []detail
	_ = json.Unmarshal(f.Details, &details) // there may be none
	for _, d := range details {
		e.Code = cmp.Or(e.Code, d.Reason)
	}
	if code == 0 {
		e.Code, code = cmp.Or(e.Code, f.Code), f.Status
	}
	if e.Class = adapter.ClassOf(&f, code); e.Type == "CANCELLED" {
		e.Class = fault.Transient // not by the caller
	}
	judge(e, code, details)
	adapter.Judge(e, &f)
	return e
}

// noQuota matches the message of a quota of 0: the model requires payment.
var noQuota = regexp.MustCompile(`\blimit: 0\b`)

// judge sets advice, remedy, and the class where the words of this API say more than the status.
func judge(e *provider.Error, code int, details []detail) {
	daily, none := false, noQuota.MatchString(e.Message)
	for _, d := range details {
		if wait, err := time.ParseDuration(d.RetryDelay); err == nil && wait > 0 {
			e.Wait = &wait
		}
		for _, v := range d.Violations {
			daily = daily || strings.Contains(v.QuotaID, "PerDay")
			none = none || v.QuotaValue == "0"
		}
	}
	switch {
	case e.Code == "API_KEY_INVALID" || strings.Contains(e.Message, "API key not valid") ||
		strings.Contains(e.Message, "API key expired"):
		e.Class, e.Remedy = fault.UserFixable, "the key is rejected; "+remedy
	case e.Class == fault.RateLimited && none:
		e.Class, e.Wait = fault.UserFixable, nil
		e.Remedy =
			"the project has no quota for this model; set up billing at https://aistudio.google.com/usage, or use " +
				"another model"
	case e.Class == fault.RateLimited && daily:
		wait := untilReset(time.Now())
		if e.Wait == nil || *e.Wait < wait {
			e.Wait = &wait
		}
	case e.Type == "FAILED_PRECONDITION" &&
		(strings.Contains(e.Message, "billing") || strings.Contains(e.Message, "location")):
		e.Class = fault.UserFixable
		e.Remedy =
			"set up billing for the key's project at https://aistudio.google.com/usage; the free tier isn't " +
				"available everywhere"
	case code == http.StatusUnauthorized:
		e.Remedy = "the key is missing or rejected; " + remedy
	case code == http.StatusForbidden:
		e.Remedy =
			"the key isn't allowed to do this: check its restrictions, that the Generative Language API is enabled " +
				"in its project, " +
				"and that it isn't blocked; or " + remedy
	case code == http.StatusPaymentRequired:
		e.Remedy = "set up billing for the key's project at https://aistudio.google.com/usage"
	}
}

// keyRefused reports whether another key may succeed. The API answers 400 to an unknown key.
func keyRefused(e *provider.Error) bool {
	return e.Status == http.StatusUnauthorized || e.Class == fault.UserFixable &&
		(e.Code == "API_KEY_INVALID" || strings.Contains(e.Message, "API key"))
}

// pacific is the time zone in which daily quotas are reset, at midnight. It has winter time all
// year, so in summer it is an hour late and never early. See
// https://ai.google.dev/gemini-api/docs/rate-limits.
var pacific = time.FixedZone("PST", -8*60*60)

// untilReset returns the time until the daily quotas are reset.
func untilReset(now time.Time) time.Duration {
	year, month, day := now.In(pacific).Date()
	return time.Date(year, month, day+1, 0, 0, 0, 0, pacific).Sub(now)
}
