package gcpidentity

import (
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"strings"
)

// The types of credentials that Google's tools write.
const (
	serviceAccount      = "service_account"
	authorizedUser      = "authorized_user"
	externalAccount     = "external_account"
	impersonatedAccount = "impersonated_service_account"
)

// googleDomain ends the names of the hosts that credentials of a controller's file may be sent to.
const googleDomain = ".googleapis.com"

// document holds the fields of a credentials file that are read.
type document struct {
	Type             string    `json:"type"`
	ClientEmail      string    `json:"client_email"`
	PrivateKey       string    `json:"private_key"`
	TokenURL         string    `json:"token_url"`
	TokenInfoURL     string    `json:"token_info_url"`
	ImpersonationURL string    `json:"service_account_impersonation_url"`
	Source           *document `json:"source_credentials"`
	CredentialSource struct {
		Executable json.RawMessage `json:"executable"`
	} `json:"credential_source"`
}

// check returns what is wrong with credentials; empty if they can be used. It shows nothing of them but names of types and hosts.
func check(text string) string {
	var d document
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		return "want the JSON that Google's tools write for an account, found something else"
	}
	return d.problem()
}

// borrows reports whether credentials that check has accepted take what they prove from the controller's surroundings: its files, or
// addresses that it reaches. Who writes them need not own that.
func borrows(text string) bool {
	var d document
	err := json.Unmarshal([]byte(text), &d)
	for is := &d; is != nil; is = is.Source {
		if err != nil || is.Type == externalAccount {
			return true
		}
	}
	return false
}

func (d *document) problem() string {
	switch d.Type {
	case serviceAccount:
		if d.ClientEmail == "" || d.PrivateKey == "" {
			return "client_email or private_key is empty: want the key of a service account"
		}
		return ""
	case authorizedUser:
		return ""
	case externalAccount:
		return d.externalProblem()
	case impersonatedAccount:
		if problem := google("service_account_impersonation_url", d.ImpersonationURL); problem != "" || d.Source == nil {
			return problem
		}
		return d.Source.problem()
	}
	return fmt.Sprintf("type is %q: want %s, %s, %s or %s", d.Type, serviceAccount, externalAccount, impersonatedAccount, authorizedUser)
}

// externalProblem is problem for an external account. Its document says what the controller reads or runs for a token, and where it sends
// that: it runs nothing, and sends it to Google alone.
func (d *document) externalProblem() string {
	if d.CredentialSource.Executable != nil {
		return "credential_source.executable: the controller runs no programs; use a file or a URL"
	}
	for _, u := range []struct{ name, value string }{
		{"token_url", d.TokenURL}, {"token_info_url", d.TokenInfoURL}, {"service_account_impersonation_url", d.ImpersonationURL},
	} {
		if u.value == "" && u.name != "token_url" {
			continue
		}
		if problem := google(u.name, u.value); problem != "" {
			return problem
		}
	}
	return ""
}

// google returns what is wrong with an address that must be one of Google's.
func google(name, address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.User != nil || !strings.HasSuffix(u.Hostname(), googleDomain) {
		return name + ": want an https address of " + strings.TrimPrefix(googleDomain, ".")
	}
	return ""
}

// local reports whether an address is one of this machine, where tests and the local world have their services.
func local(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}
