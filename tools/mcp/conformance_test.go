package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/mcp"
)

// conformance returns the command of the protocol's own tool, without its arguments. It needs Node
// 22, which comes with it.
func conformance(t *testing.T) []string {
	t.Helper()
	modules, err := filepath.Abs(filepath.Join("..", "..", "internal", "stock", "node_modules"))
	require.NoError(t, err)
	program := filepath.Join(modules, "@modelcontextprotocol", "conformance", "dist", "index.js")
	node := filepath.Join(modules, "node", "bin", "node")
	if _, err := os.Stat(program); err != nil {
		t.Skip("the conformance tool isn't installed: npm --prefix internal/stock ci")
	}
	if exec.Command(node, "--version").Run() != nil {
		t.Skip("the conformance tool needs Node 22, which npm has not installed")
	}
	return []string{node, program}
}

// conform is the client that the tool starts: an agent that makes the calls that the scenario asks
// for, else calls each tool of a server once, answers its questions, and signs in where it has to.
func conform(url string) error {
	schemas := map[string]any{} // of the tools, as the server has sent them
	cfg := mcp.Config{Name: "c", URL: url, Trusted: true, Adjust: func(t *sdk.Tool, _ *tools.Spec) {
		schemas[t.Name] = t.InputSchema
	}}
	if strings.HasPrefix(os.Getenv(scenarioEnv), "auth/") {
		cfg.SignIn = &mcp.SignIn{Handler: conformingHandler}
	}
	s, err := mcp.New(cfg)
	if err != nil {
		return err
	}
	defer s.Close()
	found, err := s.List(context.Background())
	if err != nil {
		return err
	}
	if len(found) == 1 && found[0].(*tools.Definition).Name() == "c.connect" {
		if err := conformingRun(s, []providertest.Step{providertest.Call("c.connect", object{})}); err != nil {
			return err
		}
		if found, err = s.List(context.Background()); err != nil {
			return err
		}
	}
	calls, err := wanted()
	if err != nil {
		return err
	}
	for _, t := range found {
		if d := t.(*tools.Definition); len(calls) == 0 || os.Getenv(contextEnv) == "" {
			input, err := sample(d.Tool().Schema)
			if err != nil {
				return err
			}
			if d.Name() == "c.json_schema_echo" {
				input = object{"schema": schemas["json_schema_2020_12_tool"]}
			}
			call := providertest.Call(d.Name(), input)
			if d.Name() == "c.json_schema_2020_12_tool" { // it is there for its schema, which a sample doesn't fit
				call = providertest.Unfit(call)
			}
			calls = append(calls, call)
		}
	}
	return conformingRun(s, calls)
}

// conformingRun makes calls, and answers what they wait for.
func conformingRun(s *mcp.Server, calls []providertest.Step) error {
	ctx := context.Background()
	a, err := agent.New(agent.Config{Provider: providertest.Script(append(calls, providertest.Say("Done."))...),
		Sources: []tools.Source{s}})
	if err != nil {
		return err
	}
	var in agent.Work = agent.Input{Session: "s", Prompt: "Call all."}
	for range 20 {
		res, err := a.Run(ctx, in)
		if paused := (*agent.PausedError)(nil); !errors.As(err, &paused) || !paused.Started {
			return err
		}
		var decisions []agent.Decision
		for _, p := range res.Pending {
			switch p.Kind {
			case agent.PauseApproval:
				decisions = append(decisions, agent.Approve(p.ID))
				continue
			case "sign_in":
				_, address, _ := strings.Cut(p.Reason, ": ")
				if err := visit(s, address); err != nil {
					return err
				}
				decisions = append(decisions, agent.Answer(p.ID, struct{}{}))
				continue
			}
			value, err := defaults(p.Schema)
			if err != nil {
				return err
			}
			decisions = append(decisions, agent.Answer(p.ID, value))
		}
		in = agent.Resume("s", decisions...)
	}
	return errors.New("the server asks without an end")
}

