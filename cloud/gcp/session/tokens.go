package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/wire"
)

const (
	// scope is the OAuth scope of tokens. The roles of the account decide what they may do.
	scope = "https://www.googleapis.com/auth/cloud-platform"
	// fileVariable names the file with the controller's own credentials.
	fileVariable = "GOOGLE_APPLICATION_CREDENTIALS"
	// quotaVariable names the project whose quota requests count against.
	quotaVariable = "GOOGLE_CLOUD_QUOTA_PROJECT"
	// statedFor is the validity of the stand-in token that goes over plain HTTP.
	statedFor = time.Hour
)

// tokens are the tokens of one credentials. A source is made when it is first needed, and again after it was refused: a file with
// credentials may hold others by then.
type tokens struct {
	// hash is that of the credentials.
	hash string
	make func() (oauth2.TokenSource, error)
	// quota is the project whose quota requests count against; empty for the session's project.
	quota string

	mu   sync.Mutex
	made oauth2.TokenSource
}

// token returns a token that is valid for a while.
func (t *tokens) token() (*oauth2.Token, error) {
	t.mu.Lock()
	if t.made == nil {
		made, err := t.make()
		if err != nil {
			t.mu.Unlock()
			return nil, &tokenError{err: err}
		}
		t.made = oauth2.ReuseTokenSource(nil, made)
	}
	source := t.made
	t.mu.Unlock()
	token, err := source.Token()
	if err != nil {
		t.forget(source)
		return nil, &tokenError{err: err}
	}
	return token, nil
}

// refused forgets a token that a service has refused.
func (t *tokens) refused() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.made = nil
}

// forget drops a source that failed, unless another was made since.
func (t *tokens) forget(source oauth2.TokenSource) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.made == source {
		t.made = nil
	}
}

// tokenError is the error of a request that there was no token for.
type tokenError struct{ err error }

// Error is the text of the error within.
func (e *tokenError) Error() string { return e.err.Error() }

// Unwrap gives the error within.
func (e *tokenError) Unwrap() error { return e.err }

// tokensOf returns the tokens of credentials, which all projects share. Credentials that were rotated replace those of their name. The lock
// is held.
func (s *Sessions) tokensOf(where bases, c Credentials) *tokens {
	inClear := isPlainHTTP(where.compute) || isPlainHTTP(where.container)
	key := fmt.Sprint(inClear) + "\n" + c.Name
	if found, ok := s.tokens[key]; ok && found.hash == c.JSON.Hash() {
		return found
	}
	made := &tokens{hash: c.JSON.Hash(), quota: quotaOf(c), make: func() (oauth2.TokenSource, error) { return s.source(c, inClear) }}
	s.tokens[key] = made
	return made
}

// quotaOf returns the project whose quota the credentials say that requests count against.
func quotaOf(c Credentials) string {
	if project := readDocument([]byte(c.JSON.Expose())).QuotaProject; project != "" || !c.JSON.Empty() {
		return project
	}
	if project := os.Getenv(quotaVariable); project != "" {
		return project
	}
	data, _ := os.ReadFile(os.Getenv(fileVariable)) // Without a file there is no project: its absence is reported when a token is due.
	return readDocument(data).QuotaProject
}

// source makes the source of the tokens of credentials. Where requests can be read on their way, no real token is sent: a service account
// whose tokens come from this machine gets them, all others say in clear who they are.
func (s *Sessions) source(c Credentials, inClear bool) (oauth2.TokenSource, error) {
	if s.options.Tokens != nil {
		return s.options.Tokens(c)
	}
	data := []byte(c.JSON.Expose())
	if c.JSON.Empty() {
		data, _ = os.ReadFile(os.Getenv(fileVariable)) // The library reports a file that can't be read.
	}
	is := readDocument(data)
	if inClear && !is.local() {
		return stated{name: c.name(), now: s.options.Now}, nil
	}
	send := &tokenSender{to: s.transport, loopback: c.JSON.Empty() || s.simulated()}
	ctx := context.WithValue(context.Background(), oauth2.HTTPClient, &http.Client{Transport: send})
	if c.JSON.Empty() {
		found, err := google.FindDefaultCredentials(ctx, scope)
		if err != nil {
			return nil, noCredentials("no usable credentials were found: name a Secret with credentials in spec.credentialsRef of the cluster, " +
				"or set " + fileVariable + " for the controller")
		}
		return found.TokenSource, nil
	}
	if err := is.check(s.simulated()); err != nil {
		return nil, noCredentials(fmt.Sprintf("the credentials of %s can't be used: %v", c.name(), err))
	}
	found, err := google.CredentialsFromJSONWithType(ctx, data, google.CredentialsType(is.Type), scope)
	if err != nil {
		// The library's words may repeat what could not be read.
		return nil, noCredentials(fmt.Sprintf("the credentials of %s can't be used: the document of type %q is not complete", c.name(), is.Type))
	}
	return found.TokenSource, nil
}

