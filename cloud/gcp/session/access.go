package session

import (
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/muster-project/muster/api/common"
	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/cloud"
)

const (
	// EndpointVariable names the environment variable with an address that replaces those of all Google services.
	EndpointVariable = "MUSTER_GCP_ENDPOINT"
	// ProjectVariable names the project of clusters that name none.
	ProjectVariable = "GOOGLE_CLOUD_PROJECT"
	// computePath is the base path of Compute Engine's API.
	computePath = "/compute/v1/"
	// universe is the domain of Google's own services.
	universe = "googleapis.com"
)

// Access holds the credentials and endpoints for the services of a project.
type Access struct {
	// Project is the ID of the project; empty for that of the controller's environment.
	Project string
	// Credentials authorize the requests.
	Credentials Credentials
	// Compute and Container replace the addresses of Compute Engine and GKE; empty for the default.
	Compute, Container string
}

// AccessOf returns how the project of a cluster is reached.
func AccessOf(cluster gcpv1.ClusterView) Access {
	out := Access{Project: cluster.Project, Compute: cluster.Endpoints.Compute, Container: cluster.Endpoints.Container}
	if cluster.Identity != nil {
		out.Credentials = Credentials{Name: cluster.Identity.Name, JSON: cluster.Identity.Credentials}
	}
	return out
}

// Credentials are a document of Google's: a service account's key, an external account, or an impersonated service account. The zero
// Credentials are the controller's own (application default credentials).
type Credentials struct {
	// Name identifies them in messages: the namespace and name of the Secret that holds them.
	Name string
	// JSON is the document.
	JSON common.Secret
}

// name returns the name of the credentials in messages.
func (c Credentials) name() string {
	if c.Name == "" {
		return "controller"
	}
	return c.Name
}

// project returns the ID of the session's project.
func (a Access) project() (string, error) {
	for _, id := range []string{a.Project, os.Getenv(ProjectVariable)} {
		if id != "" {
			return id, nil
		}
	}
	return "", cloud.Invalidf("spec.project",
		"the infrastructure cluster names no project and the controller's settings have none: set spec.project of the cluster")
}

// bases are the addresses of the services, each with a slash at its end.
type bases struct{ compute, container string }

// basesOf returns where the services of an Access are: what the cluster says, then the controller's setting, then Google's.
func (s *Sessions) basesOf(a Access) (bases, error) {
	b := bases{compute: "https://compute." + universe + computePath, container: "https://container." + universe + "/"}
	if s.options.Endpoint != "" {
		b = bases{compute: s.options.Endpoint + computePath, container: s.options.Endpoint + "/"}
	}
	for _, own := range []struct {
		address, field string
		to             *string
		path           string
	}{
		{a.Compute, "spec.serviceEndpoints.compute", &b.compute, computePath},
		{a.Container, "spec.serviceEndpoints.container", &b.container, "/"},
	} {
		if own.address == "" {
			continue
		}
		if err := usable(own.address); err != nil {
			return b, cloud.Invalidf(own.field, "%v", err)
		}
		if onLoopback(own.address) && !s.simulated() {
			return b, cloud.Invalidf(own.field, "%q is an address of the controller's own machine, where no service of Google's is: want one like "+
				"https://compute.%s",
				own.address, universe)
		}
		*own.to = withPath(own.address, own.path)
	}
	return b, nil
}

// withPath returns an address whose API begins at the path: an address that has a path of its own is taken as it is.
func withPath(address, path string) string {
	at, err := url.Parse(address)
	if err == nil && strings.Trim(at.Path, "/") == "" {
		return strings.TrimRight(address, "/") + path
	}
	return strings.TrimRight(address, "/") + "/"
}

// usable returns what is wrong with the address of a service; an empty one is right.
func usable(address string) error {
	if address == "" {
		return nil
	}
	at, err := url.Parse(address)
	switch {
	case err != nil || at.Host == "" || at.Scheme != "https" && at.Scheme != "http" || at.User != nil || at.RawQuery != "" ||
		at.Fragment != "":
		return fmt.Errorf("%q is no address of a service: want one like https://compute.%s", address, universe)
	case at.Scheme == "http" && !cloud.Loopback(at.Hostname()):
		return fmt.Errorf("%q is plain HTTP, where a token could be read on its way: want https, or http on a loopback address", address)
	}
	return nil
}

// onLoopback reports whether an address is one of this machine.
func onLoopback(address string) bool {
	at, err := url.Parse(address)
	return err == nil && address != "" && cloud.Loopback(at.Hostname())
}

// simulated reports whether Google's services are simulated on this machine, as in the local world. The controller's own setting alone
// decides it: what a cluster and its Secret name must not reach what else listens on the controller's machine.
func (s *Sessions) simulated() bool { return onLoopback(s.options.Endpoint) }

// isPlainHTTP reports whether requests to the address can be read on their way.
func isPlainHTTP(address string) bool { return strings.HasPrefix(address, "http://") }

// hostOf returns the host of an address, with its port where it names one.
func hostOf(address string) string {
	at, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.ToLower(at.Host)
}
