package session

import (
	"fmt"
	"net"
	"net/url"
	"strings"

	azcloud "github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"

	"github.com/muster-project/muster/cloud"
)

// clouds are Azure's own, by the names that infrastructure clusters give them.
var clouds = map[string]azcloud.Configuration{
	"":                       azcloud.AzurePublic,
	"AzurePublicCloud":       azcloud.AzurePublic,
	"AzureUSGovernmentCloud": azcloud.AzureGovernment,
	"AzureUSGovernment":      azcloud.AzureGovernment,
	"AzureChinaCloud":        azcloud.AzureChina,
}

// usable returns an error if an address is not valid for Azure Resource Manager; an empty one is valid.
func usable(endpoint string) error {
	if endpoint == "" {
		return nil
	}
	at, err := url.Parse(endpoint)
	if err != nil || at.Host == "" || at.Scheme != "https" && at.Scheme != "http" {
		return fmt.Errorf("azure driver: %q is no address of a service: want one like https://management.azure.com", endpoint)
	}
	return nil
}

// configuration returns the addresses of a cloud's services, by the name that the infrastructure cluster gives it.
func (s *Sessions) configuration(environment string) (azcloud.Configuration, error) {
	known, ok := clouds[environment]
	if !ok {
		return known, cloud.Invalidf("spec.azureEnvironment",
			"there is no cloud %q: want AzurePublicCloud, AzureUSGovernmentCloud or AzureChinaCloud", environment)
	}
	if s.options.Endpoint == "" {
		return known, nil
	}
	elsewhere := azcloud.Configuration{ActiveDirectoryAuthorityHost: known.ActiveDirectoryAuthorityHost,
		Services: map[azcloud.ServiceName]azcloud.ServiceConfiguration{}}
	elsewhere.Services[azcloud.ResourceManager] = azcloud.ServiceConfiguration{
		Endpoint: s.options.Endpoint, Audience: known.Services[azcloud.ResourceManager].Audience,
	}
	return elsewhere, nil
}

// endpointOf is the address of a cloud's resource manager.
func endpointOf(where azcloud.Configuration) string {
	return strings.TrimSuffix(where.Services[azcloud.ResourceManager].Endpoint, "/")
}

// isPlainHTTP reports whether requests to the address can be read on their way.
func isPlainHTTP(endpoint string) bool { return strings.HasPrefix(endpoint, "http://") }

// hostOf is the host of an address, with its port where it names one.
func hostOf(endpoint string) string {
	at, err := url.Parse(endpoint)
	if err != nil {
		return ""
	}
	return strings.ToLower(at.Host)
}

// within reports whether a host is the given one, or one of its regional names (eastus.management.azure.com).
func within(host, of string) bool {
	host = strings.ToLower(host)
	if host == of {
		return true
	}
	if _, _, err := net.SplitHostPort(of); err == nil || net.ParseIP(of) != nil {
		return false
	}
	return strings.HasSuffix(host, "."+of)
}

// locationName is a location's name as Azure writes it in addresses: "West US 2" is westus2.
func locationName(location string) string {
	return strings.ToLower(strings.ReplaceAll(location, " ", ""))
}
