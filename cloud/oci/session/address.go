package session

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/oracle/oci-go-sdk/v65/common"

	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	"github.com/muster-project/muster/cloud"
)

// The names under which calls of the services are counted, and the versions of their operations.
const (
	ServiceCore   = "core"
	ServiceEngine = "containerengine"
	ServiceWork   = "workrequests"

	coreVersion   = "20160918"
	engineVersion = "20180222"
)

// The public addresses of the services.
const (
	publicCore   = "https://iaas.{region}.{secondLevelDomain}"
	publicEngine = "https://containerengine.{region}.oci.{secondLevelDomain}"
	publicAuth   = "https://auth.{region}.{secondLevelDomain}"
)

// addresses are those of the services of a session, without a path. A service more is a field here, a row in addressesOf and a client in
// Sessions.build.
type addresses struct{ computeManagement, containerEngine, workRequests string }

// String identifies them.
func (a addresses) String() string {
	return a.computeManagement + " " + a.containerEngine + " " + a.workRequests
}

// regions match the name of a region, which becomes a part of the name of a host.
var regions = regexp.MustCompile(`^[a-z]{2,}(-[a-z0-9]+)+$`)

func checkRegion(region string) error {
	switch {
	case region == "":
		return cloud.Invalidf("spec.region",
			"neither the infrastructure cluster nor its identity names a region: set spec.region of the cluster, "+
				"for example to us-phoenix-1")
	case !regions.MatchString(region):
		return cloud.Invalidf("spec.region", "the infrastructure cluster or its identity names the region %q, which is none: want one like "+
			"us-phoenix-1", region)
	}
	return nil
}

// addressesOf returns where the services are: the addresses of the cluster, or else the controller's setting, or else Oracle's.
func (s *Sessions) addressesOf(region string, own ociv1.Endpoints) (out addresses, err error) {
	for _, one := range []struct {
		field, address, public string
		to                     *string
	}{
		{"computeManagementClientUrl", own.ComputeManagement, publicCore, &out.computeManagement},
		{"containerEngineClientUrl", own.ContainerEngine, publicEngine, &out.containerEngine},
		{"workrequestClientUrl", own.WorkRequests, publicCore, &out.workRequests},
	} {
		switch {
		case one.address != "":
			if err := s.checkOverride(one.field, one.address); err != nil {
				return out, err
			}
			*one.to = strings.TrimRight(one.address, "/")
		case s.options.Endpoint != "":
			*one.to = s.options.Endpoint
		default:
			*one.to = common.StringToRegion(region).EndpointForTemplate("", one.public)
		}
	}
	return out, nil
}

// checkOverride returns an error for an address of a cluster that is not used. A tenant must not reach what listens on the controller's own
// machine, unless Oracle Cloud is simulated there.
func (s *Sessions) checkOverride(field, address string) error {
	field = "spec.clientOverrides." + field
	if err := usable(address); err != nil {
		return cloud.Invalidf(field, "%v", err)
	}
	if onLoopback(address) && !onLoopback(s.options.Endpoint) {
		return cloud.Invalidf(field, "%q is an address of the controller's own machine, where no service of Oracle Cloud is: want one like "+
			"https://iaas.us-phoenix-1.oraclecloud.com", address)
	}
	return nil
}

// usable returns what is wrong with the address of a service; an empty one is right. Plain HTTP is for simulators on the same machine.
func usable(address string) error {
	if address == "" {
		return nil
	}
	at, err := url.Parse(address)
	switch {
	case err != nil || at.Host == "" || at.User != nil || strings.Trim(at.Path, "/") != "" || at.RawQuery != "" || at.Fragment != "":
		return fmt.Errorf("%q is no address of a service: want one like https://iaas.us-phoenix-1.oraclecloud.com", address)
	case at.Scheme == "https", at.Scheme == "http" && cloud.Loopback(at.Hostname()):
		return nil
	}
	return fmt.Errorf("%q is plain HTTP, where a token could be read on its way: want https, or http on a loopback address", address)
}

// onLoopback reports whether an address is one of this machine.
func onLoopback(address string) bool {
	at, err := url.Parse(address)
	return err == nil && address != "" && cloud.Loopback(at.Hostname())
}

// trusting returns a transport that trusts the certificate authorities of a cluster's clientOverrides, and no other.
func trusting(certificates string) (http.RoundTripper, error) {
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM([]byte(certificates)) {
		return nil, cloud.Invalidf("spec.clientOverrides.certOverride", "the Secret holds no certificate in PEM under its key cert")
	}
	standard, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return nil, fmt.Errorf("oci driver: the standard transport was replaced by a %T", http.DefaultTransport)
	}
	base := standard.Clone()
	base.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	return base, nil
}

// digest identifies a text; empty for the empty one.
func digest(text string) string {
	if text == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