// conformingHandler returns the SDK's handler, as the tool expects it.
func conformingHandler(_ string, fetch auth.AuthorizationCodeFetcher) (auth.OAuthHandler, error) {
	const callback = "http://localhost:3000/callback"
	cfg := &auth.AuthorizationCodeHandlerConfig{RedirectURL: callback, AuthorizationCodeFetcher: fetch,
		ClientIDMetadataDocumentConfig: &auth.ClientIDMetadataDocumentConfig{
			URL: "https://conformance-test.local/client-metadata.json"},
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{
			Metadata: &oauthex.ClientRegistrationMetadata{RedirectURIs: []string{callback}}}}
	var client struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
	}
	if text := os.Getenv(contextEnv); text != "" {
		if err := json.Unmarshal([]byte(text), &client); err != nil {
			return nil, err
		}
	}
	if client.ID != "" {
		cfg.PreregisteredClient = &oauthex.ClientCredentials{ClientID: client.ID,
			ClientSecretAuth: &oauthex.ClientSecretAuth{ClientSecret: client.Secret}}
	}
	return auth.NewAuthorizationCodeHandler(cfg)
}

// visit signs in at an address that redirects at once, and passes on what comes with the redirect.
func visit(s *mcp.Server, address string) error {
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	browser := &http.Client{CheckRedirect: stay}
	res, err := browser.Get(address)
	if err != nil {
		return err
	}
	_ = res.Body.Close()
	back, err := res.Location()
	if err != nil {
		return err
	}
	q := back.Query()
	return s.SignedIn("", mcp.SignedIn{Code: q.Get("code"), State: q.Get("state"), Issuer: q.Get("iss")})
}

// contextEnv has what a scenario wants to be done, as JSON.
const contextEnv = "MCP_CONFORMANCE_CONTEXT"

const scenarioEnv = "MCP_CONFORMANCE_SCENARIO"

// wanted returns the calls that the scenario asks for, if it does.
func wanted() (calls []providertest.Step, err error) {
	var scenario struct {
		Calls []struct {
			Name      string `json:"name"`
			Arguments object `json:"arguments"`
		} `json:"toolCalls"`
	}
	if text := os.Getenv(contextEnv); text != "" {
		err = json.Unmarshal([]byte(text), &scenario)
	}
	for _, c := range scenario.Calls {
		calls = append(calls, providertest.Call("c."+c.Name, c.Arguments))
	}
	return calls, err
}

// sample returns an input that fits a schema.
func sample(schema json.RawMessage) (object, error) {
	var form struct {
		Properties map[string]struct {
			Type string `json:"type"`
		} `json:"properties"`
		Required []string `json:"required"`
	}
	if err := json.Unmarshal(schema, &form); err != nil {
		return nil, err
	}
	out := object{}
	for _, name := range form.Required {
		switch form.Properties[name].Type {
		case "number", "integer":
			out[name] = 5
		case "boolean":
			out[name] = true
		default:
			out[name] = "x"
		}
	}
	return out, nil
}

