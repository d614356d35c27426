package doctor

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"strings"
	"time"
)

// webhooks checks that the API server can call Muster: the configurations exist, the service has ready addresses, and the certificate that
// it serves is one that the configuration trusts.
func webhooks(f Installation) []Finding {
	found := make([]Finding, 0, len(f.Webhooks))
	for _, c := range f.Webhooks {
		found = append(found, f.configuration(c))
	}
	return found
}

func (f Installation) configuration(c Configuration) Finding {
	switch {
	case !c.Exists:
		return problem(c.Object, "does not exist: objects are neither defaulted nor validated", "install Muster again: docs/install.md")
	case len(c.Missing) > 0:
		return problem(c.Object, "lacks "+strings.Join(c.Missing, ", "), "install Muster again: docs/install.md")
	}
	where := map[string]bool{}
	var names []string
	for _, call := range c.Calls {
		if fact, action := f.call(call); fact != "" {
			return problem(c.Object, fact, action)
		}
		name := call.name()
		if !where[name] {
			names = append(names, name)
		}
		where[name] = true
	}
	ok := okay(c.Object, fmt.Sprintf("calls %s, webhooks: %d", strings.Join(names, ", "), len(c.Calls)))
	for _, call := range c.Calls {
		if s := f.Services[call.Service]; s.SecretError != "" {
			ok.Severity, ok.Fact, ok.Action = Unchecked, ok.Fact+"; its certificate was not read: "+s.SecretError,
				"run muster doctor as a user who may read the secret"
		}
	}
	return ok
}

func (c Call) name() string {
	if c.Service == "" {
		scheme, rest, _ := strings.Cut(c.URL, "://")
		host, _, _ := strings.Cut(rest, "/")
		return scheme + "://" + host
	}
	return "service " + c.Service
}

// call returns what keeps a call from being answered; empty if nothing is known to.
func (f Installation) call(c Call) (fact, action string) {
	if c.Service == "" {
		return "", ""
	}
	s := f.Services[c.Service]
	namespace, _, _ := strings.Cut(c.Service, "/")
	switch {
	case !s.Exists:
		return "calls service " + c.Service + ", which does not exist", "install Muster again: docs/install.md"
	case s.Ready == 0:
		return "calls service " + c.Service + ", which has no ready address: writes are refused",
			"kubectl -n " + namespace + " get pods, and read the log of the one that is not ready"
	case len(c.CABundle) == 0:
		return "has no caBundle for service " + c.Service, "read the manager's log: it writes the bundle once it has made the certificate"
	case s.SecretError != "":
		return "", ""
	case len(s.Certificate) == 0:
		return "secret " + s.Secret + " has no certificate", "read the manager's log: it makes the certificate"
	}
	if err := trusted(c.CABundle, s.Certificate, f.Now); err != "" {
		return fmt.Sprintf("caBundle does not trust the certificate in secret %s: %s", s.Secret, err),
			"delete the secret, so that the managers make a new one, or set the bundle of your own issuer"
	}
	return "", ""
}

// trusted explains why a bundle does not trust a certificate at a time; it returns an empty string if it does.
func trusted(bundle, certificate []byte, now time.Time) string {
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(bundle) {
		return "it holds no certificate"
	}
	block, rest := pem.Decode(certificate)
	if block == nil {
		return "tls.crt is no PEM"
	}
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return err.Error()
	}
	between := x509.NewCertPool()
	between.AppendCertsFromPEM(rest)
	_, err = leaf.Verify(x509.VerifyOptions{Roots: roots, Intermediates: between, CurrentTime: now,
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}})
	if err != nil {
		return err.Error()
	}
	return ""
}
