// Package all lists the providers.
package all

import (
	"github.com/muster-project/muster/kube/webhook"
	"github.com/muster-project/muster/providers"
	"github.com/muster-project/muster/providers/aws"
	"github.com/muster-project/muster/providers/azure"
	"github.com/muster-project/muster/providers/gates"
	"github.com/muster-project/muster/providers/gcp"
	"github.com/muster-project/muster/providers/oci"
	"github.com/muster-project/muster/providers/scaleway"
)

// Providers returns all providers, in the order in which users see them.
func Providers() []providers.Provider {
	return []providers.Provider{aws.Provider(), azure.Provider(), gcp.Provider(), oci.Provider(), scaleway.Provider()}
}

// Check returns an error that names the providers which can't be used as they are.
func Check() error { return providers.Check(Providers()...) }

// Hooks returns the webhooks of all providers.
func Hooks() (hooks []webhook.Hook) {
	for _, p := range Providers() {
		hooks = append(hooks, p.Hooks...)
	}
	return hooks
}

// Gates returns the feature gates of all providers.
func Gates() (list []gates.Gate) {
	for _, p := range Providers() {
		list = append(list, p.Gates...)
	}
	return list
}

// Converted returns the CustomResourceDefinitions whose versions a webhook converts.
func Converted() (list []string) {
	for _, p := range Providers() {
		list = append(list, p.Converted...)
	}
	return list
}