func noCredentials(message string) *cloud.Error {
	return &cloud.Error{Kind: cloud.Denied, Op: opToken, Code: cloud.CodeNoCredentials, Message: message}
}

// document holds the fields that are read of a credentials file.
type document struct {
	Type          string    `json:"type"`
	TokenURI      string    `json:"token_uri"`
	TokenURL      string    `json:"token_url"`
	Impersonation string    `json:"service_account_impersonation_url"`
	QuotaProject  string    `json:"quota_project_id"`
	Source        *document `json:"source_credentials"`
	From          struct {
		Executable any    `json:"executable"`
		URL        string `json:"url"`
		RegionURL  string `json:"region_url"`
		SessionURL string `json:"imdsv2_session_token_url"`
	} `json:"credential_source"`
}

func readDocument(data []byte) document {
	var is document
	_ = json.Unmarshal(data, &is) // What is no document has no type, which check reports.
	return is
}

// namedAddress is an address that a document names, with its field.
type namedAddress struct{ field, url string }

// services are the addresses that a document names for tokens.
func (d document) services() []namedAddress {
	all := []namedAddress{{"token_uri", d.TokenURI}, {"token_url", d.TokenURL}, {"service_account_impersonation_url", d.Impersonation}}
	return slices.DeleteFunc(all, func(a namedAddress) bool { return a.url == "" })
}

// local reports whether tokens come from this machine.
func (d document) local() bool {
	named := d.services()
	elsewhere := slices.ContainsFunc(named, func(a namedAddress) bool { return !onLoopback(a.url) })
	return len(named) > 0 && !elsewhere && (d.Source == nil || d.Source.local())
}

// documentTypes are the types of documents that a cluster may name.
var documentTypes = map[string]bool{
	string(google.ServiceAccount): true, string(google.AuthorizedUser): true, string(google.ExternalAccount): true,
	string(google.ImpersonatedServiceAccount): true, string(google.ExternalAccountAuthorizedUser): true,
}

// check returns why a document that came with a cluster is not used. Its author must not be able to lead the controller's surroundings
// elsewhere than to Google, nor the controller to what listens on its own machine, unless Google's services are simulated there.
func (d document) check(simulated bool) error {
	switch {
	case d.Type == "":
		return errors.New("it is no JSON object with a type")
	case !documentTypes[d.Type]:
		return fmt.Errorf("type %q is not supported: want service_account, external_account or impersonated_service_account", d.Type)
	case d.From.Executable != nil:
		return errors.New("credential_source.executable would run a program in the controller: want a file or a URL")
	}
	if err := d.checkAddresses(simulated); err != nil || d.Source == nil {
		return err
	}
	return d.Source.check(simulated)
}

// checkAddresses is check for the addresses that a document names.
func (d document) checkAddresses(simulated bool) error {
	for _, a := range d.services() {
		if !ofGoogle(a.url) && (!simulated || !onLoopback(a.url)) {
			return fmt.Errorf("%s %q is no address of Google's: want https below %s", a.field, a.url, universe)
		}
	}
	for _, a := range []namedAddress{{"url", d.From.URL}, {"region_url", d.From.RegionURL}, {"imdsv2_session_token_url", d.From.SessionURL}} {
		if !simulated && onLoopback(a.url) {
			return fmt.Errorf("credential_source.%s %q is an address of the controller's own machine: want a file, or an address of another machine",
				a.field, a.url)
		}
	}
	return nil
}

// ofGoogle reports whether an address is one of Google's.
func ofGoogle(address string) bool {
	at, err := url.Parse(address)
	return err == nil && at.Scheme == "https" && (at.Hostname() == universe || strings.HasSuffix(at.Hostname(), "."+universe))
}

// stated is a credential for addresses with plain HTTP, where any listener could read a token: it sends the name of the credentials in
// clear.
type stated struct {
	name string
	now  func() time.Time
}

// Token gives what is no token anywhere else.
func (s stated) Token() (*oauth2.Token, error) {
	return &oauth2.Token{AccessToken: "simulated:" + s.name, TokenType: "Bearer", Expiry: s.now().Add(statedFor)}, nil
}

// tokenSender hands requests for tokens to the transport.
type tokenSender struct {
	to *wire.Transport
	// loopback allows addresses of the machine itself.
	loopback bool
}

// RoundTrip sends one request, also one that follows a redirect. Addresses of the machine itself and of its cloud's metadata are the only
// ones that are asked in clear.
func (s *tokenSender) RoundTrip(req *http.Request) (*http.Response, error) {
	host := req.URL.Hostname()
	if here := cloud.Loopback(host); here && !s.loopback || !here && req.URL.Scheme != "https" && !net.ParseIP(host).IsLinkLocalUnicast() {
		return nil, astray(req)
	}
	return s.to.RoundTrip(req.WithContext(wire.WithCall(req.Context(),
		wire.Call{Service: serviceLogin, Operation: "GetToken", ReadOnly: true})))
}
