// Package all lists the clouds of the local world. A new cloud is one line here.
package all

import (
	"github.com/muster-project/muster/local/clouds"
	"github.com/muster-project/muster/local/clouds/aws"
	"github.com/muster-project/muster/local/clouds/azure"
	"github.com/muster-project/muster/local/clouds/gcp"
	"github.com/muster-project/muster/local/clouds/oci"
	"github.com/muster-project/muster/local/clouds/scaleway"
	"github.com/muster-project/muster/local/foreign"
	"github.com/muster-project/muster/local/seed"
)

// Clouds returns all clouds. The first one is the default of a world.
func Clouds() []clouds.Cloud {
	return []clouds.Cloud{
		aws.Cloud(),
		azure.Cloud(),
		gcp.Cloud(),
		scaleway.Cloud(),
		oci.Cloud(),
	}
}

// Names returns the names of all clouds.
func Names() []string {
	var names []string
	for _, c := range Clouds() {
		names = append(names, c.Name)
	}
	return names
}

// Named returns the clouds of these names, in the order of the names. Unknown names are left out.
func Named(names ...string) []clouds.Cloud {
	var found []clouds.Cloud
	for _, name := range names {
		for _, c := range Clouds() {
			if c.Name == name {
				found = append(found, c)
			}
		}
	}
	return found
}

// Kinds returns the kinds of the named clouds' providers that Muster only reads.
func Kinds(clouds ...string) []foreign.Kind {
	var kinds []foreign.Kind
	for _, c := range Named(clouds...) {
		kinds = append(kinds, c.Kinds...)
	}
	return kinds
}

// Accounts returns what manifests may be for where these clouds are simulated.
func Accounts(simulated ...string) seed.Accounts {
	a := seed.Accounts{Simulated: simulated}
	for _, c := range Clouds() {
		a.Known = append(a.Known, c.Seed)
	}
	return a
}