// defaults returns the answer of somebody who leaves a form as it is.
func defaults(schema json.RawMessage) (object, error) {
	var form struct {
		Properties map[string]struct {
			Type    string `json:"type"`
			Default any    `json:"default"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(schema, &form); err != nil {
		return nil, err
	}
	out := object{}
	for name, p := range form.Properties {
		switch {
		case p.Default != nil:
			out[name] = p.Default
		case p.Type == "boolean":
			out[name] = true
		default:
			return nil, errors.New("the field " + name + " has no default")
		}
	}
	return out, nil
}

// scenarios are those of the protocol's own tool for clients, with the versions of the protocol,
// without its extensions. docs/mcp.md has their results.
var scenarios = []struct{ name, versions string }{
	{"initialize", "2025-11-25"},
	{"tools_call", "2025-11-25 2026-07-28"},
	{"elicitation-sep1034-client-defaults", "2025-11-25"},
	{"sse-retry", "2025-11-25"},
	{"request-metadata", "2026-07-28"},
	{"auth/metadata-default", "2025-11-25 2026-07-28"},
	{"auth/metadata-var1", "2025-11-25 2026-07-28"},
	{"auth/metadata-var2", "2025-11-25 2026-07-28"},
	{"auth/metadata-var3", "2025-11-25 2026-07-28"},
	{"auth/basic-cimd", "2025-11-25 2026-07-28"},
	{"auth/scope-from-www-authenticate", "2025-11-25 2026-07-28"},
	{"auth/scope-from-scopes-supported", "2025-11-25 2026-07-28"},
	{"auth/scope-omitted-when-undefined", "2025-11-25 2026-07-28"},
	{"auth/scope-step-up", "2025-11-25 2026-07-28"},
	{"auth/scope-retry-limit", "2025-11-25 2026-07-28"},
	{"auth/token-endpoint-auth-basic", "2025-11-25 2026-07-28"},
	{"auth/token-endpoint-auth-post", "2025-11-25 2026-07-28"},
	{"auth/token-endpoint-auth-none", "2025-11-25 2026-07-28"},
	{"auth/pre-registration", "2025-11-25 2026-07-28"},
	{"auth/2025-03-26-oauth-metadata-backcompat", "2025-03-26"},
	{"auth/2025-03-26-oauth-endpoint-fallback", "2025-03-26"},
	{"auth/resource-mismatch", "2026-07-28"},
	{"auth/offline-access-scope", "2026-07-28"},
	{"auth/offline-access-not-supported", "2026-07-28"},
	{"auth/authorization-server-migration", "2026-07-28"},
	{"auth/iss-supported", "2026-07-28"},
	{"auth/iss-not-advertised", "2026-07-28"},
	{"auth/iss-supported-missing", "2026-07-28"},
	{"auth/iss-wrong-issuer", "2026-07-28"},
	{"auth/iss-unexpected", "2026-07-28"},
	{"auth/iss-normalized", "2026-07-28"},
	{"auth/metadata-issuer-mismatch", "2026-07-28"},
	{"sep-2322-client-request-state", "2026-07-28"},
	{"http-standard-headers", "2026-07-28"},
	{"http-custom-headers", "2026-07-28"},
	{"http-invalid-tool-headers", "2026-07-28"},
	{"json-schema-ref-no-deref", "2026-07-28"},
	{"json-schema-2020-12-preservation", "2025-11-25 2026-07-28"},
}

var every = flag.Int("every", 5, "of so many scenarios, pairs and calls, one is run; 1 runs all")

// One check fails on purpose: it wants a question within a call to be accepted at once. A person
// may take days, so the server is told that the question was dismissed, and the call is made again
// with the answer, which the other checks of that scenario see.
func TestTheClientConforms(t *testing.T) {
	command := conformance(t)
	n := 0
	for _, s := range scenarios {
		for version := range strings.FieldsSeq(s.versions) {
			if n++; *every != 1 && n%(2**every) != 1 { // each takes seconds
				continue
			}
			t.Run(s.name+" of "+version, func(t *testing.T) {
				t.Parallel()
				args := append(command[1:len(command):len(command)], "client", "--command", os.Args[0],
					"--scenario", s.name, "--spec-version", version, "--timeout", "20000", "-o", t.TempDir())
				cmd := exec.Command(command[0], args...) //nolint:gosec // of this repository
				cmd.Env = append(os.Environ(), childEnv+"=conformance")
				out, err := cmd.CombinedOutput()
				if s.name == "elicitation-sep1034-client-defaults" {
					require.Contains(t, string(out), "Passed: 5/6, 1 failed", "%s", out)
					require.Contains(t, string(out), "Expected action 'accept', got 'cancel'", "%s", out)
					return
				}
				require.NoError(t, err, "%s", out)
				require.NotContains(t, string(out), "FAILURE")
			})
		}
	}
}
