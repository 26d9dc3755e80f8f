package bedrock

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

const remedy = "run aws sso login or aws configure, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"

// authorizer returns a function that signs requests, except those with an Authorization of the
// user.
func authorizer(credentials aws.CredentialsProvider, region string) func(*http.Request, []byte, string) ([]string,
	error) {
	signer := v4.NewSigner()
	return func(req *http.Request, body []byte, _ string) ([]string, error) {
		if req.Header.Get("Authorization") != "" {
			return nil, nil
		}
		ctx := req.Context()
		c, err := credentials.Retrieve(ctx)
		switch {
		case ctx.Err() != nil:
			return nil, adapter.Over(ctx)
		case err != nil:
			return nil, credentialsError(err)
		}
		sum := sha256.Sum256(body)
		if err := signer.SignHTTP(ctx, c, req, hex.EncodeToString(sum[:]), "bedrock", region, time.Now()); err != nil {
			return nil, &provider.Error{Class: fault.Permanent, Provider: Name, Message: "the request can't be signed"}
		}
		authorization := req.Header.Get("Authorization")
		_, signature, _ := strings.Cut(authorization, "Signature=")
		return []string{c.SecretAccessKey, c.SessionToken, authorization, signature}, nil
	}
}

// credentialsError returns the error of credentials that didn't come. It has nothing of err's text,
// which may contain what a command or a server has said.
func credentialsError(err error) error {
	e := &provider.Error{Class: fault.Of(err), Provider: Name, Message: "no AWS credentials"}
	var coded interface{ ErrorCode() string }
	if errors.As(err, &coded) {
		e.Code = coded.ErrorCode()
	}
	if !fault.Retryable(e.Class) {
		e.Class, e.Remedy = fault.UserFixable, remedy
	}
	return e
}

// exceptions are the classes of the API's exceptions whose status doesn't say enough, or that come
// within an answer.
var exceptions = map[string]fault.Class{
	"ThrottlingException":           fault.RateLimited,
	"TooManyRequestsException":      fault.RateLimited,
	"ServiceQuotaExceededException": fault.RateLimited,
	"ModelNotReadyException":        fault.Degraded,
	"ModelTimeoutException":         fault.Transient,
	"ModelErrorException":           fault.Transient,
	"ModelStreamErrorException":     fault.Transient,
	"InternalServerException":       fault.Degraded,
	"ServiceUnavailableException":   fault.Degraded,
	"ValidationException":           fault.Permanent,
	"ResourceNotFoundException":     fault.UserFixable,
	"AccessDeniedException":         fault.UserFixable,
	"ExpiredTokenException":         fault.UserFixable,
	"InvalidSignatureException":     fault.UserFixable,
	"UnrecognizedClientException":   fault.UserFixable,
}

// explain completes an error with what Bedrock says in other places than Anthropic.
func explain(e *provider.Error, h http.Header) {
	if name, _, _ := strings.Cut(h.Get("X-Amzn-Errortype"), ":"); name != "" {
		e.Type = name
	}
	if e.Type != "" && strings.HasSuffix(e.Type, "Exception") {
		e.Type = strings.ToUpper(e.Type[:1]) + e.Type[1:] // within an answer it begins with a small letter
	}
	if e.ContextLength != nil {
		return
	}
	if class, ok := exceptions[e.Type]; ok {
		e.Class = class
	}
	switch {
	case e.Class != fault.UserFixable:
		e.Remedy = ""
	case e.Type == "ResourceNotFoundException":
		e.Remedy =
			"use the id of a model that the region has; many models are called only by an inference profile, such as " +
				"us.anthropic.…"
	case e.Type == "ExpiredTokenException", e.Type == "InvalidSignatureException",
		e.Type == "UnrecognizedClientException", e.Status == http.StatusUnauthorized:
		e.Remedy = "the credentials were rejected: " + remedy + "; the clock of this machine must be right"
	default:
		e.Remedy =
			"allow the credentials bedrock:InvokeModelWithResponseStream for this model, and get access to the model " +
				"in the console of Amazon Bedrock"
	}
}
