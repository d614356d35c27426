package ociidentity

import (
	"context"
	"crypto/x509"
	"net"
	"net/url"
	"regexp"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	"github.com/muster-project/muster/kube/infrapool/identity"
	"github.com/muster-project/muster/kube/infrapool/stored"
)

// keyCertificates is the key of a Secret under which the ecosystem has the certificate authorities of the services.
const keyCertificates = "cert"

// oracleHosts matches the hosts of the services that pools use, in the realms of oci-go-sdk v65.130.0. Any other host below these domains
// can be a customer's: Oracle hosts applications there.
var oracleHosts = regexp.MustCompile(`^(iaas|identity|containerengine)\.[a-z0-9-]+(\.ds)?(\.oci)?\.` +
	`(oraclecloud(8|9|10|14|15|20|21|23|24|26|29|35|42|51|52)?\.com|oraclegovcloud\.com|oraclegovcloud\.uk|oraclecloud\.eu)$`)

// destination holds the addresses that the signatures of a cluster's identity are sent to, as its tenant names them.
type destination struct {
	by      identity.Referrer
	from    *identity.Credentials
	cluster *ociv1.ClusterView
	// restriction is why signatures are sent to Oracle alone; empty if they may be sent elsewhere.
	restriction string
}

// check returns the certificate authorities of the services in PEM, or why the identity can't be used with these services.
func (d destination) check(ctx context.Context) (certificates string, err error) {
	overrides, e := d.overrides(), d.cluster.Endpoints
	for _, service := range []struct{ name, address string }{
		{"computeClientUrl", e.Compute}, {"computeManagementClientUrl", e.ComputeManagement},
		{"containerEngineClientUrl", e.ContainerEngine}, {"identityClientUrl", e.Identity}, {"workrequestClientUrl", e.WorkRequests},
	} {
		if err := d.allows(overrides+"."+service.name, service.address); err != nil {
			return "", err
		}
	}
	return d.certificates(ctx, overrides+".certOverride")
}

// allows returns an error unless signatures may be sent to an address, which is empty for the public one.
func (d destination) allows(field, address string) error {
	if address == "" || d.from.Listed(address) {
		return nil
	}
	at, err := url.Parse(address)
	if err != nil || !ofService(at) {
		return invalid("%s is %q: want an address such as https://iaas.us-phoenix-1.oraclecloud.com", field, address)
	}
	oracle := oracleHosts.MatchString(at.Hostname()) && (at.Port() == "" || at.Port() == "443")
	why := d.restriction
	if local(at.Hostname()) {
		why = "the address is of the controller's own machine"
	}
	if why == "" || oracle {
		return nil
	}
	return identity.Errorf(identity.ReasonNotAllowed, "%s is %q, which is not Oracle's: %s. Remove it, name an identity with a key in "+
		"namespace %s, or have the operator add the address to --%s", field, address, why, d.from.Namespace, identity.EndpointsFlag)
}

// ofService reports whether an address is that of a service: a host alone, reached by HTTPS.
func ofService(at *url.URL) bool {
	return at.Scheme == "https" && at.Hostname() != "" && at.User == nil && strings.Trim(at.Path, "/") == "" && at.RawQuery == "" &&
		at.Fragment == ""
}

// local reports whether a host is the controller's own machine, or one that only it reaches.
func local(host string) bool {
	host = strings.ToLower(strings.TrimRight(host, "."))
	text, _, _ := strings.Cut(host, "%") // the zone of an address
	ip := net.ParseIP(text)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") ||
		ip != nil && (ip.IsLoopback() || ip.IsLinkLocalUnicast() || ip.IsUnspecified())
}

// certificates reads the certificate authorities that the cluster names. A user who names the authorities decides who is Oracle: they are
// refused with credentials that are not the namespace's own.
func (d destination) certificates(ctx context.Context, field string) (string, error) {
	ref := d.cluster.CertificateRef
	if ref == nil {
		return "", nil
	}
	if d.restriction != "" {
		return "", identity.Errorf(identity.ReasonNotAllowed, "%s: %s. Remove it, or name an identity with a key in namespace %s", field,
			d.restriction, d.from.Namespace)
	}
	key := client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}
	if key.Name == "" {
		return "", invalid("%s.name is empty: want the name of a secret in namespace %s", field, key.Namespace)
	}
	secret, err := d.from.SecretFor(ctx, d.from.Namespace, field, key)
	if err != nil {
		return "", err
	}
	text := secret.Data[keyCertificates]
	if !x509.NewCertPool().AppendCertsFromPEM(text) {
		return "", invalid("%s: secret %s has no certificate in PEM under key %s", field, key, keyCertificates)
	}
	return string(text), nil
}

// overrides returns the field that names addresses and certificates, for messages. OCIManagedCluster has another name for it than
// OCICluster. It is among the stored values once the infrastructure cluster is gone.
func (d destination) overrides() string {
	is := d.by.InfraCluster
	if is == nil {
		return "metadata.annotations[" + stored.Annotation + "]: clientOverrides"
	}
	field := ": spec.clientOverrides"
	if is.GetKind() == ociv1.ManagedClusterKind {
		field = ": spec.hostUrl"
	}
	return is.GetKind() + " " + is.GetNamespace() + "/" + is.GetName() + field
}
