package vertex

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// toGemini converts a request of the package gemini.
func toGemini(_, path string, body []byte) (string, []byte, error) {
	path = "publishers/google/" + (&url.URL{Path: path}).EscapedPath()
	if !strings.HasSuffix(path, ":countTokens") {
		return path, body, nil
	}
	var whole struct {
		Request struct { // of this, Vertex AI accepts these fields
			Contents json.RawMessage `json:"contents"`
			System   json.RawMessage `json:"systemInstruction,omitempty"`
			Tools    json.RawMessage `json:"tools,omitempty"`
			Config   json.RawMessage `json:"generationConfig,omitempty"`
		} `json:"generateContentRequest"`
	}
	if err := json.Unmarshal(body, &whole); err != nil {
		return "", nil, fault.Errorf(fault.Permanent, "vertex: the request can't be decoded: %w", err)
	}
	body, err := adapter.Encode(whole.Request)
	return path, body, err
}

// toClaude converts a request of the package anthropic: the address has the model, and the body the
// version of the API.
func toClaude(model, path string, body []byte) (string, []byte, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return "", nil, fault.Errorf(fault.Permanent, "vertex: the request can't be decoded: %w", err)
	}
	if fields["anthropic_version"] == nil {
		fields["anthropic_version"] = json.RawMessage(`"vertex-2023-10-16"`)
	}
	where := "count-tokens:rawPredict"
	if !strings.HasSuffix(path, "/count_tokens") {
		delete(fields, "model")
		where = url.PathEscape(model) + ":streamRawPredict"
	}
	body, err := adapter.Encode(fields)
	return "publishers/anthropic/models/" + where, body, err
}

// authorize sets the token of a request.
func authorize(req *http.Request, _ []byte, token string) ([]string, error) {
	if req.Header.Get("Authorization") == "" { // else it is the user's
		req.Header.Set("Authorization", "Bearer "+token)
	}
	return nil, nil
}

const remedy = "run gcloud auth application-default login, or set GOOGLE_APPLICATION_CREDENTIALS to the file of a " +
	"service account's key"

// explain replaces the remedies of the packages gemini and anthropic, which are about API keys.
func explain(e *provider.Error, _ http.Header) {
	switch {
	case e.Class != fault.UserFixable || e.ContextLength != nil:
	case e.Status == http.StatusUnauthorized:
		e.Remedy = "the access token was rejected: " + remedy
	case e.Status == http.StatusForbidden:
		e.Remedy =
			"give the account the role Vertex AI User (roles/aiplatform.user) in the project, enable the Vertex AI " +
				"API (aiplatform.googleapis.com) " +
				"there, and, for Claude, enable the model in Model Garden"
	default:
		e.Remedy = "check the billing and the quotas of the project in the Google Cloud console"
	}
}
