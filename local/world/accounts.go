package world

import (
	"os"
	"slices"
	"strings"

	"github.com/muster-project/muster/local/clouds"
	"github.com/muster-project/muster/local/clouds/all"
)

// Clouds returns the names of all clouds that can be simulated.
func Clouds() []string { return all.Names() }

// endpoint returns the base URL of a simulated cloud.
func (p places) endpoint(cloud string) string { return "http://" + Loopback(p[cloud]) }

// cloudEnvironment returns the settings with which SDKs and tools of the clouds reach the simulated ones. A world that was made before
// there was a cloud has none of it.
func (p places) cloudEnvironment(names []string) []string {
	var settings []string
	for _, c := range all.Clouds() {
		if slices.Contains(names, c.Name) && p[c.Name] != 0 {
			settings = append(settings, c.Clients.Settings(p.endpoint(c.Name))...)
		}
	}
	return settings
}

// isolation keeps SDKs from what they find by themselves.
func isolation() []string {
	var settings []string
	for _, c := range all.Clouds() {
		settings = append(settings, c.Clients.Isolation...)
	}
	return settings
}

// OfCloud reports whether an environment variable leads a cloud's SDK to an account.
func OfCloud(variable string) bool {
	return slices.ContainsFunc(all.Clouds(), func(c clouds.Cloud) bool {
		return slices.ContainsFunc(c.Clients.Prefixes, func(prefix string) bool { return strings.HasPrefix(variable, prefix) })
	})
}

// controllersEnvironment returns that of this process with the simulated accounts in place of whatever accounts it names: a
// local world never reaches a real one.
func (p places) controllersEnvironment() []string {
	env := slices.DeleteFunc(os.Environ(), OfCloud)
	return append(append(env, p.cloudEnvironment(Clouds())...), isolation()...)
}
